/**
 * Which namespaces a caller may use: for completing what it types. Nothing is told that it could not find out by calling
 * `scenarios_list`, and nothing is written to the audit log, since it asked for none of them.
 *
 * @module
 */

import { authorise } from "./authorise.ts";
import type { Services } from "./services.ts";
import type { Call, NamespaceList } from "../framework/types.ts";

/** The tool that a caller has to be allowed to use in a namespace. */
const LISTING = { name: "scenarios_list", group: "Read" } as const;

/** Namespaces of the store that are looked at. */
export const LOOKED_AT_MAXIMUM = 1000;

/** Questions to the namespace authority, which may be far away. */
export const QUESTIONS_MAXIMUM = 16;

/** What {@link visibleNamespaces} reads. */
type Read = Pick<Services, "config" | "namespaces"> & { readonly runs: Pick<Services["runs"], "listNamespaces"> };

/**
 * The namespaces whose number begins with a text and that a caller may use: those that its roles name and those that hold
 * laws, in ascending order.
 *
 * @param begun The first digits, possibly none
 */
export async function visibleNamespaces(services: Read, begun: string, call: Call): Promise<NamespaceList> {
  const { witness: _, ...unwitnessed } = call;
  const { found, isWhole } = await candidates(services, call);
  const ids: number[] = [];
  let questions = 0;
  for (const id of found.filter((id) => String(id).startsWith(begun))) {
    if (questions === QUESTIONS_MAXIMUM) break;
    const refused = authorise(services, LISTING, unwitnessed, id);
    if (refused instanceof Promise) questions++;
    if (await refused === null) ids.push(id);
  }
  // How many others were asked about is nobody's business: with an authority there may always be more.
  return { ids, isWhole: isWhole && services.namespaces === null };
}

async function candidates(services: Read, call: Call): Promise<{ found: readonly number[]; isWhole: boolean }> {
  const rolesInForce = (services.config.server.auth?.principals.length ?? 0) > 0;
  const { roles } = call.principal;
  const named = roles.flatMap(({ namespace_id }) => rolesInForce && namespace_id !== null ? [namespace_id] : []);
  // Whose roles all name a namespace is told of no other, not even that there are many.
  const isConfined = rolesInForce && named.length === roles.length;
  const stored = isConfined ? [] : await services.runs.listNamespaces(0, LOOKED_AT_MAXIMUM + 1);
  const found = [...new Set([...named, ...stored.slice(0, LOOKED_AT_MAXIMUM)])].sort((a, b) => a - b);
  return { found, isWhole: stored.length <= LOOKED_AT_MAXIMUM };
}
