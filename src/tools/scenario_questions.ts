import { boolean, closed, object, oneOf, type Read, text, variant } from "../canonical/shape.ts";
import { characters, described, optional, table } from "../canonical/table_shape.ts";
import { type JsonObject, member } from "../canonical/json.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { askLaw, type Question } from "../scenario/ask_law.ts";
import { DomainError, failure, faultsSentence, textAnswer } from "./framework/errors.ts";
import { briefly, givenIdentity, jsonObject, lawText, name, namespaceId } from "./framework/input.ts";
import { RESULT_BYTES, sentBytes } from "./framework/response_size.ts";
import type { Call, ToolAnswer, ToolError } from "./framework/types.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";
import { findNamedLaw, type NamedLaw } from "./precheck/law_of_spec.ts";
import { withSpecOfText } from "./services/law_text.ts";
import { refuseNamedSchemas } from "./services/named_schemas.ts";
import type { Services } from "./services/services.ts";

const NAMED = { name: "scenario_questions", group: "Read", audit: "request" } as const;

/** Most UTF-16 code units of a claim. */
export const CLAIM_CHARACTERS_MAXIMUM = 4096;

const one_value = optional(boolean, "Whether a name has one value in an attempt");

const question = variant("ask", {
  prove: table({
    ask: oneOf("prove"),
    needs: described(
      characters(0, CLAIM_CHARACTERS_MAXIMUM),
      'Comparisons of the law, stage("S"), key("K"), caller() and provider("P"), with &&, || and !',
    ),
    stage: optional(name, "The stage whose own attempt has to show it; omitted: the run"),
    one_value,
  }),
  who: table({ ask: oneOf("who"), one_value }),
  compare: table({
    ask: oneOf("compare"),
    old: table(
      { scenario_law_identity: optional(givenIdentity), law_text: optional(lawText) },
      "The law before the change: one of the two",
    ),
    one_value,
  }),
});

const input = table({
  namespace_id: namespaceId,
  scenario_law_identity: optional(givenIdentity),
  spec: optional(jsonObject({ description: "As in scenario_define; not registered" })),
  law_text: optional(lawText),
  question: briefly(
    question,
    '{ask: "prove", needs: EXPR, stage?}, {ask: "who"} or {ask: "compare", old: {scenario_law_identity} or {law_text}}',
  ),
});

type Input = Read<typeof input>;

/** The tool `scenario_questions`. */
export const scenarioQuestions: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Ask a law a question",
    description:
      "Decides whether a law can be completed without what it should need, who can complete it, or what a change does. " +
      "Ask before scenario_define; records nothing.",
    details:
      "Answers a question to a law, registered or not, without a run. prove: whether the run, or a stage, can be " +
      "completed without what needs says. who: the smallest sets of callers, keys and providers that complete each stage and " +
      "the run. compare: whether the law is equivalent to an older one, " +
      "stricter, looser or incomparable. words has the answer as text, with the shortest way round; answer has it as " +
      "JSON, and case as a case of gate scenario test; both are left out where they do not fit. The verdict of who is " +
      "known. undecided: the visits that the proof of a law may take were not enough.",
    hints: READS,
    input,
    takesLaw: true,
    output: closed({
      verdict: oneOf(
        ...["proved", "not_proved", "known", "equivalent", "stricter", "looser", "incomparable", "undecided"] as const,
      ),
      words: text,
    }, { answer: object, case: text }),
    admit: ({ spec }, call) => spec === undefined ? null : refuseNamedSchemas(services, spec, call),
    act: (given, _raw, call) => answer(services, given, call),
  });

async function answer(services: Services, given: Input, call: Call): Promise<ToolAnswer> {
  const { law } = await findNamedLaw(services, given);
  const { one_value: oneValue, ...asked } = given.question;
  let question: Question;
  if (asked.ask === "compare") {
    const old = await olderLaw(services, given.namespace_id, asked.old, call);
    if ("ok" in old) return old;
    question = { ask: "compare", old, oneValue };
  } else question = { ...asked, oneValue };
  const found = askLaw(law, question, { visits: services.environment.profile.proof_budget });
  if (!found.ok) {
    const issues = found.faults.map(({ message, start }) => ({
      path: "$.question.needs",
      message: `${message}, at character ${start + 1}`,
    }));
    return failure("invalid_input", faultsSentence("Cannot read arguments", issues), { issues });
  }
  const { verdict, words, data, caseText } = found;
  const short = { verdict, words };
  const texts = [
    { ...short, answer: data, ...caseText === undefined ? {} : { case: caseText } },
    { ...short, answer: data },
    short,
  ].map((one) => JSON.stringify(one));
  const fitting = texts.find((one) => sentBytes(one) <= RESULT_BYTES);
  if (fitting !== undefined) return textAnswer(fitting);
  const bytes = sentBytes(texts.at(-1) ?? "");
  const message = `Cannot return the answer: it takes ${bytes} bytes, an answer has at most ${RESULT_BYTES}`;
  return failure("response_too_large", message, { bytes, maximum_bytes: RESULT_BYTES });
}

/** The law before a change; the namespace of the call is that of both laws. */
async function olderLaw(
  services: Services,
  namespace_id: number,
  old: Extract<Input["question"], { ask: "compare" }>["old"],
  call: Call,
): Promise<ScenarioLaw | ToolAnswer> {
  const { raw, error, placed } = await withSpecOfText({ namespace_id, ...old } as JsonObject);
  if (error !== null) return unreadable(error);
  const spec = member(raw, "spec") as JsonObject | undefined;
  const refused = spec === undefined ? null : refuseNamedSchemas(services, spec, call);
  if (refused !== null) return { ok: false, error: refused };
  try {
    return (await findNamedLaw(services, raw as unknown as NamedLaw)).law;
  } catch (thrown) {
    if (thrown instanceof DomainError && thrown.error.code === "invalid_spec") return unreadable(placed(thrown.error));
    throw thrown;
  }
}

/** The older law is an argument of its own, so its faults are those of an argument. */
function unreadable({ message }: ToolError): ToolAnswer {
  const issues = [{ path: "$.question.old", message }];
  return failure("invalid_input", faultsSentence("Cannot read arguments", issues), { issues });
}
