import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import type { WorkerOrder, WorkerReport } from "./worker_protocol.ts";
import type { SchemaJob, SchemaReply } from "./schema_protocol.ts";
import { createSchemaSandbox, type SchemaSandbox, SchemaSandboxError } from "./schema_sandbox.ts";

/** Runs a test with a new sandbox and closes it. */
function withSandbox(
  name: string,
  test: (sandbox: SchemaSandbox) => Promise<void>,
  options: Parameters<typeof createSchemaSandbox>[0] = {},
): void {
  Deno.test(name, async () => {
    const sandbox = createSchemaSandbox({ deadlineMillis: 60_000, ...options });
    try {
      await test(sandbox);
    } finally {
      sandbox.close();
    }
  });
}

function rejectsWith(code: string): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof SchemaSandboxError);
    assert.equal(error.code, code);
    return true;
  };
}

withSandbox("SchemaSandbox.validate() validates a value and compiles the schema once", async (sandbox) => {
  const schema: JsonValue = { properties: { a: { type: "integer" } } };
  for (let round = 0; round < 2; round++) {
    assert.equal(await sandbox.validate("schema", schema, { a: 1 }), "valid");
    assert.deepEqual(await sandbox.validate("schema", schema, { a: "1" }), { invalid: "$.a: must be integer" });
  }
});

withSandbox("SchemaSandbox.validate() validates a value against a schema within another", async (sandbox) => {
  const schema: JsonValue = { properties: { a: { type: "integer" } }, $defs: { a: { type: "null" } } };
  assert.equal(await sandbox.validate("schema", schema, 1, "/properties/a"), "valid");
  assert.deepEqual(await sandbox.validate("schema", schema, "1", "/properties/a"), { invalid: "$: must be integer" });
  assert.equal(await sandbox.validate("schema", schema, "1"), "valid");
  await assert.rejects(sandbox.validate("schema", schema, 1, "/$defs/a"), rejectsWith("validator_failed"));
});

withSandbox(
  "SchemaSandbox.validate() distinguishes escaped member names of different values",
  async (sandbox) => {
    const schema: JsonValue = { required: ["k", "\\"] };
    const named = (name: string): JsonValue => Object.fromEntries([["k", 0], [name, 1]]);
    assert.equal(await sandbox.validate("names", schema, named("\\")), "valid");
    // JSON.parse would read this name as the one before.
    assert.notEqual(await sandbox.validate("names", schema, named("\n")), "valid");
    const other: JsonValue = { required: ["k", "\n"] };
    assert.notEqual(await sandbox.validate("others", other, named("\\")), "valid");
    assert.equal(await sandbox.validate("others", other, named("\n")), "valid");
  },
);

withSandbox("SchemaSandbox.check() refuses an invalid schema with the reason", async (sandbox) => {
  const refused = await sandbox.check({ properties: { a: { type: "strnig" } } });
  assert.match(
    refused.ok ? "" : refused.message,
    /^\$\.properties\.a\.type: must be equal to one of the allowed values: "array"/,
  );
  assert.deepEqual(await sandbox.check({ type: "object" }), { ok: true });
});

withSandbox("SchemaSandbox.check() accepts a large schema", async (sandbox) => {
  const members = (count: number, inner: JsonValue): JsonValue => ({
    properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, inner])),
  });
  assert.deepEqual(await sandbox.check(members(1500, members(10, { type: "string", minLength: 1 }))), { ok: true });
});

/** A schema that evaluates the same value 2 ** `times` times. */
function doubling(times: number): JsonValue {
  const both = (index: number): JsonValue => ({ allOf: [{ $ref: `#/$defs/${index}` }, { $ref: `#/$defs/${index}` }] });
  const definitions = Array.from({ length: times }, (_, index) => [index + 1, both(index)] as const);
  return { $ref: `#/$defs/${times}`, $defs: { 0: { type: "string" }, ...Object.fromEntries(definitions) } };
}

withSandbox("SchemaSandbox.validate() stops at the deadline and runs the next job", async (sandbox) => {
  const slow = doubling(50);
  const started = performance.now();
  const waiting = sandbox.validate("slow", slow, "a");
  const after = sandbox.validate("quick", { type: "string" }, "x");
  await assert.rejects(waiting, rejectsWith("deadline_exceeded"));
  assert.equal(await after, "valid");
  assert.ok(performance.now() - started < 60_000);
  assert.notEqual(await sandbox.validate("slow", slow, 1), "valid");
}, { deadlineMillis: 2_000 });

withSandbox("SchemaSandbox ends jobs that take too many steps without ending the worker", async (sandbox) => {
  const anchors = Array.from({ length: 2_000 }, (_, index) => [`a${index}`, { $id: `a${index}`, $dynamicAnchor: "x" }]);
  const references = Array.from({ length: 2_000 }, () => ({ $dynamicRef: "#x" }));
  const many = { $dynamicAnchor: "x", $defs: Object.fromEntries(anchors), anyOf: [{ type: "null" }, ...references] };
  assert.notEqual(await sandbox.validate("anchors", many, 1).catch(({ code }) => code), "worker_failed");
  const items = (index: number): JsonValue => index === 0 ? { items: true } : { $ref: `#/$defs/${index - 1}` };
  const definitions = Array.from({ length: 800 }, (_, index) => [index, items(index)] as const);
  const seen = { $ref: "#/$defs/799", unevaluatedItems: false, $defs: Object.fromEntries(definitions) };
  const value = new Array(200_000).fill(0);
  await assert.rejects(sandbox.validate("seen", seen, value), rejectsWith("deadline_exceeded"));
  // The worker is the same, and free.
  assert.equal(await sandbox.validate("after", true, 1), "valid");
}, { deadlineMillis: 500 });

withSandbox("SchemaSandbox.validate() runs patterns that would take the runtime exponential time", async (sandbox) => {
  const endless = { properties: { a: { pattern: "^(a+)+$" } }, patternProperties: { "^(b|b)*$": false } };
  for (let round = 0; round < 20; round++) {
    assert.deepEqual(await sandbox.validate("endless", endless, { a: `${"a".repeat(5_000)}!` }), {
      invalid: '$.a: must match pattern "^(a+)+$"',
    });
    assert.equal(await sandbox.validate("endless", endless, { a: "a", [`${"b".repeat(5_000)}!`]: 1 }), "valid");
  }
});

withSandbox("SchemaSandbox.validate() reports endless recursion as validator_failed", async (sandbox) => {
  const endless = {
    $ref: "#/$defs/a",
    $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { allOf: [{ $ref: "#/$defs/a" }] } },
  };
  await assert.rejects(sandbox.validate("endless", endless, 1), rejectsWith("validator_failed"));
  assert.equal(await sandbox.validate("next", true, 1), "valid");
});

withSandbox("SchemaSandbox.validate() refuses a schema that does not compile", async (sandbox) => {
  await assert.rejects(sandbox.validate("bad", { type: "strnig" }, 1), rejectsWith("schema_refused"));
  await assert.rejects(sandbox.validate("bad", { type: "strnig" }, 1), rejectsWith("schema_refused"));
});

withSandbox("SchemaSandbox.validate() keeps at most maximumSchemas schemas compiled", async (sandbox) => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 4; index++) {
      assert.equal(await sandbox.validate(`s${index}`, { const: index }, index), "valid");
    }
  }
}, { maximumSchemas: 2 });

withSandbox("SchemaSandbox.validate() works with maximumSchemaBytes below the size of a schema", async (sandbox) => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 4; index++) {
      assert.equal(await sandbox.validate(`s${index}`, { const: index }, index), "valid");
      assert.notEqual(await sandbox.validate(`s${index}`, { const: index }, -1), "valid");
    }
  }
}, { maximumSchemaBytes: 1 });

/** Sends jobs to a worker directly, one after the other. */
async function askWorker(jobs: readonly Partial<SchemaJob>[]): Promise<readonly SchemaReply[]> {
  const worker = new Worker(new URL("./schema_worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: "none" },
  });
  const send = (order: WorkerOrder) =>
    new Promise<WorkerReport>((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(order);
    });
  try {
    await send({ kind: "setup", setup: null });
    const replies: SchemaReply[] = [];
    for (const [id, job] of jobs.entries()) {
      const defaults = { forget: [], identity: "a", schema: null, value: "1", pointer: "", deadlineMillis: 200 };
      const report = await send({ kind: "ask", id, question: { ...defaults, ...job } });
      assert.equal(report.kind, "answer");
      if (report.kind === "answer") replies.push(report.answer as SchemaReply);
    }
    return replies;
  } finally {
    worker.terminate();
  }
}

for (
  const [result, schema] of [["failed", { $ref: "#" }], ["expired", doubling(50)]] as const
) {
  Deno.test(`the schema worker does not keep a schema that ${result}`, async () => {
    const value = JSON.stringify("a");
    const [first, second] = await askWorker([{ schema: JSON.stringify(schema), value }, { value }]);
    assert.equal(first?.result, result);
    assert.equal(second?.result, "refused");
  });
}

Deno.test("the schema worker reports the size of a schema that it begins to keep", async () => {
  const sizeOf = (reply: SchemaReply | undefined) => reply !== undefined && "size" in reply ? reply.size : undefined;
  const pattern = JSON.stringify({ pattern: "(?:(?:)){4000}" });
  const [small, again, forgotten, large] = await askWorker([
    { schema: "{}" },
    {},
    { forget: ["a"] },
    { schema: pattern },
  ]);
  assert.ok((sizeOf(small) ?? 0) > 0);
  assert.equal(sizeOf(again), null);
  assert.equal(forgotten?.result, "refused");
  assert.ok((sizeOf(large) ?? 0) > 3_000_000);
});

withSandbox("SchemaSandbox distinguishes schemas with the same $id", async (sandbox) => {
  const first = { $id: "https://example.com/a", const: 1 };
  const second = { $id: "https://example.com/a", const: 2 };
  assert.equal(await sandbox.validate("first", first, 1), "valid");
  assert.equal(await sandbox.validate("second", second, 2), "valid");
  const outside = await sandbox.check({ $ref: "https://example.com/a" });
  assert.equal(outside.ok, false);
});

for (const [waiting, last] of [[2, "valid"], [3, "overloaded"]] as const) {
  withSandbox(`SchemaSandbox.validate() with ${waiting} waiting jobs of 2: ${last}`, async (sandbox) => {
    // The first runs at once and does not wait.
    const jobs = Array.from({ length: waiting + 1 }, () => sandbox.validate("s", true, 1).catch((error) => error.code));
    assert.equal((await Promise.all(jobs)).at(-1), last);
  }, { maximumWaiting: 2 });
}

Deno.test("SchemaSandbox.close() rejects waiting and later jobs", async () => {
  const sandbox = createSchemaSandbox();
  const waiting = [sandbox.check(true), sandbox.check(true)];
  sandbox.close();
  for (const job of waiting) await assert.rejects(job, rejectsWith("closed"));
  await assert.rejects(sandbox.check(true), rejectsWith("closed"));
});
