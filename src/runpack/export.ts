/**
 * Exports the accepted prefix of a run as the objects of a pack, followed by the manifest. Everything that the store
 * returns is hashed and folded again, so that a pack never states what its records do not show.
 */

import { identifyCanonical, type Identity, type Sha256 } from "../canonical/identity.ts";
import { readJson } from "../canonical/scan.ts";
import { sortedBy } from "../canonical/order.ts";
import { graphIdentity } from "../law/law.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { type CompiledLaw, compileLaw } from "../run/compile.ts";
import { fold, FoldError } from "../run/fold.ts";
import { asJson } from "../run/primitives.ts";
import { readRecord } from "../run/record.ts";
import type { AcceptedRecord, Head, RunKey, RunRecord, RunState } from "../run/types.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { manifestBytes, runpackIdentity } from "./format/manifest.ts";
import { leafHash, type RecordTree, recordTree } from "./format/merkle.ts";
import { compareArtifacts } from "./format/nodes.ts";
import { ExportError, jsonObjectOf, type PackObject, referenceTo, textObject, tooLarge } from "./format/objects.ts";
import { namedArtifacts, segmentBuilder } from "./format/segments.ts";
import { segmentTree } from "./format/tree.ts";
import {
  type ArtifactReference,
  ARTIFACTS_BYTES,
  FORMAT,
  type Manifest,
  MANIFEST_BYTES,
  NODE_BYTES,
  type ObjectReference,
  SEGMENT_RECORDS,
  TEXT_BYTES,
  WITHHELD_CONDITIONS,
} from "./format/types.ts";

/** The run to export, and its store. */
export interface ExportSource {
  readonly run_key: RunKey;
  /** The accepted head to export; later records are ignored. */
  readonly head: Head;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  /** Canonical text of the law's normal form. */
  readonly law: string;
  /** Records from revision `after` + 1, in order: at least one, at most `limit`. */
  readonly records: (after: number, limit: number) => Promise<readonly AcceptedRecord[]>;
  /** Canonical text of an artifact; null where the store has none. */
  readonly artifact: (identity: Identity) => Promise<{ readonly kind: string; readonly body: string } | null>;
  /** Conditions of the law whose values are omitted. */
  readonly withheld_conditions: readonly string[];
}

/** A pack whose objects have all been emitted. */
export interface ExportedPack {
  readonly manifest: Manifest;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly runpack_identity: Identity;
}

type ArtifactNames = Map<Identity, ArtifactReference["kind"]>;

/**
 * Exports a run up to a head. It emits the nodes of a tree after the objects that they name, and may emit an object
 * repeatedly. It holds at most one segment in memory. The same prefix yields the same objects from every store.
 *
 * @returns The manifest, after every object
 * @throws {ExportError} Where the run cannot be exported
 */
export async function* exportRun(sha256: Sha256, source: ExportSource): AsyncGenerator<PackObject, ExportedPack> {
  const law = openLaw(sha256, source);
  const withheld_conditions = withheldConditions(law, source.withheld_conditions);
  const leaves = recordTree(sha256);
  const named: ArtifactNames = new Map();
  const { state, root } = yield* exportSegments(sha256, source, law, new Set(withheld_conditions), leaves, named);
  const lawObject = textObject(sha256, source.law, "the law", TEXT_BYTES);
  yield lawObject;
  const artifacts = yield* exportArtifacts(sha256, source, named);
  const manifest: Manifest = {
    format: FORMAT,
    run_key: source.run_key,
    scenario_id: source.scenario_id,
    scenario_law_identity: source.scenario_law_identity,
    graph_identity: law.graph_identity,
    head: source.head,
    state_identity: identifyCanonical(sha256, "run-state", canonicalize(asJson(state))),
    record_tree: { root: leaves.root(), size: leaves.size() },
    law: referenceTo(lawObject),
    artifacts,
    segments: root,
    withheld_conditions,
  };
  const bytes = manifestBytes(manifest);
  if (bytes.length > MANIFEST_BYTES) throw tooLarge("the manifest", MANIFEST_BYTES);
  return { manifest, bytes, runpack_identity: runpackIdentity(sha256, bytes) };
}

function broken(message: string, cause?: unknown): ExportError {
  return new ExportError("integrity_failure", message, cause === undefined ? undefined : { cause });
}

function openLaw(sha256: Sha256, source: ExportSource): CompiledLaw {
  if (identifyCanonical(sha256, "scenario-law", source.law) !== source.scenario_law_identity) {
    throw broken(`Cannot export run: its law does not hash to "${source.scenario_law_identity}"`);
  }
  const law = readJson<ScenarioLaw>(source.law);
  return compileLaw(law, source.scenario_law_identity, graphIdentity(sha256, law));
}

function withheldConditions(law: CompiledLaw, asked: readonly string[]): readonly string[] {
  const ids = sortedBy([...new Set(asked)], (id) => id);
  for (const id of ids) {
    if (law.conditionIndex.has(id)) continue;
    throw new ExportError("condition_not_found", `Cannot withhold condition "${id}": it is not in the law`);
  }
  if (ids.length <= WITHHELD_CONDITIONS) return ids;
  throw new ExportError(
    "limit_exceeded",
    `Cannot withhold ${ids.length} conditions: the limit is ${WITHHELD_CONDITIONS}`,
  );
}

async function* exportSegments(
  sha256: Sha256,
  source: ExportSource,
  law: CompiledLaw,
  withheld: ReadonlySet<string>,
  leaves: RecordTree,
  named: ArtifactNames,
): AsyncGenerator<PackObject, { state: RunState; root: ObjectReference }> {
  const tree = segmentTree(sha256);
  let state: RunState | null = null;
  while ((state?.head.revision ?? 0) < source.head.revision) {
    const segment = segmentBuilder(sha256, withheld);
    while (segment.size() < SEGMENT_RECORDS && (state?.head.revision ?? 0) < source.head.revision) {
      const after: number = state?.head.revision ?? 0;
      const page = await nextPage(
        source,
        after,
        Math.min(SEGMENT_RECORDS - segment.size(), source.head.revision - after),
      );
      for (const stored of page) {
        const record = checkRecord(sha256, source, stored);
        state = follow(law, state, record, stored);
        leaves.append(leafHash(sha256, stored.record));
        for (const { identity, kind } of namedArtifacts(record)) named.set(identity, kind);
        segment.add(stored, record);
      }
    }
    const built = segment.finish();
    yield* built.objects;
    yield* tree.add(built.segment);
  }
  if (state === null || state.head.record_id !== source.head.record_id) {
    throw broken(`Cannot export run: its records do not lead to head "${source.head.record_id}"`);
  }
  if (state.scenario_id !== source.scenario_id || state.scenario_law_identity !== source.scenario_law_identity) {
    throw broken("Cannot export run: its first record is bound to another law");
  }
  const { nodes, root } = tree.finish();
  yield* nodes;
  return { state, root };
}

async function nextPage(source: ExportSource, after: number, limit: number): Promise<readonly AcceptedRecord[]> {
  const page = await source.records(after, limit);
  if (page.length > 0 && page.length <= limit) return page;
  throw broken(`Cannot export run: records after revision ${after} are missing`);
}

function checkRecord(sha256: Sha256, source: ExportSource, stored: AcceptedRecord): RunRecord {
  const at = `revision ${stored.revision}`;
  if (identifyCanonical(sha256, "run-record", stored.record) !== stored.record_id) {
    throw broken(`Cannot export ${at}: the record does not hash to "${stored.record_id}"`);
  }
  for (const { kind, identity, body } of stored.material) {
    const known = kind === "payload" || kind === "evidence-value";
    if (!known || identifyCanonical(sha256, kind, body) !== identity) {
      throw broken(`Cannot export ${at}: its ${kind} does not hash to "${identity}"`);
    }
  }
  const record = readRecord(stored.record);
  const { operation, invocation_identity } = stored.receipt;
  const agrees = record.run_key.namespace_id === source.run_key.namespace_id &&
    record.run_key.run_id === source.run_key.run_id && record.revision === stored.revision &&
    record.operation.family === operation.family && record.operation.identity === operation.identity &&
    record.invocation_identity === invocation_identity;
  if (!agrees) throw broken(`Cannot export ${at}: the record does not match its revision and its receipt`);
  return record;
}

function follow(law: CompiledLaw, state: RunState | null, record: RunRecord, stored: AcceptedRecord): RunState {
  try {
    return fold(law, state, record, stored.record_id);
  } catch (error) {
    if (error instanceof FoldError) throw broken(error.message, error);
    throw error;
  }
}

async function* exportArtifacts(
  sha256: Sha256,
  source: ExportSource,
  named: ArtifactNames,
): AsyncGenerator<PackObject, ObjectReference> {
  const sorted = [...named].map(([identity, kind]) => ({ identity, kind })).sort(compareArtifacts);
  const artifacts: ArtifactReference[] = [];
  let bytes = 0;
  for (const { identity, kind } of sorted) {
    const found = await source.artifact(identity);
    if (found?.kind !== kind || identifyCanonical(sha256, kind, found.body) !== identity) {
      throw broken(`Cannot export run: its ${kind} "${identity}" is missing or not what was stored`);
    }
    const object = textObject(sha256, found.body, `the ${kind} "${identity}"`, TEXT_BYTES);
    yield object;
    artifacts.push({ kind, identity, ...referenceTo(object) });
    bytes += object.bytes.length;
    if (bytes > ARTIFACTS_BYTES) throw tooLarge("the contracts, schemas and profiles of the run", ARTIFACTS_BYTES);
  }
  const list = jsonObjectOf(sha256, asJson({ node: "artifacts", artifacts }), "the artifact list", NODE_BYTES);
  yield list;
  return referenceTo(list);
}
