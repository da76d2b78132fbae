import assert from "node:assert/strict";

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { decodeManifest, manifestBytes, runpackIdentity } from "./manifest.ts";
import { FORMAT, type Manifest, MANIFEST_BYTES, NODE_BYTES, TEXT_BYTES, WITHHELD_CONDITIONS } from "./types.ts";

const encoder = new TextEncoder();
const IDENTITY = SHA256("anything");

const MANIFEST: Manifest = {
  format: FORMAT,
  run_key: { namespace_id: 2, run_id: "0".repeat(32) },
  scenario_id: "release",
  scenario_law_identity: IDENTITY,
  graph_identity: IDENTITY,
  head: { record_id: IDENTITY, revision: 1 },
  state_identity: IDENTITY,
  record_tree: { root: IDENTITY, size: 1 },
  law: { object: IDENTITY, bytes: 2 },
  artifacts: { object: IDENTITY, bytes: 2 },
  segments: { object: IDENTITY, bytes: 2 },
  withheld_conditions: [],
};

Deno.test("decodeManifest() decodes what manifestBytes() encodes", () => {
  const bytes = manifestBytes(MANIFEST);
  assert.deepEqual(decodeManifest(bytes), { ok: true, manifest: MANIFEST });
  assert.equal(
    runpackIdentity(SHA256, bytes),
    SHA256(`gate:runpack:v1\0${canonicalize(MANIFEST as unknown as JsonValue)}`),
  );
});

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `c${String(index).padStart(5, "0")}`);

// One changed member, and the path of the fault; null where the manifest is valid.
const MEMBERS: readonly [string, unknown, string | null][] = [
  ["run_key.namespace_id", 1, null],
  ["run_key.namespace_id", 0, "$.run_key.namespace_id"],
  ["run_key.namespace_id", 1.5, "$.run_key.namespace_id"],
  ["run_key.namespace_id", "2", "$.run_key.namespace_id"],
  ["run_key.run_id", "A".repeat(32), "$.run_key.run_id"],
  ["run_key.run_id", "0".repeat(31), "$.run_key.run_id"],
  ["run_key.other", 1, "$.run_key"],
  ["scenario_id", "", "$.scenario_id"],
  ["scenario_id", "é".repeat(128), null],
  ["scenario_id", `${"é".repeat(128)}e`, "$.scenario_id"],
  ["scenario_id", "a\u0085b", "$.scenario_id"],
  ["scenario_law_identity", IDENTITY.toUpperCase(), "$.scenario_law_identity"],
  ["graph_identity", null, "$.graph_identity"],
  ["state_identity", IDENTITY.slice(1), "$.state_identity"],
  ["head", [], "$.head"],
  ["head.record_id", "", "$.head.record_id"],
  ["head.revision", 0, "$.head.revision"],
  ["head.revision", 2, "$.record_tree.size"],
  ["record_tree.size", 2, "$.record_tree.size"],
  ["record_tree.root", IDENTITY + "0", "$.record_tree.root"],
  ["law.bytes", TEXT_BYTES - 1, null],
  ["law.bytes", TEXT_BYTES, null],
  ["law.bytes", TEXT_BYTES + 1, "$.law.bytes"],
  ["law.bytes", -1, "$.law.bytes"],
  ["artifacts.bytes", NODE_BYTES, null],
  ["artifacts.bytes", NODE_BYTES + 1, "$.artifacts.bytes"],
  ["segments.bytes", NODE_BYTES + 1, "$.segments.bytes"],
  ["segments.object", "x", "$.segments.object"],
  ["withheld_conditions", ids(WITHHELD_CONDITIONS), null],
  ["withheld_conditions", ids(WITHHELD_CONDITIONS + 1), "$.withheld_conditions"],
  ["withheld_conditions", ["b", "a"], "$.withheld_conditions[1]"],
  ["withheld_conditions", ["a", "a"], "$.withheld_conditions[1]"],
  ["withheld_conditions", [1], "$.withheld_conditions[0]"],
  ["withheld_conditions", ["a\nb"], "$.withheld_conditions[0]"],
  ["withheld_conditions", ["a".repeat(256)], null],
  ["withheld_conditions", ["a".repeat(257)], "$.withheld_conditions[0]"],
  ["withheld_conditions", undefined, "$"],
  ["__proto__", { a: 1 }, "$"],
  ["created_at", 1, "$"],
];

function changed(path: string, value: unknown): string {
  const [name = "", inner] = path.split(".");
  const before = Object.entries(MANIFEST).filter(([key]) => key !== name);
  const old: unknown = Object.getOwnPropertyDescriptor(MANIFEST, name)?.value;
  const next = inner === undefined ? value : { ...old as object, [inner]: value };
  const entries = next === undefined ? before : [...before, [name, next] as const];
  return canonicalize(Object.fromEntries(entries) as JsonValue);
}

for (const [path, value, fault] of MEMBERS) {
  const shown = (JSON.stringify(value) ?? "nothing").slice(0, 40);
  Deno.test(`decodeManifest() with ${path} ${shown}: ${fault ?? "is read"}`, () => {
    const result = decodeManifest(encoder.encode(changed(path, value)));
    if (fault === null) return assert.ok(result.ok);
    assert.ok(!result.ok);
    assert.equal(result.fault.code, "manifest_invalid");
    assert.ok(result.fault.message.startsWith(`${fault}: `), result.fault.message);
  });
}

const TEXT = canonicalize(MANIFEST as unknown as JsonValue);

// Invalid manifests, and the code of the fault.
const TEXTS: readonly [string, string, string][] = [
  ["nothing", "", "manifest_not_canonical"],
  ["not JSON", "manifest", "manifest_not_canonical"],
  ["a line feed at the end", `${TEXT}\n`, "manifest_not_canonical"],
  ["a space", TEXT.replace(":", ": "), "manifest_not_canonical"],
  [
    "members out of order",
    `{"format":"x",${TEXT.slice(1).replace('"format":"runpack-v6",', "")}`,
    "manifest_not_canonical",
  ],
  ["a member twice", TEXT.replace("{", '{"law":1,'), "manifest_not_canonical"],
  ["the next version", TEXT.replace("runpack-v6", "runpack-v7"), "format_unsupported"],
  ["no version", TEXT.replace('"runpack-v6"', "6"), "manifest_invalid"],
  ["an array", "[]", "manifest_invalid"],
  ["one byte too many", `"${"x".repeat(MANIFEST_BYTES - 1)}"`, "manifest_too_large"],
  ["as many bytes as there may be", `"${"x".repeat(MANIFEST_BYTES - 2)}"`, "manifest_invalid"],
];

for (const [what, text, code] of TEXTS) {
  Deno.test(`decodeManifest() of ${what}: ${code}`, () => {
    const result = decodeManifest(encoder.encode(text));
    assert.equal(result.ok ? null : result.fault.code, code);
  });
}

Deno.test("decodeManifest() of bytes that are not UTF-8: manifest_not_canonical", () => {
  const result = decodeManifest(Uint8Array.of(0x22, 0xff, 0x22));
  assert.equal(result.ok ? null : result.fault.code, "manifest_not_canonical");
});
