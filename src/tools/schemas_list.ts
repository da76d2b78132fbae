import { closed, orNull, text } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import { namespaceId, pageMembers } from "./framework/input.ts";
import { arrayOf, ref } from "./framework/output.ts";
import { cutPage, PAGE_CHARACTERS, PAGE_DEFAULT, pageStart, pageText } from "./framework/pagination.ts";
import { refuseRegistry } from "./services/schema_record.ts";
import { textAnswer } from "./framework/errors.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "schemas_list", group: "Read", audit: "registry" } as const;

/** The tool `schemas_list`. */
export const schemasList: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "List JSON Schemas",
    description: "Lists the schema records of a namespace. Next page: cursor = next_token.",
    details:
      "Lists the schema records of a namespace, as schemas_get returns them, by schema_id and version, a page at a time: call again with " +
      "cursor = next_token until next_token is null.",
    hints: READS,
    input: table({ namespace_id: namespaceId, ...pageMembers }),
    listedBy: "items",
    output: closed({ items: arrayOf(ref("schema_record")), next_token: orNull(text) }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "list", namespace_id),
    act: async ({ namespace_id, cursor, limit = PAGE_DEFAULT }) => {
      const query = { tool: NAMED.name, namespaceId: namespace_id, keys: services.stateKeys };
      const start = pageStart(query, cursor ?? null, 2);
      const [schema_id = "", version = ""] = start ?? [];
      const after = start === null ? null : { schema_id, version };
      const fetched = await services.schemas.list(namespace_id, after, limit + 1, PAGE_CHARACTERS);
      const page = cutPage(fetched, limit, ({ record }) => record);
      const last = page.last === null ? null : [page.last.schema_id, page.last.version];
      return textAnswer(pageText(query, page.items.map(({ record }) => record), last));
    },
  });
