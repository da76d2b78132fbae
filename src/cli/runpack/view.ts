import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { verificationPrimitives } from "../../runpack/host/verification.ts";
import { type PackView, type PartView, viewPack } from "../../runpack/material_view.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type OpenPack, openPack, type RepositoryFlags } from "./open.ts";
import { withPackErrors } from "./session.ts";
import { shown } from "../terminal/text.ts";

/** The primitives for reading packs. */
export const READER_PRIMITIVES = verificationPrimitives(HOST_PRIMITIVES);

/** Opens and reads a pack, even if only part of it is readable, and runs a body with both. */
export function withPartialView<Result>(
  named: string,
  flags: RepositoryFlags,
  use: (view: PackView | PartView, pack: OpenPack) => Promise<Result>,
): Promise<Result> {
  return withPackErrors(async () => {
    const pack = await openPack(named, flags);
    try {
      return await use(await viewPack(pack.source, READER_PRIMITIVES), pack);
    } finally {
      pack.close();
    }
  });
}

/** Opens and reads a pack, and runs a body with both; throws for a pack that is not complete. */
export function withView<Result>(
  named: string,
  flags: RepositoryFlags,
  use: (view: PackView, pack: OpenPack) => Promise<Result>,
): Promise<Result> {
  return withPartialView(named, flags, async (view, pack) => {
    if ("reason" in view) throw unviewable(named, view.reason);
    return await use(view, pack);
  });
}

function unviewable(
  named: string,
  reason: "budget_exhausted" | { readonly code: string; readonly place: string | null },
): CliError {
  const hint = "gate runpack verify shows more";
  return new CliError(
    "runpack_invalid",
    `Cannot read "${named}": ${reasonText(reason)}`,
    hint,
    EXIT.verificationFailed,
  );
}

function reasonText(reason: "budget_exhausted" | { readonly code: string; readonly place: string | null }): string {
  if (reason === "budget_exhausted") return "it exceeds the size limit";
  return reason.place === null ? reason.code : shown(`${reason.code}: ${reason.place}`);
}
