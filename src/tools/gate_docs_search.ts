import { anyInteger, closed, integer, oneOf, text } from "../canonical/shape.ts";
import { characters, optional, table } from "../canonical/table_shape.ts";
import { SECTIONS_DEFAULT } from "../docs/answer.ts";
import { DOC_ROLES } from "../docs/types.ts";
import { arrayOf } from "./framework/output.ts";
import { textAnswer } from "./framework/errors.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "gate_docs_search", group: "Read", audit: "request" } as const;

/** Most UTF-16 code units of a query. */
export const QUERY_CHARACTERS_MAXIMUM = 4096;

const ROLE = oneOf(...DOC_ROLES);

/** The tool `gate_docs_search`. */
export const gateDocsSearch: MakeTool = (services) => {
  const most = services.config.docs.max_sections;
  return makeTool(services, {
    ...NAMED,
    title: "Search the documentation",
    description:
      "Searches this service's documentation, in words or by names of tools, outcomes, error codes and settings.",
    details: "Ranks sections of this service's documentation for a query, best first, and suggests what to ask next. " +
      "Ask in words or with names: tools, outcomes, error codes, settings. An empty query gives an overview.",
    hints: READS,
    input: table({
      query: characters(0, QUERY_CHARACTERS_MAXIMUM),
      max_sections: optional(integer(1), `Default ${SECTIONS_DEFAULT}; more than ${most} gives ${most}`),
    }),
    output: closed({
      docs_covered: arrayOf(closed({ doc_id: text, doc_role: ROLE, doc_title: text })),
      sections: arrayOf(
        closed({ content: text, doc_id: text, doc_role: ROLE, doc_title: text, heading: text, rank: anyInteger }),
      ),
      suggested_followups: arrayOf(text),
    }),
    namespaced: false,
    act: async ({ query, max_sections }) => {
      const { search } = await services.docs.load();
      return textAnswer(JSON.stringify(search(query, max_sections)));
    },
  });
};
