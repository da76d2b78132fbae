/**
 * Checks answers of tools against the schemas that the tools publish: the whole schema of the resource
 * `gate://schemas/<tool>` and the short one of `tools/list`, each by two validators.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Ajv2020 } from "./packages/ajv.ts";
import type { JsonObject } from "../src/canonical/json.ts";
import { DEFAULT_SETTINGS } from "../src/config/defaults.ts";
import { HOST_PRIMITIVES } from "../src/evidence/host_primitives.ts";
import { compileSchema } from "../src/evidence/json_schema/compile.ts";
import { createSchemaSandbox } from "../src/evidence/sandbox/schema_sandbox.ts";
import { closeStores, openStores } from "../src/store/open.ts";
import { fullToolSchema } from "../src/tools/framework/full_schemas.ts";
import { createServices } from "../src/tools/services/services.ts";
import type { Tool } from "../src/tools/framework/types.ts";
import { createTools } from "../src/tools/table.ts";

/** Says what is wrong with a value; null where it is valid. */
type Validate = (value: JsonObject) => string | null;

function withAjv(schema: JsonObject): Validate {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  return (value) => validate(value) ? null : JSON.stringify(validate.errors);
}

function withOwnValidator(schema: JsonObject): Validate {
  const compiled = compileSchema(schema);
  assert.ok("validator" in compiled, JSON.stringify(compiled));
  return (value) => compiled.validator(value);
}

/** The tools of gate by their names. */
async function loadTools(): Promise<ReadonlyMap<string, Tool>> {
  const { run_state_store: run, schema_registry: schemas } = DEFAULT_SETTINGS;
  const stores = await openStores({ run, schemas }, HOST_PRIMITIVES.sha256);
  const schemaSandbox = createSchemaSandbox();
  try {
    const config = { ...DEFAULT_SETTINGS, config_path: null, base_dir: "/" };
    return createTools(await createServices({ config, ...stores, schemaSandbox }));
  } finally {
    schemaSandbox.close();
    await closeStores(stores);
  }
}

let loading: ReturnType<typeof loadTools> | undefined;

/** The validators of a tool, by what they validate with. */
async function validatorsOf(name: string): Promise<Readonly<Record<string, Validate>>> {
  const tool = (await (loading ??= loadTools())).get(name);
  if (tool === undefined) return {};
  const whole = { ...await fullToolSchema(tool), $ref: "#/$defs/output" };
  return {
    "whole schema, ajv": withAjv(whole),
    "whole schema, own validator": withOwnValidator(whole),
    "listed schema, ajv": withAjv(tool.outputSchema),
    "listed schema, own validator": withOwnValidator(tool.outputSchema),
  };
}

/** All tools take two seconds to compile, and a test file asks few of them. */
const compiled = new Map<string, ReturnType<typeof validatorsOf>>();

/** Asserts that an answer meets what its tool publishes. Tools that gate does not have are passed over. */
export async function assertPublished(tool: string, answer: JsonObject): Promise<void> {
  const validators = compiled.get(tool) ?? validatorsOf(tool);
  compiled.set(tool, validators);
  for (const [by, validate] of Object.entries(await validators)) {
    const fault = validate(answer);
    assert.equal(fault, null, `${tool} (${by}): ${fault}\n${JSON.stringify(answer)?.slice(0, 20_000)}`);
  }
}
