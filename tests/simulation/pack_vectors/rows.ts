/**
 * What the tables of packs that violate something are made of.
 *
 * @module
 */

import type { MemoryPack } from "../runpack/memory.ts";
import type { PlayedRun } from "../runpack/run.ts";
import type { ExpectationText, LoosePack, RequestText, Surrounding } from "./cases.ts";

/** What a row is made from: a run, and the pack of it. */
export interface Base {
  readonly run: PlayedRun;
  readonly pack: MemoryPack;
}

/** A pack that was made, what lies beside it, and what is asked of it unless that is nothing special. */
export interface Made extends Surrounding {
  readonly pack: LoosePack;
  readonly request?: RequestText;
  /** Keys of those who may have made the pack, in base64. */
  readonly producer_keys?: readonly string[];
  readonly expected?: ExpectationText;
}

/** A code of a claim, and which of the claim's entries of that code it is, from 0. */
export type CodeName = readonly [claim: string, code: string, nth?: number | undefined];

/** A pack that shows a code. */
export interface CodeRow {
  readonly name: string;
  readonly code: CodeName;
  /** Every claim that is violated, each with its whole reason. */
  readonly violates: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Made;
}
