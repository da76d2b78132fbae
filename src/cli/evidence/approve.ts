/** `gate approve`: shows what an open stage asks a person, signs the answer and submits it. */

import { basename } from "node:path";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { identifyCanonical } from "../../canonical/identity.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { matches } from "../../canonical/shape.ts";
import type { SigningKey } from "../../evidence/trust/signing_key.ts";
import type { Condition, ScenarioLaw } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import { lawWords, shownType } from "../../law/words.ts";
import {
  type ApprovalQuestion,
  knownValues,
  lastStatementAt,
  prepareApproval,
  questionsOf,
  recordedCauses,
  signersOf,
} from "../../run/approval.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { fold, FoldError } from "../../run/fold.ts";
import { everyFinding, expectedBoolean, type UnmetCause } from "../../run/missing/causes.ts";
import { attemptSentences, namesInWords, signersText } from "../../run/missing/sentence.ts";
import type { Refusal, WaitingCondition } from "../../run/missing/waiting.ts";
import { asJson } from "../../run/primitives.ts";
import { recordShape } from "../../run/record_shapes.ts";
import { commentHash } from "../../run/submitted_statement.ts";
import { lawOfRun } from "../../runpack/material_view.ts";
import { evidenceBody } from "../../runpack/view/statements.ts";
import { instantText } from "../../canonical/instant_text.ts";
import type { Head, RunRecord, RunState, StageEvaluatedBody } from "../../run/types.ts";
import { findRun, type RunItem, withRunTools } from "../run/find_run.ts";
import { sha256 } from "../run/fold_state.ts";
import { readHistory } from "../run/history.ts";
import { parametersText } from "../run/parameters_text.ts";
import { readLaw } from "../run/read_law.ts";
import { readLawFile } from "../runpack/law_file.ts";
import { mustCall, refusedCall, type ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeAnswer, writeError, writeOut } from "../terminal/output.ts";
import { shown } from "../terminal/text.ts";
import { readKey } from "./read_key.ts";
import { NO_KEY_REMEDY, readWaiting, type WaitingFlags } from "./waiting.ts";

/** The flags of `gate approve`. */
export interface ApproveFlags extends WaitingFlags {
  readonly keyId?: string;
  readonly condition?: string;
  readonly value?: string;
  readonly comment?: string;
  readonly law?: string;
  readonly reject?: boolean;
  readonly withdraw?: boolean;
  readonly yes?: boolean;
}

/** How often a submission is repeated where another caller moved the run. */
const ATTEMPTS = 5;

/** What the person is asked. */
interface Question {
  readonly run: RunItem;
  readonly asked: ApprovalQuestion;
  readonly law: ScenarioLaw;
  /** What was found for the unmet conditions of the last attempt: with `--law` from the records, else by the server's word. */
  readonly causes: readonly UnmetCause[];
  /** The time of the newest statement of the key for the condition, Unix milliseconds; 0 without one. */
  readonly earlier: number;
  readonly waiting: WaitingCondition | undefined;
}

/** Runs `gate approve RUN [STAGE]`. */
export async function runApprove(prefix: string, stageId: string | undefined, flags: ApproveFlags): Promise<number> {
  refuseOldSpelling(prefix);
  if (flags.key === undefined) throw new CliError("usage", "Flag --key is missing", "gate key create FILE creates one");
  refuseTwoAnswers(flags);
  const key = await readKey(flags.key, flags.passphraseFile);
  return await withRunTools(flags, async (session) => {
    const run = await findRun(session, flags, prefix);
    const question = await findQuestion(session, run, stageId, key, flags);
    const value = flags.withdraw === true ? null : answerOf(question.asked.condition, flags);
    const words = describeStatement(question, value, flags);
    if (flags.yes !== true && !confirm(words)) throw new CliError("denied", "Nothing was signed", null, EXIT.denied);
    // Shown before anything is signed: a server may answer the statement that it got with an error.
    if (flags.yes === true && flags.json !== true) writeOut(words);
    const keyId = keyIdOf(question, key, flags);
    const record_id = await submit(session, question, key, keyId, value, flags.comment);
    const next = await evaluate(session, question);
    const text = `Submitted ${shown(record_id)} as key ${shown(keyId)}\n${next.line}\n`;
    return writeAnswer("approve", flags, { record_id, key_id: keyId, evaluated: next.evaluated }, text);
  });
}

/** The commands that had this name. */
function refuseOldSpelling(prefix: string): void {
  if (prefix === "keygen") throw new CliError("usage", "gate approve keygen is now gate key create FILE");
}

/** A value beside `--reject` or `--withdraw` could contradict it. */
function refuseTwoAnswers({ reject, withdraw, value }: ApproveFlags): void {
  const given = [
    ...reject === true ? ["--reject"] : [],
    ...withdraw === true ? ["--withdraw"] : [],
    ...value === undefined ? [] : ["--value"],
  ];
  if (given.length > 1) throw new CliError("usage", `Flags ${given.join(" and ")} exclude each other`);
}

/** A run by its records. */
interface ReadRun {
  readonly law: CompiledLaw;
  readonly state: RunState;
  readonly comments: CommentHashes;
  /** The last evaluation of each stage, with the signatures that a state does not have. */
  readonly evaluated: ReadonlyMap<string, StageEvaluatedBody>;
}

/** Reads the run; with `--law` from its records alone, each checked under the law of the file. */
async function readRun(
  session: ToolSession,
  run: RunItem,
  flags: ApproveFlags,
): Promise<ReadRun> {
  const { run_key: { namespace_id }, scenario_law_identity: identity } = run;
  const compiled = flags.law === undefined ? null : await readLawFile(flags.law);
  if (compiled !== null && compiled.scenario_law_identity !== identity) {
    throw approvalRefusal(`the run has law "${identity}", and "${flags.law}" is "${compiled.scenario_law_identity}"`);
  }
  const { compileLaw } = await import("../../run/compile.ts");
  const law = compiled ?? compileLaw(await readLaw(session, namespace_id, identity), identity, "");
  let state: RunState | null = null;
  let first: RunRecord | null = null;
  const comments = new Map<string, string>();
  const evaluated = new Map<string, StageEvaluatedBody>();
  for await (const { record } of readHistory(session, run)) {
    if (!matches(recordShape, asJson(record))) throw approvalRefusal("the server shows something that is no record");
    // The identity is computed here, so the server cannot name another record.
    const recordId = identifyCanonical(sha256, "run-record", canonicalize(asJson(record)));
    state = foldRecord(law, state, record, recordId);
    first ??= record;
    if (record.record_kind === "stage_evaluated") evaluated.set(record.body.stage_id, record.body);
    const evidence = evidenceBody(record)?.evidence;
    if (evidence?.comment_hash !== undefined) {
      comments.set(statementKey(evidence.signature.key_id, evidence.observed_at), evidence.comment_hash.value);
    }
  }
  const { run_id } = run.run_key;
  if (
    state === null || first === null || state.run_key.run_id !== run_id || state.run_key.namespace_id !== namespace_id
  ) {
    throw approvalRefusal(`the server has no records of run "${run_id}"`);
  }
  return { law: lawOfRun(law, first), state, comments, evaluated };
}

/** The hashes of comments by their statements, as the records have them. */
type CommentHashes = ReadonlyMap<string, string>;

function statementKey(keyId: string, observedAt: number): string {
  return `${observedAt} ${keyId}`;
}

/** What the server says, without comments that no record has: they would be shown as another person's words. */
function withRecordedComments<Said extends { readonly refused?: readonly Refusal[] }>(
  said: Said,
  comments: CommentHashes,
): Said {
  if (said.refused === undefined) return said;
  const refused = said.refused.map(({ comment, ...one }) => {
    const recorded = comments.get(statementKey(one.key_id, one.observed_at));
    return comment !== undefined && recorded === commentHash(sha256, comment).value ? { ...one, comment } : one;
  });
  return { ...said, refused };
}

function foldRecord(law: CompiledLaw, state: RunState | null, record: RunRecord, recordId: string): RunState {
  try {
    return fold(law, state, record, recordId);
  } catch (error) {
    if (!(error instanceof FoldError)) throw error;
    throw approvalRefusal(`the records of the server are no history: ${error.message}`);
  }
}

function approvalRefusal(reason: string): CliError {
  return new CliError("refused", `Cannot approve: ${reason}`, null, EXIT.verificationFailed);
}

/** Whether a condition takes a signature by this key under this id. */
function acceptsKey(
  { evidence_use_policy: { authorized_key_ids, authorized_public_keys: pinned } }: Condition,
  keyId: string,
  publicKey: string,
): boolean {
  if (pinned !== undefined) return Object.hasOwn(pinned, keyId) && pinned[keyId] === publicKey;
  return authorized_key_ids === undefined || authorized_key_ids.includes(keyId);
}

async function findQuestion(
  session: ToolSession,
  run: RunItem,
  stageId: string | undefined,
  key: SigningKey,
  flags: ApproveFlags,
): Promise<Question> {
  const { law, state, comments, evaluated } = await readRun(session, run, flags);
  const { waiting, attempts } = await readWaiting(session, run);
  const asked = waiting.filter(({ keys }) => keys.some(({ public_key }) => public_key === key.public_key));
  const keyId = flags.keyId ?? asked[0]?.keys.find(({ public_key }) => public_key === key.public_key)?.key_id ??
    keyName(flags);
  const { parameters: _given, ...rest } = run;
  // From the records and the law, which the statement names.
  const shownRun = {
    ...rest,
    scenario_id: law.law.scenario_id,
    ...state.parameters === undefined ? {} : { parameters: state.parameters },
  };
  const questions = questionsOf(law, state);
  const candidates = questions.filter(({ stage_id, condition }) =>
    acceptsKey(condition, keyId, key.public_key) && (stageId === undefined || stage_id === stageId) &&
    (flags.condition === undefined || condition.condition_id === flags.condition)
  ).map((asked): Question => {
    const recorded = flags.law === undefined ? undefined : evaluated.get(asked.stage_id);
    const said = (): readonly UnmetCause[] =>
      attempts.filter(({ record_id }) => record_id === asked.attempt?.record_id).flatMap(everyFinding);
    const one = waiting.find(({ stage_id, condition_id }) =>
      stage_id === asked.stage_id && condition_id === asked.condition.condition_id
    );
    return {
      run: shownRun,
      asked,
      law: law.law,
      causes: recorded === undefined
        ? said().map((cause) => withRecordedComments(cause, comments))
        : recordedCauses(law, knownValues(sha256, law), recorded),
      earlier: lastStatementAt(asked, key.public_key),
      waiting: one === undefined ? undefined : withRecordedComments(one, comments),
    };
  });
  const [first, ...others] = candidates;
  if (first === undefined) throw noQuestion(state, keyId, questions);
  if (others.length === 0) {
    if (first.waiting?.no_key === true) throw noKey(first.waiting.condition_id);
    return first;
  }
  const names = candidates.map(({ asked }) => `${asked.stage_id} ${asked.condition.condition_id}`);
  throw new CliError("usage", `Cannot choose: ${names.map(shown).join(", ")}`, "name a stage, and --condition");
}

/** Why nothing is asked of a key. */
function noQuestion({ status }: RunState, keyId: string, questions: readonly ApprovalQuestion[]): CliError {
  const refused = (reason: string, hint: string | null): CliError =>
    new CliError("refused", `Cannot approve: ${reason}`, hint, EXIT.denied);
  if (status === "complete") return refused("the run is complete, so it takes no more statements", null);
  const named = new Set(
    questions.flatMap(({ condition }) => condition.evidence_use_policy.authorized_key_ids ?? []),
  );
  const others = named.size === 0 || named.has(keyId)
    ? ""
    : `; the law names ${namesInWords([...named].map(shown), "and")}`;
  const reason = `no open stage takes a statement of key "${keyId}"${others}`;
  return refused(reason, "gate waiting lists what waits, --key-id names the key");
}

function noKey(conditionId: string): CliError {
  const message = `Cannot approve: no key that may sign condition "${shown(conditionId)}" is configured`;
  return new CliError("refused", message, NO_KEY_REMEDY, EXIT.evaluatedFalse);
}

/** The key id where the server does not say it: the name of the key file without its ending. */
function keyName({ key = "" }: ApproveFlags): string {
  return basename(key).replace(/\.[^.]+$/, "");
}

function keyIdOf({ waiting }: Question, key: SigningKey, flags: ApproveFlags): string {
  return flags.keyId ?? waiting?.keys.find(({ public_key }) => public_key === key.public_key)?.key_id ?? keyName(flags);
}

/** The value of `--value`; for a boolean the expected one, or with `--reject` the other. */
function answerOf(condition: Condition, flags: ApproveFlags): TypedValue {
  const { observation_domain, condition_id } = condition;
  const { domain } = observation_domain;
  if (flags.value !== undefined) {
    const parsed = parseJson(flags.value);
    if (parsed.ok) return { value: parsed.value, value_type: domain };
    throw new CliError("usage", `Cannot read --value as JSON: ${parsed.fault.message}`);
  }
  const expected = expectedBoolean(condition);
  if (expected !== null) return { value: flags.reject === true ? !expected : expected, value_type: domain };
  const hint = `condition ${shown(condition_id)} takes ${shownType(observation_domain)}, such as --value '1'`;
  throw new CliError("usage", "Flag --value is missing: the condition expects no single boolean", hint);
}

function describeStatement(question: Question, value: TypedValue | null, { comment }: ApproveFlags): string {
  const { run, law, waiting, earlier, asked: { stage_id, condition, state: { head } } } = question;
  const signers = signersText(signersOf(sha256, question.asked, waiting));
  // The keys of people are the server's, so no reader of the law and the records counts for itself.
  const counted = waiting === undefined ? [] : [`${waiting.have} of ${waiting.needed} by the server's word`];
  const tally = [...counted, signers];
  const parameters = parametersText(run);
  const lines = [
    `Run        ${run.run_key.run_id} of scenario ${shown(run.scenario_id)}`,
    `Law        ${run.scenario_law_identity}`,
    ...parameters === "" ? [] : [`Parameters ${parameters}`],
    `Stage      ${shown(stage_id)}, at revision ${head.revision}`,
    ...describeAttempt(question),
    `Condition  ${shown(lawWords(law).condition(condition.condition_id))}`,
    `Signed     ${shown(tally.filter((part) => part !== "").join(": ") || "no statement")}`,
    ...earlier === 0 ? [] : [`Replaces   the statement of your key of ${instantText(earlier)}`],
    `You sign   ${value === null ? "a withdrawal of your last statement" : shown(JSON.stringify(value.value))}`,
    ...comment === undefined ? [] : [`Comment    ${shown(comment)}`],
  ];
  return `${lines.join("\n")}\n`;
}

/** What the last attempt found: each condition once. */
function describeAttempt({ asked: { attempt }, law, causes }: Question): string[] {
  if (attempt === undefined) return ["Evidence   none evaluated yet"];
  const stage = law.stages.find(({ stage_id }) => stage_id === attempt.stage_id);
  const sentences = attemptSentences(law, attempt.trace, causes, stage?.completion_requirement);
  return [`Evidence   attempt ${attempt.attempt_number}`, ...sentences.map((one) => `           ${shown(one)}`)];
}

function confirm(words: string): boolean {
  if (!Deno.stdin.isTerminal()) {
    throw new CliError("usage", "Cannot ask: standard input is no terminal", "--yes signs without asking");
  }
  writeError(words);
  return /^y(es)?$/i.test(globalThis.prompt("Sign this? [y/N]")?.trim() ?? "");
}

/** What an accepted submission answers. */
interface Submitted {
  readonly submission?: { readonly record_id?: string };
}

/** Submits the statement; where the run moved meanwhile, the same statement again at the new head. */
async function submit(
  session: ToolSession,
  { asked, earlier }: Question,
  key: SigningKey,
  keyId: string,
  value: TypedValue | null,
  comment: string | undefined,
): Promise<string> {
  // The clock of the last statement may have been ahead: a withdrawal has to be newer even so.
  const observed_at = Math.max(Date.now(), earlier + 1);
  const { statement, submission } = prepareApproval(sha256, asked, { value, comment, observed_at });
  const input = submission(keyId, key.sign(statement));
  const { head } = asked.state;
  let expected: JsonValue = { record_id: head.record_id, revision: head.revision };
  for (let attempt = 1;; attempt++) {
    const answer = await mustCall(session, "scenario_submit", {
      ...input,
      expected_head: expected,
      operation_id: crypto.randomUUID().replaceAll("-", ""),
    });
    const { outcome, result } = (answer["outcome"] ?? {}) as { outcome?: string; result?: Partial<Head> & Submitted };
    if (outcome === "accepted") return String(result?.submission?.record_id);
    if (outcome !== "stale" || attempt === ATTEMPTS) throw refusedCall("scenario_submit", answer);
    expected = { record_id: result?.record_id ?? "", revision: result?.revision ?? 0 };
  }
}

/** Takes the step of the stage, where the caller may; else says who must. */
async function evaluate(
  session: ToolSession,
  { run: { run_key, scenario_id }, law, asked: { stage_id } }: Question,
): Promise<{ readonly evaluated: boolean; readonly line: string }> {
  const named = { namespace_id: run_key.namespace_id, scenario_id, run_id: run_key.run_id };
  const { accepted_head } = await mustCall(session, "scenario_status", named);
  const answer = await session.call("scenario_next", {
    ...named,
    stage_id,
    only_changed: true,
    expected_head: accepted_head ?? null,
    request_id: crypto.randomUUID().replaceAll("-", ""),
  });
  const outcome = member(answer, "outcome");
  const result = isJsonObject(outcome) ? member(outcome, "result") : undefined;
  const decision = isJsonObject(result) ? member(result, "decision") : undefined;
  const kind = isJsonObject(decision) ? member(decision, "kind") : undefined;
  const why = isJsonObject(decision) ? whyHeld(decision, law).map((line) => `\n    ${shown(line)}`).join("") : "";
  if (typeof kind === "string") return { evaluated: true, line: `Stage ${shown(stage_id)}: ${shown(kind)}${why}` };
  return { evaluated: false, line: `Stage ${shown(stage_id)} is not evaluated yet. ${whoEvaluates(answer)}` };
}

/** What is in the way of a stage: sentences, or conditions where a server before sentences answers with ids alone. */
function whyHeld(decision: JsonObject, law: ScenarioLaw): readonly string[] {
  const [sentences, unmet] = [member(decision, "sentences"), member(decision, "unmet")];
  if (isJsonArray(sentences)) return sentences.map(String);
  return isJsonArray(unmet) ? unmet.map((id) => lawWords(law).condition(String(id))) : [];
}

/** Who has to evaluate the stage, or why this call did not. */
function whoEvaluates(answer: JsonObject): string {
  const error = member(answer, "error");
  if (isJsonObject(error) && member(error, "kind") === "unauthorized") {
    return "Your roles may not evaluate it: a caller with a role such as NamespaceWriter has to call scenario_next";
  }
  return `Call scenario_next again: ${refusedCall("scenario_next", answer).message}`;
}
