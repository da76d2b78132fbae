/**
 * The shape of a schema record, and the access rules of the registry; the three schema tools share them.
 *
 * @module
 */

import * as z from "../../config/schema_builder.ts";
import { checkRegistry } from "../../access/registry_acl.ts";
import type { RegistryAction } from "../../config/types.ts";
import { toolError } from "../framework/errors.ts";
import { briefly, hinted, jsonObject, name, namespaceId } from "../framework/input.ts";
import type { Services } from "./services.ts";
import type { Call, ToolError } from "../framework/types.ts";

/** Most characters of the description of a schema. */
const DESCRIPTION_MAXIMUM = 4096;

const text = z.string().max(1024).regex(/\S/, "text that is not blank");

/** A schema record as registered. */
export const schemaRecord = z.strictObject({
  schema_id: name,
  version: name,
  namespace_id: namespaceId,
  description: z.string().max(DESCRIPTION_MAXIMUM).exactOptional(),
  schema: hinted(
    jsonObject({ description: "JSON Schema 2020-12; references only within the document; format is not asserted" }),
    "JSON Schema 2020-12",
  ),
  created_at: briefly(z.strictObject({ kind: z.literal("unix_millis"), value: z.int() }), "{kind: unix_millis, value}")
    .describe("When the schema was written, by its author"),
  signing: briefly(
    z.strictObject({ key_id: text, signature: text, algorithm: text.exactOptional() }),
    "{key_id, signature}",
  ).describe(
    'Ed25519, base64, over the canonical JSON of {statement: "gate.schema/v1", record: <record without signing>}',
  ).exactOptional(),
});

/** A decoded schema record. */
export type SchemaRecordInput = z.output<typeof schemaRecord>;

/** Why a caller may not perform an action on the schemas of a namespace; null where it may. */
export function refuseRegistry(
  services: Pick<Services, "config">,
  call: Call,
  action: RegistryAction,
  namespace: number,
): ToolError | null {
  const decision = checkRegistry(services.config.schema_registry.acl, call.principal, action, namespace);
  const { allowed, reason } = decision;
  call.auditor?.decided({ decision: "registry", allowed, reason, namespace_id: namespace });
  return decision.allowed ? null : toolError("registry_refused", decision.message);
}
