import assert from "node:assert/strict";
import type { CompiledStage } from "../compile.ts";
import { findingsOf, type JudgedItem } from "./causes.ts";
import type { TraceItem } from "../types.ts";
import { FALSE, TRUE } from "../../law/value/truth.ts";

const BINDINGS = [
  { binding_id: "one", provider_id: "json", params: { file: "one.json", jsonpath: "$.x" } },
  { binding_id: "two", provider_id: "json", params: { file: "two.json", jsonpath: "$.y" } },
  { binding_id: "open", provider_id: "json", params: { file: { $parameter: "file" } } },
  { binding_id: "other", provider_id: "folders", params: { file: "three.json" } },
];
const STAGE = {
  stage: { completion_requirement: { Condition: "c" } },
  conditions: [],
  bindings: BINDINGS,
  slotOf: new Map(),
} as unknown as CompiledStage;
const VALUE = { value: 0, value_type: "Integer" } as const;

function item(binding_id: string | undefined, code = "file_not_found"): JudgedItem {
  const ids = binding_id === undefined ? {} : { binding_id };
  return { condition_id: "c", provider_id: "json", ...ids, qualified: false, error: { code } };
}

const HIDDEN = { condition_id: "c", provider_id: "db", qualified: true, isShown: false };
const EMPTY = { condition_id: "c", provider_id: "json", qualified: true };

/** Name, value and reason of the trace, items, and the members of the cause that depend on the items' sources. */
const ROWS: readonly (readonly [string, Pick<TraceItem, "value" | "reason">, readonly JudgedItem[], object])[] = [
  ["the file of the binding that failed", { value: "unknown", reason: "error" }, [item("two")], {
    files: ["two.json"],
  }],
  ["the files of two that failed", { value: "unknown", reason: "error" }, [item("two"), item("one"), item("two")], {
    files: ["two.json", "one.json"],
  }],
  ["no file without a binding", { value: "unknown", reason: "error" }, [item(undefined)], {}],
  ["no file of a parameter that is open", { value: "unknown", reason: "error" }, [item("open")], {}],
  ["no file of another provider", { value: "unknown", reason: "error" }, [item("other")], {}],
  ["no file of another error", { value: "unknown", reason: "error" }, [item("two", "json_invalid")], {}],
  ["who was asked", { value: "unknown", reason: "no_evidence" }, [EMPTY, EMPTY], { asked: ["json"] }],
  ["nobody where a caller gave it", { value: "unknown", reason: "no_evidence" }, [], {}],
  ["the provider's rule", { value: "false" }, [{ ...HIDDEN, hiddenBy: "rule" }], { hidden_by: ["rule"] }],
  ["no rule of a provider for the server's", { value: "false" }, [HIDDEN], {}],
  ["no rule for a value that is shown", { value: "false" }, [{ ...EMPTY, value: VALUE, isShown: true }], {}],
];

for (const [name, judged, items, expected] of ROWS) {
  Deno.test(`findingsOf() has ${name}`, () => {
    const [cause] = findingsOf(STAGE, [{ condition_id: "c", path: "", ...judged } as TraceItem], items, null).causes;
    assert.ok(cause !== undefined);
    const { files, asked, hidden_by } = cause;
    assert.deepEqual(JSON.parse(JSON.stringify({ files, asked, hidden_by })), expected);
  });
}

/** A quorum of two people among three. */
const QUORUM = {
  ...STAGE,
  slotOf: new Map([["c", 0]]),
  conditions: [{
    condition: {
      observation_domain: { domain: "Boolean" },
      predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
      evidence_use_policy: {
        combination: { combination: "Quorum", minimum: 2 },
        authorized_key_ids: ["alice", "bob", "carol"],
      },
    },
    judge: ({ value }: { readonly value: unknown }) => value === true ? TRUE : FALSE,
  }],
} as unknown as CompiledStage;

function signedBy(signer: string, value: boolean, qualified = true): JudgedItem {
  return {
    condition_id: "c",
    qualified,
    signer: { key_id: signer, observed_at: 7 },
    value: { value, value_type: "Boolean" },
  };
}

/** Items, and whose signatures hold and who may still sign. */
const SIGNERS: readonly (readonly [string, readonly JudgedItem[], object])[] = [
  ["nobody", [], { may: ["alice", "bob", "carol"] }],
  ["one", [signedBy("bob", true)], { signed: ["bob"], may: ["alice", "carol"] }],
  ["one who refused", [signedBy("bob", false)], {
    refused: [{ key_id: "bob", observed_at: 7 }],
    may: ["alice", "carol"],
  }],
  ["one whose statement does not count", [signedBy("bob", true, false)], { may: ["alice", "bob", "carol"] }],
  ["one without a signer", [{ condition_id: "c", qualified: true, value: { value: true, value_type: "Boolean" } }], {}],
  ["one twice", [signedBy("bob", false), signedBy("bob", false)], {
    refused: [{ key_id: "bob", observed_at: 7 }],
    may: ["alice", "carol"],
  }],
  ["two", [signedBy("carol", true), signedBy("alice", true)], { signed: ["alice", "carol"] }],
];

for (const [name, items, expected] of SIGNERS) {
  Deno.test(`findingsOf() says who signed and who may: ${name}`, () => {
    const [cause] =
      findingsOf(QUORUM, [{ condition_id: "c", path: "", value: "unknown" } as TraceItem], items, 0).causes;
    const { signed, refused, may } = cause ?? {};
    assert.deepEqual(JSON.parse(JSON.stringify({ signed, refused, may })), expected);
  });
}
