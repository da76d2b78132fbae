/**
 * Forged packs: a run is taken apart, changed, and put together again so that everything still hashes, links and
 * refers: only a replay can detect it.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identifyCanonical, type Identity, type IdentityKind } from "../../../src/canonical/identity.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { readJson } from "../../../src/canonical/scan.ts";
import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import { graphIdentity } from "../../../src/law/law.ts";
import type { ScenarioLaw } from "../../../src/law/types.ts";
import { compileLaw } from "../../../src/run/compile.ts";
import { fold, stateIdentity } from "../../../src/run/fold.ts";
import type { RunRecord, RunState } from "../../../src/run/types.ts";
import { leafHash } from "../../../src/runpack/format/merkle.ts";
import { rootOf } from "../../../src/runpack/format/merkle_fixture.ts";
import { namedValues } from "../../../src/runpack/format/segments.ts";
import { FORMAT, INLINE_VALUE_BYTES } from "../../../src/runpack/format/types.ts";
import type { Editable } from "../kernel/law_specs.ts";
import type { MemoryPack } from "../runpack/memory.ts";
import type { PlayedRun } from "../runpack/run.ts";

const { sha256 } = HOST_PRIMITIVES;

/** A run taken apart; everything may be changed. */
export interface Parts {
  readonly law: Editable;
  readonly records: Editable[];
  /** By record. */
  readonly receipts: Editable[];
  /** Bodies of values and payloads, by `kind identity`. */
  readonly bodies: Map<string, Editable>;
  readonly artifacts: { kind: string; identity: Identity; body: Editable }[];
  readonly withheld: string[];
  /** Whether identities that changed are written wherever they are named; true unless a forgery leaves them. */
  rename: boolean;
  /** Last changes, on what is written. */
  manifest: (manifest: Editable) => void;
  valueLines: (lines: string[]) => string[];
  recordLines: (lines: string[]) => string[];
  receiptLines: (lines: string[]) => string[];
}

function takeApart(run: PlayedRun): Parts {
  const same = (lines: string[]): string[] => lines;
  return {
    law: readJson(run.law.law),
    records: run.records.map(({ record }) => readJson(record)),
    receipts: run.records.map(({ receipt: { operation, invocation_identity, result } }) => ({
      operation: { ...operation },
      invocation_identity,
      result: readJson(result),
    })),
    bodies: new Map(
      run.records.flatMap(({ material }) =>
        material.map(({ kind, identity, body }) => [`${kind} ${identity}`, readJson(body)])
      ),
    ),
    artifacts: run.artifacts.map(({ kind, identity, body }) => ({ kind, identity, body: readJson(body) })),
    withheld: [],
    rename: true,
    manifest: () => {},
    valueLines: same,
    recordLines: same,
    receiptLines: same,
  };
}

interface Chained {
  readonly records: readonly string[];
  readonly receipts: readonly string[];
  readonly head: Identity;
}

/** Links the records anew, and writes their new identities wherever the old ones were named. */
function chain(parts: Parts, before: readonly Identity[]): Chained {
  const names = new Map<Identity, Identity>();
  const renamed = (value: JsonValue): string => {
    let text = canonicalize(value);
    for (const [old, name] of names) if (parts.rename) text = text.replaceAll(old, name);
    return text;
  };
  const records: string[] = [];
  const receipts: string[] = [];
  let head = "";
  parts.records.forEach((record, index) => {
    const text = renamed(record);
    head = identifyCanonical(sha256, "run-record", text);
    const old = before[index];
    if (old !== undefined && old !== head) names.set(old, head);
    records.push(text);
    receipts.push(renamed(parts.receipts[index]));
  });
  return { records, receipts, head };
}

/**
 * Builds a consistent pack of a run after a change.
 *
 * @param edit Changes the parts; what links and hashes is then made to fit
 */
export function forge(run: PlayedRun, edit: (parts: Parts) => void = () => {}): MemoryPack {
  const parts = takeApart(run);
  edit(parts);
  const objects = new Map<Identity, Uint8Array>();
  const put = (text: string): { object: Identity; bytes: number } => {
    const object = identifyCanonical(sha256, "object", text);
    const bytes = new TextEncoder().encode(text);
    objects.set(object, bytes);
    return { object, bytes: bytes.length };
  };
  const before = run.records.map(({ record_id }) => record_id);
  const { records, receipts, head } = chain(parts, before);
  const law = canonicalize(parts.law);
  const lawIdentity = identifyCanonical(sha256, "scenario-law", law);
  const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join("");
  const { values, large_values } = valuesOf(parts, records, put);
  const segment = {
    first_revision: 1,
    last_revision: records.length,
    records: put(lines(parts.recordLines([...records]))),
    receipts: put(lines(parts.receiptLines([...receipts]))),
    values: put(lines(parts.valueLines(values))),
    large_values,
  };
  const artifacts = parts.artifacts
    .map(({ kind, identity, body }) => ({ kind, identity, ...put(canonicalize(body)) }))
    .sort((a, b) => a.kind < b.kind || a.kind === b.kind && a.identity < b.identity ? -1 : 1);
  const manifest = {
    format: FORMAT,
    run_key: parts.records[0].run_key,
    scenario_id: parts.law.scenario_id,
    scenario_law_identity: lawIdentity,
    graph_identity: graphIdentity(sha256, parts.law as ScenarioLaw),
    head: { record_id: head, revision: records.length },
    state_identity: stateOf(parts, records, lawIdentity) ?? "0".repeat(64),
    record_tree: { root: rootOf(sha256, records.map((text) => leafHash(sha256, text))), size: records.length },
    law: put(law),
    artifacts: put(canonicalize({ node: "artifacts", artifacts } as unknown as JsonValue)),
    segments: put(canonicalize({ node: "segments", level: 0, segments: [segment] } as unknown as JsonValue)),
    withheld_conditions: parts.withheld,
  };
  parts.manifest(manifest);
  return { manifest: new TextEncoder().encode(canonicalize(manifest as unknown as JsonValue)), objects };
}

function valuesOf(
  parts: Parts,
  records: readonly string[],
  put: (text: string) => { object: Identity; bytes: number },
): { readonly values: string[]; readonly large_values: object[] } {
  const values: string[] = [];
  const large_values: object[] = [];
  const seen = new Set<string>();
  for (const text of records) {
    for (const { kind, identity } of namedValues(readJson(text) as unknown as RunRecord)) {
      const key = `${kind} ${identity}`;
      const body = parts.bodies.get(key);
      if (seen.has(key) || body === undefined) continue;
      seen.add(key);
      const bodyText = canonicalize(body);
      if (bodyText.length > INLINE_VALUE_BYTES) large_values.push({ kind, identity, ...put(bodyText) });
      else values.push(canonicalize({ body, identity, kind }));
    }
  }
  return { values, large_values };
}

/** The identity of the state that the records fold to; null where they do not. */
function stateOf(parts: Parts, records: readonly string[], lawIdentity: Identity): Identity | null {
  try {
    const law = compileLaw(parts.law as ScenarioLaw, lawIdentity, graphIdentity(sha256, parts.law as ScenarioLaw));
    let state: RunState | null = null;
    for (const text of records) {
      const record = readJson(text) as unknown as RunRecord;
      state = fold(law, state, record, identifyCanonical(sha256, "run-record", text));
    }
    return state === null ? null : stateIdentity(sha256, state);
  } catch {
    return null;
  }
}

/** The identity of a changed body, kept under it. */
export function rekey(parts: Parts, kind: IdentityKind, body: Editable): Identity {
  const identity = identifyCanonical(sha256, kind, canonicalize(body));
  parts.bodies.set(`${kind} ${identity}`, body);
  return identity;
}
