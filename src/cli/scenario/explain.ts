/** `gate scenario explain`: describes a scenario in plain words. */

import { usedParameters } from "../../law/expand.ts";
import { whoData, whoText } from "../../law/questions/question_text.ts";
import { whoCompletes } from "../../law/questions/who.ts";
import { layersOf } from "../../law/stage_layers.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { expressionText, lawWords, shownType } from "../../law/words.ts";
import { describeEvidence } from "../../tools/law_words/describe_law.ts";
import { conditionsOf, describePacket, explainLaw, opensWhen } from "../../tools/law_words/explain_law.ts";
import { writeAnswer } from "../terminal/output.ts";
import { shown } from "../terminal/text.ts";
import { identitiesOf, type ScenarioFlags, withLaw } from "./check.ts";

/** Runs `gate scenario explain`. Returns 2 if the file is not a law, else 0. */
export function runScenarioExplain(file: string, flags: ScenarioFlags): Promise<number> {
  return withLaw("explain", file, flags, (law) => {
    const who = whoCompletes(law);
    const openers = who === null ? { verdict: "undecided" } : whoData(who);
    const result = { file, ...identitiesOf(law), ...explainedData(law), who: openers };
    const opened = who === null ? "Undecided: who completes the run\n" : whoText(who, shown);
    return writeAnswer("scenario explain", flags, result, `${explainLaw(law)}\n${opened}`);
  });
}

/** The description as JSON, by stage and condition. */
function explainedData(law: ScenarioLaw): Readonly<Record<string, unknown>> {
  const words = lawWords(law);
  const stages = layersOf(law.stages).flatMap((layer, index) =>
    layer.map((stage) => ({
      stage_id: stage.stage_id,
      layer: index,
      opens: opensWhen(stage),
      completes: shown(words.requirement(stage.completion_requirement)),
      discloses: stage.entry_packets.map(describePacket),
      conditions: conditionsOf(law, stage).map((condition) => ({
        condition_id: condition.condition_id,
        needs: shown(words.condition(condition.condition_id)),
        counts: describeEvidence(law, condition),
      })),
    }))
  );
  const used = usedParameters(law);
  const parameters = law.parameters?.map(({ parameter_id, domain, description }) => ({
    parameter_id,
    needs: shownType(domain),
    ...used.has(parameter_id) ? {} : { unused: true },
    ...description === undefined ? {} : { description },
  }));
  return {
    completes: expressionText(law.completion_requirement, shown),
    ...parameters === undefined ? {} : { parameters },
    stages,
  };
}
