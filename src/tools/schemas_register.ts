import { closed } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import { decodeBase64 } from "../canonical/base64.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { identifyCanonical } from "../canonical/identity.ts";
import { isJsonObject, type JsonObject, member } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { failure, textAnswer, toolError } from "./framework/errors.ts";
import { ref } from "./framework/output.ts";
import { refuseRegistry, schemaRecord, type SchemaRecordInput } from "./services/schema_record.ts";
import type { Services } from "./services/services.ts";
import { type MakeTool, makeTool, WRITES } from "./make_tool.ts";
import type { ToolAnswer, ToolError } from "./framework/types.ts";

const NAMED = { name: "schemas_register", group: "Authoring", audit: "mutation" } as const;

/** The tool `schemas_register`. */
export const schemasRegister: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Register a JSON Schema",
    description:
      "Stores a JSON Schema under schema_id and version, for ever. Register what a scenario's Json conditions name before " +
      "scenario_define.",
    details: "Stores a JSON Schema (2020-12) under schema_id and version, for ever: the same pair cannot be " +
      "registered twice in a namespace, so a change needs a new version. Register the schemas that a scenario's Json " +
      "conditions name before scenario_define.",
    hints: WRITES,
    input: table({ record: schemaRecord }),
    output: closed({ record: ref("schema_record") }),
    admit: ({ record }, call) => refuseRegistry(services, call, "register", record.namespace_id),
    act: ({ record }, raw, call) =>
      register(services, record, member(raw, "record") as JsonObject, call.principal.tenants),
  });

async function register(
  services: Services,
  input: SchemaRecordInput,
  record: JsonObject,
  tenants: readonly number[] | null,
): Promise<ToolAnswer> {
  const refused = refuseSigning(services, input, record);
  if (refused !== null) return { ok: false, error: refused };
  const schemaText = canonicalize(input.schema);
  const bytes = utf8Length(schemaText);
  const { max_schema_bytes, max_entries } = services.config.schema_registry;
  if (bytes > max_schema_bytes) {
    const message =
      `Cannot register schema: it has ${bytes} canonical bytes, schema_registry.max_schema_bytes allows ` +
      `${max_schema_bytes}`;
    return failure("schema_too_large", message, { bytes, maximum_bytes: max_schema_bytes });
  }
  const checked = await services.schemaSandbox.check(input.schema);
  if (!checked.ok) return failure("invalid_schema", `Cannot register schema: ${checked.message}`);
  const { schema_id, version, namespace_id } = input;
  const text = canonicalize(record);
  const { sha256 } = services.environment.primitives;
  const outcome = await services.schemas.register({
    schema_id,
    version,
    namespace_id,
    record: text,
    schema_identity: identifyCanonical(sha256, "schema", schemaText),
    schema_bytes: bytes,
  }, tenants);
  if (outcome === "registered") return textAnswer(`{"record":${text}}`);
  const key = { namespace_id, schema_id, version };
  if (outcome === "exists") {
    const message = `Cannot register schema "${schema_id}" version "${version}": it exists, and schemas never change`;
    return failure("schema_exists", message, {
      ...key,
      next: [{ tool: "schemas_get", arguments_hint: key, why: "Read the registered schema" }],
    });
  }
  const message =
    `Cannot register schema: namespace ${namespace_id} holds schema_registry.max_entries = ${max_entries} of the ` +
    "caller's tenant";
  return failure("schema_entries_exhausted", message, { namespace_id, maximum_entries: max_entries });
}

/**
 * Why the signing metadata is refused; null where it is accepted. The signature of an untrusted key is not verified.
 */
function refuseSigning(services: Services, input: SchemaRecordInput, record: JsonObject): ToolError | null {
  const { signing } = input;
  if (signing === undefined) {
    return services.config.schema_registry.acl.require_signing
      ? toolError("signing_required", 'Cannot register schema: member "signing" with key_id and signature is required')
      : null;
  }
  const key = services.environment.keys.get(signing.key_id);
  if (key === undefined) return null;
  const publicKey = decodeBase64(key.public_key);
  const signature = decodeBase64(signing.signature);
  const algorithm = signing.algorithm ?? "ed25519";
  const { verifyEd25519 } = services.environment.primitives;
  const verified = algorithm.toLowerCase() === "ed25519" && publicKey !== null && signature !== null &&
    verifyEd25519(publicKey, signedText(record), signature);
  return verified ? null : toolError(
    "signature_invalid",
    `Cannot register schema: its signature does not verify under trusted key "${signing.key_id}"`,
  );
}

/** The signed text of a record: the record without `signing`, in a statement of its own kind. */
function signedText(record: JsonObject): string {
  const unsigned = Object.fromEntries(Object.entries(record).filter(([name]) => name !== "signing"));
  return canonicalize({ statement: "gate.schema/v1", record: isJsonObject(unsigned) ? unsigned : null });
}
