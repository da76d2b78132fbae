import type { Identity } from "../../canonical/identity.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import type { Head, RunCreatedBody, RunRecord, RunState } from "../../run/types.ts";
import { nameArtifacts, type NamedArtifacts } from "./claims/run_allocation_integrity.ts";
import { type SourceSignatures, sourceSignatures } from "./claims/source_authenticity.ts";
import { type RecordTree, recordTree } from "../format/merkle.ts";
import type { ReplayWork } from "./work_meter.ts";
import type { Meter } from "./budget.ts";
import { createArtifacts, type PackArtifacts } from "./artifacts.ts";
import { createCourse, type RunCourse } from "./run_result.ts";
import { createFindings, type Findings } from "./findings.ts";
import type { TrustedPublicKey, VerificationPrimitives } from "./types.ts";
import type { Manifest } from "../format/types.ts";

/** A replay in progress. */
export interface ReplayState {
  readonly primitives: VerificationPrimitives;
  readonly manifest: Manifest;
  /** Findings of the replay. They count only after all material is verified. */
  readonly findings: Findings;
  readonly artifacts: PackArtifacts;
  readonly named: NamedArtifacts;
  readonly signatures: SourceSignatures;
  readonly tree: RecordTree;
  /** Operation identities by family. */
  readonly operations: Map<string, Set<string>>;
  readonly withheld: ReadonlySet<string>;
  readonly assumptions: Set<string>;
  readonly meter: Meter;
  /** The expected part: `law` until the first segment, then records; or why the replay stopped. */
  stage: "law" | "records" | "history_broken" | "budget_exhausted";
  lawBytes: Uint8Array;
  /** Null where it could not be constructed; the records are then followed without it. */
  law: CompiledLaw | null;
  /** Counts the work of deciding records by that law. */
  work: ReplayWork | null;
  created: RunCreatedBody | null;
  /** The last replayed record. */
  previous: RunRecord | null;
  head: Head | null;
  /** The replayed records, by revision from 1. */
  readonly heads: Identity[];
  /** The state after the last record; null without a law. */
  state: RunState | null;
  /** What the replayed records came to. */
  readonly course: RunCourse;
}

/** Creates a replay before its first part. */
export function startReplay(
  primitives: VerificationPrimitives,
  manifest: Manifest,
  trustedKeys: readonly TrustedPublicKey[] | null,
  meter: Meter,
): ReplayState {
  return {
    primitives,
    manifest,
    findings: createFindings(),
    artifacts: createArtifacts(primitives),
    named: nameArtifacts(),
    signatures: sourceSignatures(trustedKeys),
    tree: recordTree(primitives.sha256),
    operations: new Map(),
    withheld: new Set(manifest.withheld_conditions),
    assumptions: new Set(),
    meter,
    stage: "law",
    lawBytes: new Uint8Array(),
    law: null,
    work: null,
    created: null,
    previous: null,
    head: null,
    heads: [],
    state: null,
    course: createCourse(),
  };
}
