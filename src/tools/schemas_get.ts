import { closed } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import { failure, textAnswer } from "./framework/errors.ts";
import { name, namespaceId } from "./framework/input.ts";
import { ref } from "./framework/output.ts";
import { refuseRegistry } from "./services/schema_record.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "schemas_get", group: "Read", audit: "registry" } as const;

/** The tool `schemas_get`. */
export const schemasGet: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Get a JSON Schema",
    description: "Returns one registered schema record, exactly as it was registered. schemas_list lists them.",
    hints: READS,
    input: table({ namespace_id: namespaceId, schema_id: name, version: name }),
    output: closed({ record: ref("schema_record") }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "get", namespace_id),
    act: async ({ namespace_id, schema_id, version }) => {
      const found = await services.schemas.get(namespace_id, schema_id, version);
      if (found !== null) return textAnswer(`{"record":${found.record}}`);
      const message = `Cannot find schema "${schema_id}" version "${version}" in namespace ${namespace_id}`;
      return failure("schema_not_found", message, { namespace_id, schema_id, version });
    },
  });
