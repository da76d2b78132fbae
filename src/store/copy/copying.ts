/** A running copy of a store. */

import type { BoundedMap } from "../bounded_map.ts";
import type { Checking, StoreCounts, StoreProblem } from "../check/check_types.ts";
import type { Stores } from "../open.ts";
import { StoreError } from "../types.ts";

/** What a copy wrote: the rows that the target did not have. */
export type CopyCounts = Omit<StoreCounts, "material">;

/** A running copy. */
export interface Copying {
  /** The check of the source, whose problems are those of the copy. */
  readonly checking: Checking;
  readonly target: Stores;
  readonly written: CopyCounts;
  /** Whether the target has a law or an artifact, as far as that is known. */
  readonly copied: BoundedMap<string, boolean>;
}

/** Where a problem of a copy is. */
type Position = NonNullable<Parameters<Checking["report"]>[2]>;

/** Copies one object; what the target has in its place, or damage that is found there, is reported. */
export async function reporting(
  { checking }: Copying,
  what: StoreProblem["what"],
  position: Position | undefined,
  copy: () => Promise<string | null>,
): Promise<void> {
  try {
    const problem = await copy();
    if (problem !== null) checking.report(what, problem, position);
  } catch (error) {
    // A run that was archived meanwhile has no records to compare; a repetition compares its receipts.
    if (!(error instanceof StoreError) || (error.code !== "corrupt" && error.code !== "archived")) throw error;
    checking.report(what, `the target: ${error.message}`, position);
  }
}
