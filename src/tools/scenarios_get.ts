import { closed, object, text } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import { readJson } from "../canonical/scan.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { failure, textAnswer } from "./framework/errors.ts";
import { givenIdentity, namespaceId } from "./framework/input.ts";
import { RESULT_BYTES, sentBytes } from "./framework/response_size.ts";
import { explainLaw } from "./law_words/explain_law.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "scenarios_get", group: "Read", audit: "request" } as const;

/** The tool `scenarios_get`. */
export const scenariosGet: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Get a scenario law",
    description:
      "Returns the normal form of a scenario law, and the law in words: what each stage asks, and as a law file.",
    details:
      "Returns one scenario law: its normal form, whose canonical JSON has the identity scenario_law_identity, and the law " +
      "in words: what opens and completes each stage, and which evidence counts. law_text is the law as a law file. The text, then the " +
      "words, are left out where they do not fit into one answer.",
    hints: READS,
    input: table({ namespace_id: namespaceId, scenario_law_identity: givenIdentity }),
    output: closed({ law: object }, { words: text, law_text: text }),
    act: async ({ namespace_id, scenario_law_identity }) => {
      const found = await services.runs.laws.get(namespace_id, scenario_law_identity);
      if (found === null) {
        const message = `Cannot find law "${scenario_law_identity}" in namespace ${namespace_id}`;
        return failure("law_not_found", message, { namespace_id, scenario_law_identity });
      }
      const law = readJson<ScenarioLaw>(found.law);
      const text = `{"law":${found.law}`;
      const words = `${text},"words":${JSON.stringify(explainLaw(law))}`;
      const { writeLaw } = await import("../scenario/law_file.ts");
      const whole = [`${words},"law_text":${JSON.stringify(writeLaw(law))}}`, `${words}}`]
        .find((one) => sentBytes(one) <= RESULT_BYTES);
      if (whole !== undefined) return textAnswer(whole);
      const bytes = sentBytes(`${text}}`);
      if (bytes <= RESULT_BYTES) return textAnswer(`${text}}`);
      const message =
        `Cannot return law "${scenario_law_identity}": it takes ${bytes} bytes, an answer has at most ${RESULT_BYTES}`;
      return failure("response_too_large", message, {
        bytes,
        maximum_bytes: RESULT_BYTES,
        next: [{
          tool: "scenarios_list",
          arguments_hint: { namespace_id },
          why: "Choose another law; a runpack of its run has this one",
        }],
      });
    },
  });
