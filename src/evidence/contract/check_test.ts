import assert from "node:assert/strict";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { createSchemaSandbox } from "../sandbox/schema_sandbox.ts";
import { CHECKS_MAXIMUM, CONTRACT_BYTES_MAXIMUM } from "./check.ts";
import { resultTypes } from "./facts.ts";
import { loadContract } from "./load.ts";
import { ContractError } from "./problems.ts";

/** Identity of the contract that `contract()` returns. */
const IDENTITY = "b6f7f4587eb298b86fef761f6a99011c0d926a31d97fa018bbfe795fa31cb05a";

const OWNER = { provider_id: "scanner", transport: "mcp" } as const;

function check(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    check_id: "critical",
    description: "Critical findings.",
    determinism: "external",
    params_required: true,
    params_schema: { type: "object" },
    result_schema: { type: "integer" },
    allowed_comparators: ["equals", "less_than", "exists"],
    anchor_types: ["scan"],
    content_types: [],
    examples: [{ description: "None", params: {}, result: 0 }],
    ...changes,
  };
}

function contract(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    provider_id: "scanner",
    name: "Scanner",
    description: "Scans.",
    transport: "mcp",
    config_schema: {},
    checks: [check()],
    notes: [],
    ...changes,
  };
}

async function problemsOf(text: string): Promise<string[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-contract-" });
  const sandbox = createSchemaSandbox({ deadlineMillis: 3000 });
  try {
    await Deno.writeTextFile(`${folder}/contract.json`, text);
    await loadContract(`${folder}/contract.json`, OWNER, sandbox);
    return [];
  } catch (error) {
    assert.ok(error instanceof ContractError, String(error));
    return error.problems.map(({ code, path }) => `${code} ${path}`);
  } finally {
    sandbox.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const two = check({ check_id: "low" });

/** Fault, contract, problems. */
const ROWS: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
  ["nothing", contract(), []],
  ["two checks", contract({ checks: [check(), two] }), []],
  ["a member is unknown", contract({ version: 1 }), ["member_unknown $.version"]],
  ["a member is unknown whose name is inherited", contract({ constructor: 1 }), ["member_unknown $.constructor"]],
  ["a member is missing", contract({ notes: undefined }), ["member_missing $.notes"]],
  ["another provider", contract({ provider_id: "other" }), ["provider_mismatch $.provider_id"]],
  ["an identifier with control characters", contract({ checks: [check({ check_id: "a\n" })] }), [
    "value_invalid $.checks[0].check_id",
  ]],
  ["another transport", contract({ transport: "typed" }), ["provider_mismatch $.transport"]],
  ["an unknown transport", contract({ transport: "x" }), ["value_invalid $.transport"]],
  ["no check", contract({ checks: [] }), ["value_invalid $.checks"]],
  ["a check twice", contract({ checks: [check(), check()] }), ["duplicate $.checks[1].check_id"]],
  ["checks, n", contract({ checks: many(CHECKS_MAXIMUM) }), []],
  ["checks, n + 1", contract({ checks: many(CHECKS_MAXIMUM + 1) }), ["too_many $.checks"]],
  ["a check that is null", contract({ checks: [null] }), ["type_invalid $.checks[0]"]],
  ["an id that is too long", contract({ checks: [check({ check_id: "x".repeat(257) })] }), [
    "value_invalid $.checks[0].check_id",
  ]],
  ["an id of 256 bytes", contract({ checks: [check({ check_id: "x".repeat(256) })] }), []],
  ["an unknown determinism", contract({ checks: [check({ determinism: "random" })] }), [
    "value_invalid $.checks[0].determinism",
  ]],
  ["a flag that is a string", contract({ checks: [check({ params_required: "yes" })] }), [
    "type_invalid $.checks[0].params_required",
  ]],
  ["no comparator", contract({ checks: [check({ allowed_comparators: [] })] }), [
    "value_invalid $.checks[0].allowed_comparators",
  ]],
  ["a comparator twice", contract({ checks: [check({ allowed_comparators: ["equals", "equals"] })] }), [
    "duplicate $.checks[0].allowed_comparators[1]",
  ]],
  [
    "a comparator twice, another between",
    contract({ checks: [check({ allowed_comparators: ["equals", "exists", "equals"] })] }),
    ["duplicate $.checks[0].allowed_comparators[2]"],
  ],
  ["an unknown comparator", contract({ checks: [check({ allowed_comparators: ["like"] })] }), [
    "value_invalid $.checks[0].allowed_comparators[0]",
  ]],
  ["an anchor type twice", contract({ checks: [check({ anchor_types: ["a", "a"] })] }), [
    "duplicate $.checks[0].anchor_types[1]",
  ]],
  [
    "an example with a foreign member",
    contract({
      checks: [check({ examples: [{ description: "", params: 1, result: 2, more: 3 }] })],
    }),
    ["member_unknown $.checks[0].examples[0].more"],
  ],
  [
    "schemas that do not compile",
    contract({
      config_schema: { type: "strnig" },
      checks: [check({ params_schema: { pattern: "(" }, result_schema: 7 })],
    }),
    [
      "schema_invalid $.config_schema",
      "schema_invalid $.checks[0].params_schema",
      "schema_invalid $.checks[0].result_schema",
    ],
  ],
  ["a schema that leads out", contract({ config_schema: { $ref: "https://schemas.example/a" } }), [
    "schema_invalid $.config_schema",
  ]],
  ["several things", contract({ name: 1, transport: "typed", checks: [check({ examples: {} })] }), [
    "provider_mismatch $.transport",
    "type_invalid $.name",
    "type_invalid $.checks[0].examples",
  ]],
];

function many(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => check({ check_id: `c${index}`, params_schema: true }));
}

for (const [name, value, problems] of ROWS) {
  Deno.test(`loadContract() ${name}: ${problems.length === 0 ? "loaded" : problems.join(", ")}`, async () => {
    assert.deepEqual(await problemsOf(JSON.stringify(value)), problems);
  });
}

/** Comparators of a contract, which are a set. */
const ORDERS: readonly (readonly string[])[] = [
  ["equals", "less_than", "exists"],
  ["exists", "equals", "less_than"],
  ["less_than", "exists", "equals"],
];

Deno.test("loadContract() gives comparators in any order the identity of the canonical order", async () => {
  const path = await Deno.makeTempFile();
  const schemas = createSchemaSandbox();
  try {
    for (const allowed_comparators of ORDERS) {
      await Deno.writeTextFile(path, JSON.stringify(contract({ checks: [check({ allowed_comparators })] })));
      const { contract: loaded, contract_identity, text } = await loadContract(path, OWNER, schemas);
      assert.deepEqual(loaded.checks[0]?.allowed_comparators, ORDERS[0]);
      // The identity of this contract from versions that required the order.
      assert.equal(text, canonicalize(contract({ checks: [check()] }) as JsonValue));
      assert.equal(contract_identity, IDENTITY);
    }
  } finally {
    schemas.close();
    await Deno.remove(path);
  }
});

/** Fault of the file, text, problem. */
const TEXTS: readonly (readonly [string, string, string])[] = [
  ["no JSON", "{", "contract_not_json $"],
  ["a name twice", '{"checks":[{"check_id":"a","check_id":"b"}]}', "contract_not_json $.checks[0].check_id"],
  ["a number that is rounded", '{"notes":[9007199254740993]}', "contract_not_json $.notes[0]"],
  ["no object", "[]", "type_invalid $"],
];

for (const [name, text, expected] of TEXTS) {
  Deno.test(`loadContract() ${name}: ${expected}`, async () => {
    assert.deepEqual(await problemsOf(text), [expected]);
  });
}

for (const [bytes, expected] of [[-1, []], [0, []], [1, ["contract_too_large $"]]] as const) {
  Deno.test(`loadContract() of ${CONTRACT_BYTES_MAXIMUM} ${bytes} bytes`, async () => {
    const text = JSON.stringify(contract());
    assert.deepEqual(await problemsOf(text + " ".repeat(CONTRACT_BYTES_MAXIMUM + bytes - text.length)), expected);
  });
}

Deno.test("loadContract() a missing file or a folder: contract_unreadable", async () => {
  const sandbox = createSchemaSandbox();
  const folder = await Deno.makeTempDir();
  try {
    for (const path of [`${folder}/missing.json`, folder]) {
      await assert.rejects(loadContract(path, OWNER, sandbox), (error) => {
        assert.ok(error instanceof ContractError);
        assert.equal(error.problems[0]?.code, "contract_unreadable");
        return true;
      });
    }
  } finally {
    sandbox.close();
    await Deno.remove(folder);
  }
});

/** Schema, types. */
const TYPES: readonly (readonly [JsonValue, string])[] = [
  [true, "any"],
  [{}, "any"],
  [{ type: "integer" }, "integer"],
  [{ type: ["null", "string"] }, "string null"],
  [{ const: 1.5 }, "number"],
  [{ enum: ["a", 1, null, true] }, "string integer boolean null"],
  [{ anyOf: [{ type: "string" }, { const: [] }] }, "string array"],
  [{ oneOf: [{ type: "string" }, {}] }, "any"],
  [{ type: "string", "x-gate": { dynamic_type: true } }, "any"],
  [{ type: "string", "x-gate": { dynamic_type: false } }, "string"],
  [{ $ref: "#/$defs/a" }, "any"],
];

for (const [schema, types] of TYPES) {
  Deno.test(`resultTypes() ${JSON.stringify(schema)}: ${types}`, () => {
    assert.equal(resultTypes(schema).join(" "), types);
  });
}
