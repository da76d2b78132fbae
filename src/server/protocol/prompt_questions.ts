/**
 * Asks a client of the newer era for the missing arguments of a prompt, in a form. Loaded with the first prompt that
 * lacks one.
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import type { Principal } from "../../access/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { Rounds } from "./offer.ts";
import { capabilitiesOf, type PromptRequest } from "./plan.ts";
import { ARGUMENT_CHARACTERS_MAXIMUM, type PromptArgument, type WrittenPrompt } from "./prompts.ts";
import { type RoundOf, writeState } from "./request_state.ts";
import type { QuestionAnswer } from "./result_types.ts";
import { modernRound } from "./rounds.ts";
import { members, oneOf, optional, record, TEXT } from "./wire_check.ts";

/** Writes the prompt of a request with these arguments. */
export type WritePrompt = (given: ReadonlyMap<string, string>) => WrittenPrompt;

/** A request whose prompt cannot be written: required arguments are missing. */
export interface UnfilledPrompt extends Omit<PromptRequest, "params"> {
  readonly params: JsonObject;
  readonly missing: readonly PromptArgument[];
  /** The answer to a client that cannot be asked, or whose user does not answer. */
  readonly error: EdgeError;
}

/** The key of the form among the requests of a question. */
const QUESTION = "arguments";

const RESPONSE = members({ action: oneOf(["accept", "decline", "cancel"]), content: optional(record(TEXT)) });

/**
 * Asks for the missing arguments, or writes the prompt with those of the response. A response counts only with the
 * state of its question; an argument of the request is never replaced.
 */
export async function askArguments(
  prompt: UnfilledPrompt,
  write: WritePrompt,
  rounds: Rounds,
  { subject }: Principal,
): Promise<QuestionAnswer | WrittenPrompt> {
  const { method, name, given, params, missing, error } = prompt;
  if (!showsForms(capabilitiesOf(params))) return { ok: false, error };
  const of: RoundOf = { subject, tool: `${method} ${name}`, input: Object.fromEntries(given) };
  const round = await modernRound(rounds, of, params, method);
  if ("kind" in round) return { ok: false, error: round };
  const { state, responses } = round.asking;
  const response = state === null || !Object.hasOwn(responses, QUESTION) ? undefined : responses[QUESTION];
  let why = "";
  if (response !== undefined) {
    const fault = faultOf(response, missing);
    if (fault !== null) return { ok: false, error: fault };
    if (member(response, "action") !== "accept") return { ok: false, error };
    const answers = Object.entries((member(response, "content") ?? {}) as Readonly<Record<string, string>>);
    const written = write(new Map([...given, ...answers]));
    if (written.ok) return written;
    why = `. ${written.error.path?.split(".").at(-1)}: ${written.error.message}`;
  }
  return {
    inputRequests: { [QUESTION]: { method: "elicitation/create", params: formOf(prompt, why) } },
    requestState: writeState(await rounds.keys(), of, {}, Date.now()),
  };
}

/** Whether a client shows forms: `elicitation` without a mode means the form. */
function showsForms(capabilities: JsonObject): boolean {
  const elicitation = member(capabilities, "elicitation") ?? null;
  if (!isJsonObject(elicitation)) return false;
  return member(elicitation, "form") !== undefined || member(elicitation, "url") === undefined;
}

/** The form for the missing arguments. */
function formOf({ name, missing }: UnfilledPrompt, why: string): JsonObject {
  const field = ({ name, description }: PromptArgument): [string, JsonObject] => [
    name,
    { type: "string", title: name, description, minLength: 1, maxLength: ARGUMENT_CHARACTERS_MAXIMUM },
  ];
  return {
    mode: "form",
    message: `The prompt ${name} needs these arguments${why}`,
    requestedSchema: {
      type: "object",
      properties: Object.fromEntries(missing.map(field)),
      required: missing.map(({ name }) => name),
    },
  };
}

/** The error of a response of another shape, or with an argument that the form does not have. */
function faultOf(response: JsonObject, missing: readonly PromptArgument[]): EdgeError | null {
  const misfit = RESPONSE(response);
  const content = member(response, "content");
  const names = missing.map(({ name }) => name);
  const other = isJsonObject(content) ? Object.keys(content).find((name) => !names.includes(name)) : undefined;
  const steps = misfit?.steps ?? (other === undefined ? null : ["content", other.slice(0, 128)]);
  if (steps === null) return null;
  const expected = misfit?.expected ?? `absent: the form has ${names.join(", ")}`;
  const path = formatPath(["params", "inputResponses", QUESTION, ...steps]);
  return { kind: "invalid_params", message: `Invalid prompts/get request: ${path} must be ${expected}`, path };
}
