/**
 * Packs on which two verifiers have to agree: goldens, runs of every kind of evidence, and changed copies of them. In a
 * copy a byte is changed, or a place is changed and everything hashes and links again.
 *
 * @module
 */

import { canonicalBytes, canonicalize } from "../../../src/canonical/canonicalize.ts";
import { decodeBase64 } from "../../../src/canonical/base64.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { readJson } from "../../../src/canonical/scan.ts";
import { graphIdentity, lawIdentity } from "../../../src/law/law.ts";
import type { ScenarioLaw } from "../../../src/law/types.ts";
import type { RunRecord } from "../../../src/run/types.ts";
import { identify, identifyBytes } from "../../../src/canonical/identity.ts";
import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import { asJson } from "../../../src/run/primitives.ts";
import type { Examination } from "../../../src/runpack/verify/verify.ts";
import type { Editable } from "../../simulation/kernel/law_specs.ts";
import { answerOf } from "../../simulation/pack_vectors/cases.ts";
import { forge, type Parts } from "../../simulation/forged_packs/forge.ts";
import type { MemoryPack } from "../../simulation/runpack/memory.ts";
import type { PlayedRun } from "../../simulation/runpack/run.ts";

/** A number from 0 up to, but not, `below`. */
export type Choose = (below: number) => number;

const VECTORS = new URL("../../vectors/", import.meta.url);
const { sha256 } = HOST_PRIMITIVES;

/** A golden pack with the signatures beside it. */
export interface GoldenPack extends MemoryPack {
  readonly signatures: readonly Uint8Array[];
}

/** Reads a golden pack of format version 6. */
export async function readGolden(name: string): Promise<GoldenPack> {
  const folder = new URL(`runpack/v6/${name}/`, VECTORS);
  const objects = new Map<string, Uint8Array>();
  for await (const { name: prefix } of Deno.readDir(new URL("objects/", folder))) {
    for await (const { name: identity } of Deno.readDir(new URL(`objects/${prefix}/`, folder))) {
      objects.set(identity, await Deno.readFile(new URL(`objects/${prefix}/${identity}`, folder)));
    }
  }
  const signatures: Uint8Array[] = [];
  try {
    for await (const { name: file } of Deno.readDir(new URL("signatures/", folder))) {
      signatures.push(await Deno.readFile(new URL(`signatures/${file}`, folder)));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return { manifest: await Deno.readFile(new URL("manifest.json", folder)), objects, signatures };
}

/** What this verifier answers of a pack, as the second one writes it. */
export function answerText(examination: Examination): string {
  return canonicalize(asJson(answerOf(examination)));
}

/** An answer as lines, one a claim, so that a difference is easy to see; nothing is left out, identities least of all. */
export function answerLines(answer: string): string[] {
  const { report, ...others } = readJson(answer) as { report: { claims: JsonValue[] } };
  const { claims, ...rest } = report;
  return [...claims, rest, others].map((one) => canonicalize(one as JsonValue));
}

/** The public key that the golden signature verifies under, which also signs evidence of the vectors. */
export async function goldenKey(): Promise<Uint8Array> {
  const { public_key } = readJson(await Deno.readTextFile(new URL("runpack/v6/signed.key.json", VECTORS))) as Editable;
  return decodeBase64(public_key) ?? new Uint8Array();
}

/** The run of `vectors/run/deploy.json`: signatures, anchors, quorums, decimals, digests, a static policy. */
export async function deployRun(): Promise<PlayedRun> {
  const vectors = JSON.parse(await Deno.readTextFile(new URL("run/deploy.json", VECTORS))) as Editable;
  const law = vectors.law as ScenarioLaw;
  const records = vectors.steps.filter(({ outcome }: Editable) => outcome === "accepted").map((step: Editable) => {
    const record = readJson(step.record) as unknown as RunRecord;
    const { revision, operation, invocation_identity } = record;
    const receipt = { operation, invocation_identity, result: canonicalize(step.result) };
    return { revision, record_id: step.record_id, record: step.record, material: step.material, receipt };
  });
  const created = readJson(records[0].record) as Editable;
  const schema = { type: "object" };
  const contracts = created.body.contracts.map(({ provider_id }: Editable) => contractOf(provider_id));
  return {
    law: {
      namespace_id: law.namespace_id,
      scenario_id: law.scenario_id,
      scenario_law_identity: lawIdentity(sha256, law),
      graph_identity: graphIdentity(sha256, law),
      law: canonicalize(law as unknown as JsonValue),
    },
    records,
    artifacts: [
      ...contracts,
      { kind: "schema", identity: identify(sha256, "schema", schema), body: canonicalize(schema) },
      {
        kind: "operator-profile",
        identity: vectors.operator_profile_identity,
        body: canonicalize(vectors.operator_profile),
      },
    ],
    state: { run_key: created.run_key } as PlayedRun["state"],
  };
}

function contractOf(provider_id: string): { kind: "contract"; identity: string; body: string } {
  const comparators = ["equals", "not_equals", "exists", "not_exists", "in_set", "less_than"];
  const contract = {
    provider_id,
    transport: provider_id === "env" ? "builtin" : "mcp",
    checks: ["get", "findings"].map((check_id) => ({
      check_id,
      params_required: false,
      params_schema: {},
      result_schema: { anyOf: [{ type: "string" }, { const: 3 }, { enum: [null, 2] }] },
      allowed_comparators: comparators,
      anchor_types: [],
    })),
  };
  return { kind: "contract", identity: identify(sha256, "contract", contract), body: canonicalize(contract) };
}

/** Names the contracts and the schema that the pack of the deploy run holds, in place of those that the vectors only name. */
export function bindArtifacts(parts: Parts): void {
  const { body } = parts.records[0];
  const named = new Map(
    parts.artifacts.map((artifact) => [artifact.body.provider_id ?? artifact.kind, artifact.identity]),
  );
  for (const contract of body.contracts) contract.contract_identity = named.get(contract.provider_id);
  for (const schema of body.schemas) schema.schema_identity = named.get("schema");
  for (const record of parts.records.slice(1)) {
    for (const { acquisition } of record.body.evidence ?? []) {
      if (acquisition !== undefined) acquisition.contract_identity = named.get(acquisition.provider_id);
    }
  }
}

/** What a rewrite puts in the place of something. */
const STRANGE: readonly Editable[] = [
  null,
  true,
  -1,
  0,
  1,
  1e300,
  "",
  "\ud83d\ude00",
  "constructor",
  "true",
  "verified",
  "f".repeat(64),
  [],
  {},
  [[[[]]]],
  { kind: "json" },
  { kind: "root" },
  { Condition: "built" },
  { value: 1, value_type: "Integer" },
  { parameter: "commit" },
  { $parameter: "commit" },
  { $template: "https://ci.example/{commit}/{version}" },
  { relative_to: "evaluation_time", offset_milliseconds: -86_400_000 },
];

function placesOf(value: Editable): [Editable, string | number][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((name) => [[value, name] as [Editable, string], ...placesOf(value[name])]);
}

/** Rewrites one place of a run. */
function rewrite(parts: Parts, choose: Choose): void {
  rewriteIn(
    [...parts.records, ...parts.receipts, parts.law, ...parts.artifacts, ...parts.bodies.values()],
    choose,
  );
}

function rewriteIn(roots: readonly Editable[], choose: Choose): void {
  const places = placesOf(roots[choose(roots.length)]);
  const [holder, name] = places[choose(places.length)] ?? [{}, ""];
  const what = choose(STRANGE.length + 4);
  if (what === 0) delete holder[name];
  else if (what === 1) holder[`${name}_`] = holder[name];
  else if (what === 2 && Array.isArray(holder)) holder.push(structuredClone(holder[name as number]));
  // Something else of the run's own: a neighbour's value fits the form more often than anything strange.
  else if (what === 3) {
    const [other, member] = places[choose(places.length)] ?? [{}, ""];
    holder[name] = structuredClone(other[member]);
  } else holder[name] = structuredClone(STRANGE[what - 4]);
}

/** A forgery of what a run's parameters touch: their declarations and uses in the law, the genesis, and the witnesses. */
export function rewrittenParameters(run: PlayedRun, choose: Choose): MemoryPack | null {
  try {
    return forge(run, (parts) => {
      const { law, records } = parts;
      const witnesses = records.flatMap(({ body }) => body.evidence ?? []).flatMap(({ acquisition }) =>
        acquisition ?? []
      );
      const uses = [
        { parameters: law.parameters },
        ...law.conditions.map(({ predicate }: Editable) => ({ predicate })),
        ...law.acquisition_bindings.map(({ params }: Editable) => ({ params })),
      ];
      const roots = [uses, uses, records[0].body.genesis, witnesses];
      for (let round = choose(2) + 1; round > 0; round--) {
        rewriteIn([roots[choose(roots.length)]], choose);
        // What the holders were given in place of a member is written back to the law.
        law.parameters = uses[0].parameters;
        law.conditions.forEach((one: Editable, at: number) => one.predicate = uses[1 + at].predicate);
        law.acquisition_bindings.forEach((one: Editable, at: number) =>
          one.params = uses[1 + law.conditions.length + at].params
        );
      }
      parts.receipts[0].result.genesis = structuredClone(records[0].body.genesis);
      parts.records[0].body.scenario_law_identity = parts.receipts[0].result.scenario_law_identity = identify(
        sha256,
        "scenario-law",
        law,
      );
    });
  } catch {
    return null;
  }
}

/** A forgery by one or two rewrites that hashes and links from end to end; null where it cannot be written as a pack. */
export function rewritten(run: PlayedRun, choose: Choose, prepare: (parts: Parts) => void): MemoryPack | null {
  try {
    return forge(run, (parts) => {
      prepare(parts);
      if (choose(4) === 0) parts.withheld.push(...withheldOf(parts, choose));
      for (let round = choose(3) === 0 ? 2 : 1; round > 0; round--) rewrite(parts, choose);
    });
  } catch {
    return null;
  }
}

function withheldOf(parts: Parts, choose: Choose): string[] {
  const conditions = parts.law.conditions as Editable[];
  return conditions.length === 0 ? [] : [conditions[choose(conditions.length)].condition_id];
}

/** A pack whose manifest, artifact list or root node was rewritten in one place or two; null where it cannot be written. */
export function restructured(pack: MemoryPack, choose: Choose): MemoryPack | null {
  try {
    return restructure(pack, choose);
  } catch {
    return null;
  }
}

function restructure(pack: MemoryPack, choose: Choose): MemoryPack {
  const read = (bytes: Uint8Array | undefined): Editable => readJson(new TextDecoder().decode(bytes));
  const manifest = read(pack.manifest);
  const objects = new Map(pack.objects);
  const places = ["manifest", "artifacts", "segments"];
  for (let round = choose(3) === 0 ? 2 : 1; round > 0; round--) {
    const place = places[choose(places.length)] ?? "";
    const before = manifest[place]?.object;
    const holder = { value: place === "manifest" ? manifest : read(objects.get(before)) };
    rewriteIn([holder.value], choose);
    if (place === "manifest") continue;
    objects.delete(before);
    const bytes = canonicalBytes(holder.value);
    const object = identifyBytes(sha256, "object", bytes);
    objects.set(object, bytes);
    manifest[place] = { bytes: bytes.length, object };
  }
  return { manifest: canonicalBytes(manifest), objects };
}

/** One change to the bytes of a pack. */
export function mutated(pack: MemoryPack, choose: Choose): MemoryPack {
  const objects = new Map(pack.objects);
  const names = [...objects.keys()];
  const name = names[choose(names.length)] ?? "";
  switch (choose(8)) {
    case 0:
      objects.delete(name);
      return { ...pack, objects };
    case 1:
      objects.set(choose(2).toString().repeat(64), new Uint8Array(choose(100)));
      return { ...pack, objects };
    case 2:
      objects.set(name, objects.get(names[choose(names.length)] ?? "") ?? new Uint8Array());
      return { ...pack, objects };
    case 3:
    case 4:
      return { ...pack, manifest: changed(pack.manifest, choose) };
    default:
      objects.set(name, changed(objects.get(name) ?? new Uint8Array(), choose));
      return { ...pack, objects };
  }
}

function changed(bytes: Uint8Array, choose: Choose): Uint8Array {
  const at = choose(bytes.length);
  switch (choose(4)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return new Uint8Array([...bytes.subarray(0, at), choose(256), ...bytes.subarray(at)]);
    default: {
      const copy = bytes.slice();
      copy[at] = ((copy[at] ?? 0) + 1 + choose(255)) % 256;
      return copy;
    }
  }
}
