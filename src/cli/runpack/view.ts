/**
 * Reading a runpack to show it.
 *
 * @module
 */

import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { verificationPrimitives } from "../../runpack/host/verification.ts";
import { type PackView, type PartView, viewPack } from "../../runpack/material_view.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type OpenPack, openPack, type RepositoryFlags } from "./open.ts";
import { onPacks } from "./session.ts";
import { shown } from "../terminal/text.ts";

/** What a reader of packs is handed. */
export const READER_PRIMITIVES = verificationPrimitives(HOST_PRIMITIVES);

/** Opens a pack, reads it, and hands both on, also where there is only a part of it. */
export function withPart<Result>(
  named: string,
  flags: RepositoryFlags,
  use: (view: PackView | PartView, pack: OpenPack) => Promise<Result>,
): Promise<Result> {
  return onPacks(async () => {
    const pack = await openPack(named, flags);
    try {
      return await use(await viewPack(pack.source, READER_PRIMITIVES), pack);
    } finally {
      pack.close();
    }
  });
}

/** Opens a pack, reads it, and hands both on; a pack that is not whole ends the command. */
export function withView<Result>(
  named: string,
  flags: RepositoryFlags,
  use: (view: PackView, pack: OpenPack) => Promise<Result>,
): Promise<Result> {
  return withPart(named, flags, async (view, pack) => {
    if ("reason" in view) throw unviewable(named, view.reason);
    return await use(view, pack);
  });
}

function unviewable(
  named: string,
  reason: "budget_exhausted" | { readonly code: string; readonly place: string | null },
): CliError {
  const why = reason === "budget_exhausted"
    ? "it is larger than what is read"
    : reason.place === null
    ? reason.code
    : shown(`${reason.code}: ${reason.place}`);
  const hint = "gate runpack verify says more";
  return new CliError("runpack_invalid", `Cannot read "${named}": ${why}`, hint, EXIT.verificationFailed);
}
