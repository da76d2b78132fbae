/// <reference lib="dom" />
/**
 * Approves, refuses or withdraws: shows what will be signed, signs it in the browser, submits it and takes the step.
 *
 * @module
 */

import { everyFinding, expectedBoolean } from "../run/missing/causes.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { parseJson } from "../canonical/scan.ts";
import type { TypedValue } from "../law/value/types.ts";
import { lawWords } from "../law/words.ts";
import {
  type ApprovalQuestion,
  lastStatementAt,
  prepareApproval,
  type PreparedApproval,
  signersOf,
} from "../run/approval.ts";
import { attemptSentences, signersText } from "../run/missing/sentence.ts";
import { type WaitingCondition, withRefusals } from "../run/missing/waiting.ts";
import { COMMENT_BYTES } from "../run/submitted_statement.ts";
import { sha256 } from "../runpack/browser/sha256.ts";
import { CallError, callTool } from "./gate_client.ts";
import { type ApproverKey, currentKey } from "./key_store.ts";
import { append, type Content, make } from "./nodes.ts";
import { type CheckedRun, recheckRun, type RunHints } from "./run_reading.ts";
import { announce, failureOf, reasonOf, shownText } from "./shell.ts";

/** A question of a shown run. */
export interface AskedQuestion {
  readonly run: CheckedRun;
  readonly hints: Pick<RunHints, "attempts">;
  readonly question: ApprovalQuestion;
  /** What the server says about it; absent where it says that nothing waits. */
  readonly waiting: WaitingCondition | undefined;
  /** The key in use; null without one. */
  readonly publicKey: string | null;
  readonly reload: () => void;
}

/** How often a submission is repeated where another caller moved the run. */
const ATTEMPTS = 5;

/** The question with a button for each answer. */
export function questionActions(asked: AskedQuestion): HTMLElement {
  const { question, waiting, publicKey } = asked;
  const { stage_id, condition: { condition_id } } = question;
  const sentence = lawWords(asked.run.law.law).condition(condition_id);
  const signers = signersText(signersOf(sha256, question, waiting));
  const tally = waiting === undefined
    ? "Nothing waits for this condition now."
    : `${waiting.have} of ${waiting.needed}: ${
      waiting.keys.length === 0 ? `${signers === "" ? "" : `${signers}; `}no registered key is left that may` : signers
    }.`;
  const state = ownState(asked);
  const isBoolean = expectedBoolean(question.condition) !== null;
  const button = (answer: Answer, text: string, main = false): HTMLElement =>
    make("button", {
      id: `${answer}-${stage_id}-${condition_id}`,
      class: main ? "main" : null,
      click: () => openDialog(asked, answer),
    }, text);
  const actions = publicKey === null
    ? make("p", {}, make("a", { href: "#/key" }, "Make or choose a key"), " to answer.")
    : state.mayAnswer
    ? make(
      "div",
      { class: "actions" },
      isBoolean ? button("approve", "Approve", true) : button("answer", "Answer", true),
      isBoolean ? button("refuse", "Refuse") : null,
      state.hasStatement ? button("withdraw", "Withdraw my statement") : null,
    )
    : waiting === undefined
    ? null
    : make("p", { class: "quiet" }, "Your key is not one that may answer: the law and the operator name the keys.");
  return make(
    "div",
    { class: "asks", role: "group", "aria-label": `Question ${sentence} of stage ${stage_id}` },
    make("p", {}, make("b", {}, "Asks people: "), shownText(sentence), ". ", shownText(tally)),
    state.hasStatement
      ? make("p", {}, "Your key has a statement on record for this question. A new one replaces it.")
      : null,
    actions,
  );
}

/** A condition that expects no single boolean is answered with a value. */
type Answer = "approve" | "refuse" | "answer" | "withdraw";

/** Whether the key in use may answer, and its statement. */
function ownState({ question, waiting, publicKey }: AskedQuestion): {
  readonly mayAnswer: boolean;
  readonly hasStatement: boolean;
} {
  const own = (question.state.submitted_evidence ?? []).find((one) =>
    one.public_key === publicKey && one.stage_id === question.stage_id &&
    one.condition_id === question.condition.condition_id
  );
  const isAwaited = waiting?.keys.some(({ public_key }) => public_key === publicKey) === true;
  const isKnown = own !== undefined || isAwaited;
  const hasStatement = own !== undefined && own.value_identity !== null;
  return { mayAnswer: isKnown, hasStatement };
}

/** The id under which the server knows the key. */
function keyIdOf({ question, waiting, publicKey }: AskedQuestion): string {
  const awaited = waiting?.keys.find(({ public_key }) => public_key === publicKey)?.key_id;
  const own = (question.state.submitted_evidence ?? []).find(({ public_key }) => public_key === publicKey);
  return awaited ?? own?.signature.key_id ?? "";
}

function openDialog(asked: AskedQuestion, answer: Answer): void {
  const { question } = asked;
  const expected = expectedBoolean(question.condition);
  const value = make("input", { id: "answer-value", autocomplete: "off", spellcheck: "false" });
  const comment = make("textarea", { id: "answer-comment", rows: 3, maxlength: COMMENT_BYTES });
  const statement = make("pre", { tabindex: 0, role: "region", "aria-label": "Statement to sign" });
  const problem = make("div", {});
  const observed_at = Math.max(Date.now(), lastStatementAt(question, asked.publicKey ?? "") + 1);
  const typed = (): TypedValue | null => answer === "withdraw" ? null : answerValue(question, answer, value.value);
  const prepared = (): PreparedApproval =>
    prepareApproval(sha256, question, {
      value: typed(),
      comment: comment.value === "" ? undefined : comment.value,
      observed_at,
    });
  const redraw = (): void => {
    statement.replaceChildren();
    try {
      append(statement, prepared().statement);
    } catch (error) {
      append(statement, reasonOf(error));
    }
  };
  const sign = make("button", { class: "main", id: "answer-sign", click: () => void submit() }, SIGN_TEXT[answer]);
  const dialog = make(
    "dialog",
    { "aria-labelledby": "answer-title" },
    make("h2", { id: "answer-title" }, TITLES[answer]),
    factsOf(asked, answer, expected),
    answer !== "withdraw" && expected === null
      ? make("div", { class: "field" }, make("label", { for: "answer-value" }, "Value, as JSON"), value)
      : null,
    make("div", { class: "field" }, make("label", { for: "answer-comment" }, "Comment (goes on record)"), comment),
    make("details", {}, make("summary", {}, "The statement that your key signs"), statement),
    make("p", { class: "quiet" }, TRUST),
    problem,
    make("div", { class: "actions" }, sign, make("button", { click: () => dialog.close() }, "Cancel")),
  );
  const submit = async (): Promise<void> => {
    sign.disabled = true;
    problem.replaceChildren();
    try {
      const line = await signAndSubmit(asked, prepared());
      dialog.close();
      announce(line);
      asked.reload();
    } catch (error) {
      problem.replaceChildren(failureOf(error));
      problem.scrollIntoView({ block: "nearest" });
      sign.disabled = false;
    }
  };
  comment.addEventListener("input", redraw);
  value.addEventListener("input", redraw);
  const opener = document.activeElement?.id ?? "";
  dialog.addEventListener("close", () => {
    dialog.remove();
    document.getElementById(opener)?.focus();
  });
  redraw();
  document.body.append(dialog);
  dialog.showModal();
}

const TITLES: Readonly<Record<Answer, string>> = {
  approve: "Approve",
  answer: "Answer",
  refuse: "Refuse",
  withdraw: "Withdraw your statement",
};
const SIGN_TEXT: Readonly<Record<Answer, string>> = {
  approve: "Sign the approval",
  answer: "Sign the answer",
  refuse: "Sign the refusal",
  withdraw: "Sign the withdrawal",
};
const TRUST =
  "The page computed this statement from what it shows. A hostile server can show anything: where you do not " +
  "trust it, use gate approve with --law on your own machine.";

function answerValue({ condition }: ApprovalQuestion, answer: Answer, text: string): TypedValue {
  const value_type = condition.observation_domain.domain;
  const expected = expectedBoolean(condition);
  if (expected !== null) return { value: answer === "approve" ? expected : !expected, value_type };
  const parsed = parseJson(text);
  if (!parsed.ok) throw new TypeError(`Expected a value of ${value_type} as JSON`);
  return { value: parsed.value, value_type };
}

function factsOf(
  { run, hints, question, waiting }: AskedQuestion,
  answer: Answer,
  expected: boolean | null,
): HTMLElement {
  const { state, stage_id, condition, attempt, scenario_law_identity } = question;
  const fact = (term: string, ...content: readonly Content[]): Content => [
    make("dt", {}, term),
    make("dd", {}, ...content),
  ];
  const parameters = (state.parameters ?? []).map(({ parameter_id, value }) =>
    `${parameter_id} = ${canonicalize(value.value)}`
  );
  const found = hints.attempts.find(({ record_id }) => record_id === attempt?.record_id) ?? {};
  const known = withRefusals(stage_id, everyFinding(found), waiting === undefined ? [] : [waiting]);
  const stage = run.law.law.stages.find((one) => one.stage_id === stage_id);
  const sentences = attemptSentences(run.law.law, attempt?.trace ?? [], known, stage?.completion_requirement);
  const evidence = sentences.map((one) => make("li", {}, shownText(one)));
  const signs = answer === "withdraw"
    ? "a withdrawal of your last statement"
    : expected === null
    ? "the value below"
    : String(answer === "approve" ? expected : !expected);
  return make(
    "dl",
    { class: "facts" },
    fact("Run", make("code", {}, state.run_key.run_id), " of scenario ", shownText(run.law.law.scenario_id)),
    fact("Law", make("code", {}, scenario_law_identity)),
    parameters.length === 0 ? null : fact("Parameters", shownText(parameters.join(", "))),
    fact("Stage", shownText(stage_id), `, at revision ${state.head.revision}`),
    fact("Evidence", attempt === undefined ? "none evaluated yet" : make("ul", {}, evidence)),
    fact("Condition", shownText(lawWords(run.law.law).condition(condition.condition_id))),
    fact("You sign", make("b", {}, signs)),
  );
}

/** Signs what was shown, after law and history were read again; then submits it and takes the step. */
async function signAndSubmit(asked: AskedQuestion, { statement, submission }: PreparedApproval): Promise<string> {
  const key: ApproverKey | null = await currentKey();
  if (key === null || key.public_key !== asked.publicKey) throw new Error("The key changed: open the question again");
  const now = await recheckRun(callTool, asked.run);
  const { stage_id, stage_open_record_id } = asked.question;
  const stage = now.state.stages.find((one) => one.stage_id === stage_id);
  if (stage?.stage_open_record_id !== stage_open_record_id || stage.classification !== "open_incomplete") {
    throw new Error("The stage is not open any more: nothing was signed");
  }
  const input = submission(keyIdOf(asked), await key.sign(statement));
  let expected_head: JsonValue = { record_id: now.state.head.record_id, revision: now.state.head.revision };
  for (let attempt = 1;; attempt++) {
    const answer = await callTool("scenario_submit", { ...input, expected_head, operation_id: newOperation() });
    const outcome = answer["outcome"];
    const kind = isJsonObject(outcome) ? member(outcome, "outcome") : undefined;
    const result = isJsonObject(outcome) ? member(outcome, "result") : undefined;
    if (kind === "accepted") return await evaluate(asked);
    if (kind !== "stale" || attempt === ATTEMPTS || !isJsonObject(result)) throw refusalOf(String(kind), result);
    expected_head = { record_id: result["record_id"] ?? "", revision: result["revision"] ?? 0 };
  }
}

function newOperation(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

function refusalOf(kind: string, result: JsonValue | undefined): CallError {
  const message = isJsonObject(result) ? member(result, "message") : undefined;
  const why = typeof message === "string" ? message : canonicalize(result ?? null);
  return new CallError(kind, `The server refused the statement (${kind.replaceAll("_", " ")}): ${why}`);
}

/** Takes the step of the stage where the caller may; the line says what came of it. */
async function evaluate({ run: { name }, question: { stage_id } }: AskedQuestion): Promise<string> {
  const { accepted_head } = await callTool("scenario_status", { ...name });
  const step: JsonObject = { ...name, stage_id, only_changed: true, request_id: newOperation() };
  try {
    await callTool("scenario_next", { ...step, expected_head: accepted_head ?? null });
    return "Your statement is on record, and the stage was evaluated";
  } catch {
    return "Your statement is on record. A caller with a role such as NamespaceWriter has to evaluate the stage";
  }
}
