import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { SchemaSandboxError } from "../../evidence/sandbox/schema_sandbox.ts";
import type { CompiledStage } from "../../run/compile.ts";
import { checkDataShape } from "./data_shape_check.ts";
import { readingShape } from "./data_shape_members.ts";
import type { Services } from "../services/services.ts";
import { inTurns } from "../../evidence/cooperative_scheduler.ts";

/** A stage with a number of conditions on a text: its value, or only its presence. */
function stageOf(count: number, isExpecting: boolean): CompiledStage {
  const expected = { value: "a", value_type: "String" };
  const predicate = isExpecting ? { predicate: "Equals", expected } : { predicate: "Exists" };
  const conditions = Array.from(
    { length: count },
    (_, index) => ({ condition: { condition_id: `c${index}`, predicate } }),
  );
  return { conditions } as unknown as CompiledStage;
}

/** Services whose sandbox answers "valid" after a while, and the validated values. */
function servicesOf(milliseconds: number): { readonly services: Services; readonly asked: unknown[][] } {
  const asked: unknown[][] = [];
  const validate = async (...given: unknown[]): Promise<"valid"> => {
    asked.push(given);
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return "valid";
  };
  return { services: { schemaSandbox: { validate } } as unknown as Services, asked };
}

const TEXTS: JsonValue = { type: "object", additionalProperties: { type: "string" } };

Deno.test("checkDataShape() validates nothing without expected values", async () => {
  const { services, asked } = servicesOf(0);
  const shape = await inTurns(readingShape(TEXTS));
  assert.deepEqual(await checkDataShape(services, stageOf(100, false), shape, "identity"), []);
  assert.deepEqual(asked, []);
});

Deno.test("checkDataShape() names the member within the registered shape", async () => {
  const { services, asked } = servicesOf(0);
  const shape = await inTurns(readingShape(TEXTS));
  assert.deepEqual(await checkDataShape(services, stageOf(1, true), shape, "identity"), []);
  assert.deepEqual(asked, [["identity", TEXTS, "a", "/additionalProperties"]]);
});

Deno.test("checkDataShape() ends where the expected values take too long together", async () => {
  const { services, asked } = servicesOf(10);
  const shape = await inTurns(readingShape(TEXTS));
  await assert.rejects(checkDataShape(services, stageOf(1_000, true), shape, "identity", 50), (error) => {
    assert.ok(error instanceof SchemaSandboxError);
    assert.equal(error.code, "deadline_exceeded");
    return true;
  });
  assert.ok(asked.length < 10, `${asked.length}`);
});
