/**
 * The MCP prompts for the common jobs: author a scenario, drive a run, audit a runpack. They name only offered tools,
 * and quote the user's arguments.
 */

import { words } from "../../canonical/words.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { Offer } from "./offer.ts";

/** An argument of a prompt. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** A prompt as `prompts/list` shows it. */
export interface ListedPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

/** The parts of an offer that the texts depend on. */
export interface PromptOffer {
  readonly sources: Sources;
  /** Whether a tool may be called; the texts name no other. */
  readonly isOffered: (tool: string) => boolean;
  /** Prompts beside those of this module; none unless given. */
  readonly more?: readonly Prompt[];
}

/** A prompt for one job. */
export interface Prompt extends ListedPrompt {
  /** The tools that the job needs. */
  readonly needs: readonly string[];
  /** Writes the text; the required arguments are present. */
  readonly write: (given: ReadonlyMap<string, string>, offer: PromptOffer) => readonly string[];
}

/** How a client can read the documentation: by the search tool, in resources, or not at all. */
export type Sources = "search" | "resources" | "none";

/** How the clients of a server can read the documentation. */
export function sourcesOf({ docsSearch, resources }: Pick<Offer, "docsSearch" | "resources">): Sources {
  if (docsSearch) return "search";
  return resources === null ? "none" : "resources";
}

/** The kinds of scenario with a worked example. Each is the name of a page of the document "examples". */
export const SCENARIO_KINDS: readonly string[] = words(
  "release_gate change_approval database_migration data_disclosure agent_task model_promotion",
);

/** The profiles of `runpack_verify`. */
export const VERIFICATION_PROFILES: readonly string[] = ["integrity_only_v1", "full_replay_v1"];

/** Longest value of an argument, in UTF-16 code units. */
export const ARGUMENT_CHARACTERS_MAXIMUM = 2048;

/** The rules of arguments that are not free text, by name. */
const EXPECTED: ReadonlyMap<string, readonly [expected: string, holds: (value: string) => boolean]> = new Map([
  ["namespace_id", ["a whole number from 1", (value: string) => /^[1-9][0-9]{0,14}$/.test(value)]],
  ["kind", [`one of ${SCENARIO_KINDS.join(", ")}`, (value: string) => SCENARIO_KINDS.includes(value)]],
  ["run_id", ["32 lower-case hex digits", (value: string) => /^[0-9a-f]{32}$/.test(value)]],
  ["runpack_identity", ["64 lower-case hex digits", (value: string) => /^[0-9a-f]{64}$/.test(value)]],
  ["profile", [VERIFICATION_PROFILES.join(" or "), (value: string) => VERIFICATION_PROFILES.includes(value)]],
]);

/** How to find the worked example of a kind. */
const EXAMPLES: Readonly<Record<Sources, string>> = {
  search: "Search gate_docs_search for the worked example",
  resources: "Read, among the resources below gate://docs/examples, the worked example",
  none: "Recall, if you know it, the worked example",
};

const AUTHORING: Readonly<Record<Sources, string>> = {
  search:
    ' Search gate_docs_search for "a whole scenario file", "Requirements", "Conditions" and "Which evidence counts", ' +
    "and for each predicate that you need.",
  resources: " Read the resource gate://docs/authoring for each predicate and policy member that you need.",
  none: " The description of scenario_define has the shape of a spec.",
};

const CLAIMS: Readonly<Record<Sources, string>> = {
  search: "; search gate_docs_search for those that you are not sure of",
  resources: "; the resource gate://docs/runpacks explains them",
  none: ", and where you are not sure, that you are not",
};

const ACQUIRED =
  " Prefer evidence that gate acquires itself: providers_list with the namespace_id shows the providers, " +
  "provider_contract_get their checks.";

const IMPORTED = " A service with an OpenAPI or gRPC description becomes a provider by typed_providers_import, " +
  "typed_providers_register and typed_providers_activate.";

const IMPORT_TOOLS = ["typed_providers_import", "typed_providers_register", "typed_providers_activate"];

const AUTHOR: Prompt = {
  name: "author_scenario",
  title: "Author a scenario",
  needs: ["scenario_define"],
  description: "Turn a question, such as whether a release may go, into a scenario law and register it",
  arguments: [
    { name: "question", description: "What the gate should answer", required: true },
    { name: "kind", description: `What it is like: ${SCENARIO_KINDS.join(", ")}`, required: false },
    { name: "namespace_id", description: "Where to register it; 2 unless given", required: false },
  ],
  write: (given, { sources, isOffered }) => [
    `Write a gate scenario that answers this question: ${quoted(given, "question")}.`,
    ...given.has("kind") ? [`${EXAMPLES[sources]} ${quoted(given, "kind")}, and start from it.`] : [],
    `1. Break the question into stages, and each stage into conditions that evidence can settle.${AUTHORING[sources]}`,
    "2. For each condition choose the narrowest type, a comparison, and which evidence counts: whose word, source or " +
    `signature, and how old.${["providers_list", "provider_contract_get"].every(isOffered) ? ACQUIRED : ""}${
      IMPORT_TOOLS.every(isOffered) ? IMPORTED : ""
    }`,
    "3. Show the stages and conditions to the user before anything is registered, and ask what is unclear.",
    `4. Write it as a law file and call scenario_define with it as law_text, its namespace that of namespace_id ` +
    `${given.get("namespace_id") ?? 2}. A refusal names every fault with its line: mend all of them, then call again.`,
    "5. Report scenario_id and scenario_law_identity. A law never changes; a changed spec is another law.",
  ],
};

/** How to find or start a run, up to its status. */
function beginningOf(given: ReadonlyMap<string, string>, isOffered: PromptOffer["isOffered"]): string {
  if (given.has("run_id")) return `Read scenario_status of run ${quoted(given, "run_id")}`;
  if (!isOffered("scenario_start")) {
    const run = isOffered("runs_list") ? "Find the run_id with runs_list" : "Ask for a run_id";
    return `${run}: runs are started by others here. Read its scenario_status`;
  }
  const law = isOffered("scenarios_list")
    ? "Find scenario_law_identity with scenarios_list"
    : "Ask for scenario_law_identity";
  return `${law} and call scenario_start with a fresh creation_request_id of 32 hex digits; if its answer is lost, repeat the ` +
    "same call unchanged. Then read scenario_status of the run";
}

const DRIVE: Prompt = {
  name: "drive_run",
  title: "Drive a run",
  needs: ["scenario_status", "scenario_open_stage", "scenario_evaluate_stage"],
  description: "Take a run of a scenario from where it stands to its completion, stage by stage",
  arguments: [
    { name: "namespace_id", description: "The namespace of the scenario", required: true },
    { name: "scenario_id", description: "The scenario", required: true },
    { name: "run_id", description: "The run; a new one is started where it is left out", required: false },
  ],
  write: (given, { isOffered }) => [
    `Drive a run of scenario ${quoted(given, "scenario_id")} in namespace_id ${given.get("namespace_id")}.`,
    `1. ${beginningOf(given, isOffered)} with include ["missing"].`,
    "2. Open a stage of its ready_frontier with scenario_open_stage, from the exact accepted_head of the last answer, with a " +
    "fresh operation_id.",
    "3. Gather the evidence that its conditions ask for. Never invent or assume a value: what is not known stays unknown." +
    (isOffered("scenario_precheck_stage")
      ? " scenario_precheck_stage predicts the outcome of an evaluation and changes nothing."
      : ""),
    "4. Call scenario_evaluate_stage. Only the outcome true completes a stage. `missing` lists what would, beside the evidence " +
    "of this call: send that again with it, as evidence of earlier calls does not count.",
    "5. On `stale` read scenario_status, look at what has changed, and decide again from the head that it gives. If an " +
    "answer is lost, repeat the same call unchanged.",
    "6. Go on until run_status is complete, or until what is missing is not yours to provide: then say what is missing and " +
    "who could provide it.",
  ],
};

const AUDIT: Prompt = {
  name: "audit_runpack",
  title: "Audit a runpack",
  needs: ["runpack_verify"],
  description: "Verify an exported run and explain what its record proves, and what it does not",
  arguments: [
    { name: "runpack_identity", description: "The runpack: 64 hex digits", required: true },
    { name: "profile", description: VERIFICATION_PROFILES.join(" or "), required: false },
  ],
  write: (given, { sources }) => [
    `Audit runpack ${quoted(given, "runpack_identity")}.`,
    `1. Call runpack_verify with profile ${quoted(given, "profile", "full_replay_v1")}.`,
    "2. Go through the claims. satisfied: say by which method. violated: say with which reason; the record must not be " +
    "relied on. unavailable: say why; it is not proved. not_requested: it was not checked.",
    "3. State the assumptions and trusted_bases of the report: the claims hold under these and no others.",
    `4. Say of each claim what its name stands for${CLAIMS[sources]}.`,
    "5. Conclude in three parts: what is proved, what is not, and what would have to be supplied to settle the rest.",
  ],
};

const PROMPTS: readonly Prompt[] = [AUTHOR, DRIVE, AUDIT];

/** An argument as a JSON string, so that it reads only as a value. */
function quoted(given: ReadonlyMap<string, string>, name: string, otherwise = ""): string {
  return JSON.stringify(given.get(name) ?? otherwise);
}

/** The prompts whose tools are offered. */
function offered({ isOffered, more = [] }: Pick<PromptOffer, "isOffered" | "more">): readonly Prompt[] {
  return [...PROMPTS, ...more].filter(({ needs }) => needs.every(isOffered));
}

/** The entries of the prompts. */
export function listPrompts(offer: Pick<PromptOffer, "isOffered" | "more">): ListedPrompt[] {
  return offered(offer).map(({ write: _, needs: __, ...listed }) => listed);
}

/** A prompt with its arguments filled in. */
export type WrittenPrompt =
  | { readonly ok: true; readonly description: string; readonly text: string }
  | {
    readonly ok: false;
    readonly error: EdgeError;
    /** The required arguments without a value, where nothing else is wrong. */
    readonly missing?: readonly PromptArgument[];
  };

/** Writes a prompt, or returns the error of its name or arguments. */
export function writePrompt(name: string, given: ReadonlyMap<string, string>, offer: PromptOffer): WrittenPrompt {
  const prompts = offered(offer);
  const prompt = prompts.find((candidate) => candidate.name === name);
  if (prompt === undefined) {
    const known = prompts.map((candidate) => JSON.stringify(candidate.name)).join(", ");
    const expected = known === "" ? "this server has no prompts" : `expected one of ${known}`;
    return promptFault("$.params.name", `Unknown prompt ${JSON.stringify(name.slice(0, 128))}: ${expected}`);
  }
  for (const [argument, value] of given) {
    const path = "$.params.arguments";
    if (!prompt.arguments.some((known) => known.name === argument)) {
      const known = prompt.arguments.map((entry) => JSON.stringify(entry.name)).join(", ");
      return promptFault(path, `Unknown argument ${JSON.stringify(argument.slice(0, 128))}: "${name}" takes ${known}`);
    }
    if (value.length > ARGUMENT_CHARACTERS_MAXIMUM) {
      return promptFault(`${path}.${argument}`, `Must have at most ${ARGUMENT_CHARACTERS_MAXIMUM} characters`);
    }
    const [expected, holds] = EXPECTED.get(argument) ?? [];
    if (value !== "" && holds?.(value) === false) {
      return promptFault(`${path}.${argument}`, `Must be ${expected}, got ${JSON.stringify(value.slice(0, 128))}`);
    }
  }
  const missing = prompt.arguments.filter((argument) => argument.required && (given.get(argument.name) ?? "") === "");
  const [first] = missing;
  if (first !== undefined) {
    return {
      ...promptFault(`$.params.arguments.${first.name}`, `Argument is required: ${first.description}`),
      missing,
    };
  }
  const filled = new Map([...given].filter(([, value]) => value !== ""));
  return { ok: true, description: prompt.description, text: prompt.write(filled, offer).join("\n") };
}

function promptFault(path: string, message: string): Extract<WrittenPrompt, { readonly ok: false }> {
  return { ok: false, error: { kind: "invalid_params", message, path } };
}
