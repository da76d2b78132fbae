import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import type { ValidateSchema } from "../../runpack/verify/types.ts";
import { verifyRunpack } from "../../runpack/verify/verify.ts";
import { memorySource, packOf, PRIMITIVES } from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type SchemaTimeLimits, schemaValidator } from "./verify.ts";

const AGES = { verdictMillis: 600_000, totalMillis: 600_000 };

async function withValidator(
  limits: SchemaTimeLimits,
  test: (validate: ValidateSchema) => Promise<void>,
): Promise<void> {
  const { validate, close } = schemaValidator(limits);
  try {
    await test(validate);
  } finally {
    close();
  }
}

const isNotEvaluated = (error: unknown): boolean =>
  error instanceof CliError && error.code === "not_evaluated" && error.exitCode === EXIT.unknown &&
  error.hint?.startsWith("--recorded-verdicts ") === true;

Deno.test("schemaValidator() returns verdicts, and null for a schema that no validator accepts", () =>
  withValidator(AGES, async (validate) => {
    assert.equal(await validate("a", { type: "string" }, "x"), "valid");
    assert.equal(await validate("a", { type: "string" }, 1), "invalid");
    assert.equal(await validate("b", { type: "nothing" }, 1), null);
  }));

/** A schema that checks the same value 2 to the power of `times` times. */
function doubling(times: number): JsonValue {
  const definitions = Array.from({ length: times }, (_, index): [string, JsonValue] => {
    const inner = { $ref: `#/$defs/d${index + 1}` };
    return [`d${index}`, { allOf: [inner, inner] }];
  });
  return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(definitions), [`d${times}`]: { type: "string" } } };
}

Deno.test("schemaValidator() ends with not_evaluated for a schema that exceeds its time", () =>
  withValidator({ ...AGES, verdictMillis: 20 }, async (validate) => {
    await assert.rejects(validate("slow", doubling(50), "a"), isNotEvaluated);
  }));

Deno.test("schemaValidator() returns no verdict beyond the total time", () =>
  withValidator({ ...AGES, totalMillis: Number.MIN_VALUE }, async (validate) => {
    assert.equal(await validate("a", {}, 1), "valid");
    await assert.rejects(validate("a", {}, 1), isNotEvaluated);
  }));

Deno.test("verifyRunpack() fails with the error of its validator: a slow machine affects no report", async () => {
  const pack = await packOf(playGoldenRun());
  const request = { runpack_identity: null, profile: "full_replay_v1", budget: null, trusted_keys: null } as const;
  for (const fails of [0, 1]) {
    let asked = 0;
    const validateSchema: ValidateSchema = () =>
      asked++ === fails
        ? Promise.reject(new CliError("not_evaluated", "Cannot verify here"))
        : Promise.resolve("valid");
    await assert.rejects(
      verifyRunpack(memorySource(pack), request, { ...PRIMITIVES, validateSchema }),
      (error) => error instanceof CliError && error.code === "not_evaluated",
    );
  }
});
