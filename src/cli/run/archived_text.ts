/** Where the records of an archived run are, as text. */

import { instantText } from "../../canonical/instant_text.ts";
import type { Archived } from "../../store/types.ts";

/** One line for an archived run; empty for any other. */
export function archivedLine({ archived }: { readonly archived?: Archived }): string {
  if (archived === undefined) return "";
  return `Archived ${
    instantText(archived.archived_instant)
  }: its records are in runpack ${archived.runpack_identity}\n`;
}
