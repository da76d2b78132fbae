/**
 * The namespaces that a caller may use, for completions. The list has only what `scenarios_list` would show it, and
 * nothing is written to the audit log, since the caller named no namespace.
 */

import { rolesInForce } from "../../access/roles.ts";
import { authorise } from "./authorise.ts";
import type { Services } from "./services.ts";
import type { Call, NamespaceList } from "../framework/types.ts";

/** The tool that makes a namespace visible to a caller that may use it there. */
const LISTING = { name: "scenarios_list", group: "Read" } as const;

/** Most namespaces of the store that are read. */
export const STORED_MAXIMUM = 1000;

/** Most queries of the namespace authority, which may be remote. */
export const QUESTIONS_MAXIMUM = 16;

/** The services that {@link visibleNamespaces} needs. */
type NamespaceServices = Pick<Services, "config" | "namespaces"> & {
  readonly runs: { readonly laws: Pick<Services["runs"]["laws"], "listNamespaces"> };
};

/**
 * The namespaces with a prefix that a caller may use, in ascending order: those of its roles, and those with laws.
 *
 * @param prefix The first digits of the number; may be empty
 */
export async function visibleNamespaces(
  services: NamespaceServices,
  prefix: string,
  call: Call,
): Promise<NamespaceList> {
  const { auditor: _, ...unaudited } = call;
  const { found, isWhole } = await candidates(services, call);
  const ids: number[] = [];
  let questions = 0;
  for (const id of found.filter((id) => String(id).startsWith(prefix))) {
    if (questions === QUESTIONS_MAXIMUM) break;
    const refused = authorise(services, LISTING, unaudited, id);
    if (refused instanceof Promise) questions++;
    if (await refused === null) ids.push(id);
  }
  // With an authority there may always be more: the number of refused namespaces stays secret.
  return { ids, isWhole: isWhole && services.namespaces === null };
}

async function candidates(
  services: NamespaceServices,
  call: Call,
): Promise<{ found: readonly number[]; isWhole: boolean }> {
  const { roles } = call.principal;
  const isInForce = rolesInForce(services.config.server.auth, call.principal);
  const named = roles.flatMap(({ namespace_id }) => isInForce && namespace_id !== null ? [namespace_id] : []);
  // A caller whose roles all name a namespace sees no other one, not even that there are many.
  const isConfined = isInForce && named.length === roles.length;
  const stored = isConfined ? [] : await services.runs.laws.listNamespaces(0, STORED_MAXIMUM + 1);
  const found = [...new Set([...named, ...stored.slice(0, STORED_MAXIMUM)])].sort((a, b) => a - b);
  return { found, isWhole: stored.length <= STORED_MAXIMUM };
}
