import { type JsonObject, member } from "../../canonical/json.ts";
import type { Call, ToolError } from "../framework/types.ts";
import { packetSchemasOf, schemasNamed } from "./prove_spec.ts";
import { refuseRegistry } from "./schema_record.ts";
import type { Services } from "./services.ts";

/** Naming a schema shows whether it exists, and later its verdicts on values, so it needs the permission to get it. */
export function refuseNamedSchemas(services: Services, spec: JsonObject, call: Call): ToolError | null {
  const namespaceId = member(spec, "namespace_id");
  if (typeof namespaceId !== "number" || schemasNamed(spec).size + packetSchemasOf(spec).size === 0) return null;
  return refuseRegistry(services, call, "get", namespaceId);
}
