/** The shape of a schema record, and the access rules of the registry; the three schema tools share them. */

import { anyInteger, oneOf, type Read } from "../../canonical/shape.ts";
import { characters, described, optional, patterned, table } from "../../canonical/table_shape.ts";
import { checkRegistry } from "../../access/registry_acl.ts";
import type { RegistryAction } from "../../config/types.ts";
import { toolError } from "../framework/errors.ts";
import { briefly, hinted, jsonObject, name, namespaceId } from "../framework/input.ts";
import type { Services } from "./services.ts";
import type { Call, ToolError } from "../framework/types.ts";

/** Most characters of the description of a schema. */
const DESCRIPTION_MAXIMUM = 4096;

const text = patterned(characters(0, 1024), /\S/, "text that is not blank");

/** A schema record as registered. */
export const schemaRecord = table({
  schema_id: name,
  version: name,
  namespace_id: namespaceId,
  description: optional(characters(0, DESCRIPTION_MAXIMUM)),
  schema: hinted(
    jsonObject({ description: "JSON Schema 2020-12; references only within the document; format is not asserted" }),
    "JSON Schema 2020-12",
  ),
  created_at: described(
    briefly(table({ kind: oneOf("unix_millis"), value: anyInteger }), "{kind: unix_millis, value}"),
    "When the schema was written, by its author",
  ),
  signing: optional(described(
    briefly(table({ key_id: text, signature: text, algorithm: optional(text) }), "{key_id, signature}"),
    'Ed25519, base64, over the canonical JSON of {statement: "gate.schema/v1", record: <record without signing>}',
  )),
});

/** A decoded schema record. */
export type SchemaRecordInput = Read<typeof schemaRecord>;

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
