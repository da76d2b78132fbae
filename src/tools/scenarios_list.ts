import { anyInteger, closed, identity, orNull, text } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import type { LawListItem } from "../store/types.ts";
import { namespaceId, pageMembers } from "./framework/input.ts";
import { arrayOf } from "./framework/output.ts";
import { cutPage, PAGE_DEFAULT, pageStart, pageText } from "./framework/pagination.ts";
import { textAnswer } from "./framework/errors.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "scenarios_list", group: "Read", audit: "request" } as const;

/** The tool `scenarios_list`. */
export const scenariosList: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "List scenarios",
    description: "Lists the scenario laws of a namespace with their identities. Next page: cursor = next_token.",
    details: "Lists the scenario laws of a namespace by scenario_id and law identity, a page at a time: call again " +
      "with cursor = next_token until next_token is null. A scenario_id with several laws has several items; " +
      "scenario_start names the exact one.",
    hints: READS,
    input: table({ namespace_id: namespaceId, ...pageMembers }),
    listedBy: "items",
    output: closed({
      items: arrayOf(closed({ namespace_id: anyInteger, scenario_id: text, scenario_law_identity: identity })),
      next_token: orNull(text),
    }),
    act: async ({ namespace_id, cursor, limit = PAGE_DEFAULT }) => {
      const query = { tool: NAMED.name, namespaceId: namespace_id, keys: services.stateKeys };
      const start = pageStart(query, cursor ?? null, 2);
      const [scenario_id = "", scenario_law_identity = ""] = start ?? [];
      const after = start === null ? null : { scenario_id, scenario_law_identity };
      const fetched = await services.runs.laws.list(namespace_id, after, limit + 1);
      const page = cutPage(fetched, limit, itemText);
      const last = page.last === null ? null : [page.last.scenario_id, page.last.scenario_law_identity];
      return textAnswer(pageText(query, page.items.map(itemText), last));
    },
  });

function itemText({ namespace_id, scenario_id, scenario_law_identity }: LawListItem): string {
  return JSON.stringify({ namespace_id, scenario_id, scenario_law_identity });
}
