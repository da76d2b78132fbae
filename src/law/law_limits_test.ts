import assert from "node:assert/strict";
import { approved } from "../../tests/simulation/kernel/law_refusal_rows.ts";
import {
  type Editable,
  environment,
  flag,
  fullSpec,
  leastSpec,
  LIMITS,
  policy,
  stage,
} from "../../tests/simulation/kernel/law_specs.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { constructLaw } from "./law.ts";

/** Runs each case at n-1, n and n+1 of a limit. Only the last one is refused, with the given refusal. */
function bounded(what: string, n: number, refusal: string, spec: (count: number) => Editable): void {
  for (const [count, expected] of [[n - 1, []], [n, []], [n + 1, [refusal]]] as const) {
    const result = constructLaw(spec(count), environment());
    const refusals = result.ok ? [] : result.refusals.map(({ code, path }) => `${code} ${path}`);
    assert.deepEqual(refusals, expected, `${what}: ${count}`);
  }
}

const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
const packet = (id: string, changes: object = {}): Editable => ({
  packet_id: id,
  schema_id: "s",
  content_type: "application/json",
  payload: { kind: "json", value: 1 },
  ...changes,
});
const DEFAULTS = { visibility_labels: [], policy_tags: [], expiry: null };
const withPacket = (changes: object): Editable => {
  const spec = leastSpec();
  spec.stages[0].entry_packets = [packet("p", changes)];
  return spec;
};
const withPolicy = (changes: Readonly<Record<string, JsonValue>>): Editable => {
  const spec = leastSpec();
  spec.conditions[0].evidence_use_policy = policy(changes);
  return spec;
};
const nested = (depth: number): JsonValue => depth === 0 ? approved : { Not: nested(depth - 1) };
const inPacket = "$.stages[0].entry_packets[0]";

Deno.test("constructLaw() holds every count at n-1, n, n+1", () => {
  const many = (list: string, make: (index: number) => JsonValue) => (count: number): Editable => {
    const spec = leastSpec();
    spec[list] = [...(spec[list] ?? []), ...numbered(count - (spec[list] ?? []).length, make)];
    return spec;
  };
  bounded("stages", 1024, "too_many $.stages", many("stages", (i) => stage(`s${i}`, "approved")));
  bounded("conditions", 4096, "too_many $.conditions", many("conditions", (i) => flag(`c${i}`)));
  bounded("policies", 1024, "too_many $.policies", many("policies", (i) => ({ policy_id: `p${i}` })));
  bounded("packets", 256, "too_many $.stages[0].entry_packets", (count) => {
    const spec = leastSpec();
    spec.stages[0].entry_packets = numbered(count, (i) => packet(`p${i}`));
    return spec;
  });
  for (const list of ["visibility_labels", "policy_tags"]) {
    bounded(
      list,
      256,
      `too_many ${inPacket}.${list}`,
      (count) => withPacket({ [list]: numbered(count, (i) => `l${i}`) }),
    );
  }
  bounded(
    "targets",
    256,
    `too_many ${inPacket}.targets`,
    (count) => withPacket({ targets: numbered(count, (i) => ({ kind: "agent", agent_id: `a${i}` })) }),
  );
  bounded(
    "keys",
    256,
    "too_many $.conditions[0].evidence_use_policy.authorized_key_ids",
    (count) => withPolicy({ authorization: "signature", authorized_key_ids: numbered(count, (i) => `k${i}`) }),
  );
  bounded(
    "quorum",
    64,
    "value_invalid $.conditions[0].evidence_use_policy.combination.minimum",
    (minimum) => withPolicy({ combination: { combination: "Quorum", minimum } }),
  );
});

Deno.test("constructLaw() holds the size of the answer to an opening at n-1, n, n+1", () => {
  // 4 MiB for 128 targets are 32768 bytes each, including the other members of packet and intent.
  const targets = numbered(128, (i) => ({ kind: "agent", agent_id: `a${i}` }));
  const frame = canonicalize({ ...packet("p"), ...DEFAULTS, payload: { kind: "json", value: "" } }).length + 512;
  for (const [bytes, expected] of [[32767, []], [32768, []], [32769, ["payload_too_large"]]] as const) {
    const value = "x".repeat(bytes - frame);
    const result = constructLaw(withPacket({ targets, payload: { kind: "json", value } }), environment());
    const refusals = result.ok ? [] : result.refusals;
    assert.deepEqual(refusals.map(({ code }) => code), expected, `${bytes}`);
    for (const { path } of refusals) assert.equal(path, "$.stages[0].entry_packets");
  }
});

Deno.test("constructLaw() holds the counts of schemas, bindings and expected values at n-1, n, n+1", () => {
  const everySchema = { ...environment(), hasSchema: () => true };
  for (const [count, ok] of [[1023, true], [1024, true], [1025, false]] as const) {
    const spec = leastSpec();
    spec.schemas = numbered(count, (i) => ({ schema_id: "s", version: `${i}` }));
    assert.equal(constructLaw(spec, everySchema).ok, ok);
  }
  const bindings = (count: number): Editable => {
    const spec = fullSpec();
    spec.acquisition_bindings = numbered(count, (i) => ({ ...spec.acquisition_bindings[0], binding_id: `b${i}` }));
    return spec;
  };
  bounded("bindings", 4096, "too_many $.acquisition_bindings", bindings);
  bounded("expected values", 4096, "too_many $.conditions[0].predicate.expected", (count) => {
    const spec = fullSpec();
    spec.conditions[0].predicate.expected = numbered(count, (i) => ({ value: `${i}`, value_type: "String" }));
    return spec;
  });
});

Deno.test("constructLaw() holds every length at n-1, n, n+1", () => {
  const text = (bytes: number): string => "é".repeat(bytes >> 1) + "a".repeat(bytes & 1);
  bounded("id", 256, "identifier_invalid $.scenario_id", (bytes) => ({ ...leastSpec(), scenario_id: text(bytes) }));
  bounded("description", 4096, "value_invalid $.policies[0].description", (bytes) => ({
    ...leastSpec(),
    policies: [{ policy_id: "p", description: text(bytes) }],
  }));
  bounded(
    "content type",
    256,
    `content_type_invalid ${inPacket}.content_type`,
    (length) => withPacket({ content_type: "application/json;a=".padEnd(length, "b") }),
  );
  bounded(
    "target",
    2048,
    `value_invalid ${inPacket}.targets[0].target`,
    (bytes) => withPacket({ targets: [{ kind: "external", system: "s", target: text(bytes) }] }),
  );
  bounded("URI", 2048, `value_invalid ${inPacket}.payload.content_ref.uri`, (bytes) => {
    const content_hash = { algorithm: "sha256", value: "00".repeat(32) };
    return withPacket({ payload: { kind: "external", content_ref: { uri: text(bytes), content_hash } } });
  });
  bounded("params", 65536, "value_invalid $.acquisition_bindings[0].params", (bytes) => {
    const spec = fullSpec();
    spec.acquisition_bindings[0].params = { key: "x".repeat(bytes - '{"key":""}'.length) };
    return spec;
  });
  const limited = (payload: object, content_type: string): Editable => ({
    ...withPacket({ payload, content_type }),
    value_limits: { selection: "Explicit", maximum_value_bytes: 1, maximum_payload_bytes: 100 },
  });
  bounded(
    "json payload",
    100,
    `payload_too_large ${inPacket}.payload.value`,
    (bytes) => limited({ kind: "json", value: text(bytes - 2) }, "application/json"),
  );
  bounded(
    "bytes payload",
    100,
    `payload_too_large ${inPacket}.payload.base64`,
    (bytes) => limited({ kind: "bytes", base64: new Uint8Array(bytes).toBase64() }, "image/png"),
  );
  bounded(
    "value limit",
    LIMITS.maximum_value_bytes,
    "value_limit_exceeds_operator $.value_limits.maximum_value_bytes",
    (bytes) => ({
      ...leastSpec(),
      value_limits: { selection: "Explicit", maximum_value_bytes: bytes, maximum_payload_bytes: 1 },
    }),
  );
});

Deno.test("constructLaw() holds depth and size of requirements at n-1, n, n+1", () => {
  bounded("depth", 32, `requirement_too_deep $.stages[0].completion_requirement${".Not".repeat(33)}`, (depth) => {
    const spec = leastSpec();
    spec.stages[0].completion_requirement = nested(depth);
    return spec;
  });
  bounded("nodes", 4096, "requirement_too_large $.stages[0].completion_requirement", (nodes) => {
    const spec = leastSpec();
    // The root and four groups, then leaves: 64 conditions in different pairs make distinct operands.
    spec.conditions = numbered(4096, (i) => flag(`c${i}`));
    const leaves = numbered(nodes - 1, (i) => ({ Condition: `c${i}` }));
    spec.stages[0].completion_requirement = { Or: leaves };
    return spec;
  });
});
