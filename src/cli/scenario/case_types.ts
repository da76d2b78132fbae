/** Cases as they are read and run. */

import type { JsonValue } from "../../canonical/json.ts";
import type { PinnedResponse } from "../../evidence/egress/pinned_request.ts";
import type { ParameterValue } from "../../law/types.ts";
import type { AskedExpression } from "../../scenario/law_file.ts";
import type { Steps } from "../../scenario/source_position.ts";

/** A sentence of `then`. */
export type Expectation =
  & { readonly text: string }
  & (
    | { readonly kind: "run"; readonly status: "complete" | "active" }
    | { readonly kind: "stage"; readonly stage: string; readonly outcome: string }
    | { readonly kind: "ready"; readonly stages: readonly string[] }
    | { readonly kind: "held" | "unknown"; readonly expression: AskedExpression }
    | { readonly kind: "waits"; readonly count: number; readonly people: readonly string[] }
    | { readonly kind: "error"; readonly code: string }
  );

/** A person who signs: the value that they state, also by condition; where it is absent, the one of the step. */
export interface Signing {
  readonly key_id: string;
  readonly value?: JsonValue;
  readonly values: ReadonlyMap<string, JsonValue>;
}

/** A step of a case: what is given from then on, and how the run stands after it. */
export interface CaseStep {
  /** Unix milliseconds; null where the case has no time. */
  readonly now: number | null;
  /** The only stage that is attempted; null for every stage that is ready. */
  readonly stage: string | null;
  /** Values by condition. */
  readonly values: ReadonlyMap<string, JsonValue>;
  /** What bindings find; null for nothing. */
  readonly found: ReadonlyMap<string, JsonValue>;
  /** Several values of the caller, by condition. */
  readonly items: ReadonlyMap<string, readonly JsonValue[]>;
  readonly sign: readonly Signing[];
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly answers: ReadonlyMap<string, PinnedResponse>;
  readonly then: readonly Expectation[];
}

/** One run. */
export interface Case {
  readonly name: string;
  /** Finds the line of the case; called only for failed cases. */
  readonly line: () => number;
  /** The values of the parameters of the law; undefined for a law without parameters. */
  readonly parameters: readonly ParameterValue[] | undefined;
  readonly steps: readonly CaseStep[];
}

/** A schema of a cases file, inline or in another file. */
export interface CaseSchema {
  readonly schema_id: string;
  readonly version: string;
  readonly schema: JsonValue;
  /** The path of the schema's file as written; null for an inline {@link schema}. */
  readonly file: string | null;
}

/** The contents of a cases file. */
export interface Cases {
  readonly cases: readonly Case[];
  readonly schemas: readonly CaseSchema[];
}

/** Reports a fault at a path. */
export type Report = (steps: Steps, message: string, part?: "name" | "value") => void;
