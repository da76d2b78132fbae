/** The offers of this server besides its tools, and their capabilities in the protocol. */

import type { Documentation } from "../../docs/documentation.ts";
import type { StateKeys } from "../../tools/services/state_keys.ts";
import type { Prompt } from "./prompts.ts";

/** The instructions of a server. They name only offered tools. */
export function instructionsFor(isOffered: (tool: string) => boolean): string {
  return [
    "gate decides from evidence whether work may move on, and records each decision so that it can be checked offline.",
    ...orderOf(isOffered),
    "Every mutation names expected_head, the exact head that it follows: the accepted_head of the last answer. On `stale`, " +
    (isOffered("scenario_status")
      ? "read scenario_status and decide again from the head that it gives."
      : "decide again from the head that its result gives."),
    "If an answer was lost, send the same call again, unchanged: an accepted one gives its original answer, any other is " +
    "carried out now.",
    "`unknown` never opens a gate; answers list what is missing." +
    (isOffered("scenario_precheck_stage") ? " scenario_precheck_stage tries evidence without recording." : ""),
  ].join("\n");
}

function orderOf(isOffered: (tool: string) => boolean): string[] {
  const begin = [
    ...isOffered("scenario_define") ? ["scenario_define (the law)"] : [],
    ...isOffered("scenario_start") ? ["scenario_start (a run)"] : [],
  ];
  const stages = ["scenario_open_stage", "scenario_evaluate_stage"].filter(isOffered);
  const thenStages = stages.length === 0
    ? []
    : [`${begin.length === 0 ? "" : "then "}for each stage ${stages.join(" and ")} with its evidence`];
  const order = [...begin, ...thenStages].join(", ");
  const parts = [
    ...order === "" ? [] : [`Order: ${order}`],
    ...isOffered("scenario_submit") ? ["scenario_submit records artifacts"] : [],
    ...isOffered("runpack_export") ? ["runpack_export publishes the record"] : [],
  ];
  return parts.length === 0 ? [] : [`${parts.join("; ")}.`];
}

/** The offers of a server. */
export interface Offer {
  /** Its documents, or null. */
  readonly resources: Pick<Documentation, "load"> | null;
  /** Whether it offers prompts for the common jobs. */
  readonly prompts: boolean;
  /** Prompts beside those of `prompts.ts`; none unless given. */
  readonly morePrompts?: readonly Prompt[];
  /** Whether a tool may be called. */
  readonly isOffered: (tool: string) => boolean;
  /** The instructions of `initialize` and `server/discover`. */
  readonly instructions: string;
  /** Whether documentation can be searched with `gate_docs_search`. */
  readonly docsSearch: boolean;
  /** `capabilities` of `initialize` and `server/discover`. */
  readonly capabilities: Capabilities;
  /** The tools that ask the client, and what their rounds need; absent without such tools. */
  readonly rounds?: Rounds;
  /** Reads the run view that clients show as an app; absent where there is none. Needs resources. */
  readonly runApp?: () => Promise<string>;
}

/** The tools that ask the client. */
export interface Rounds {
  readonly tools: ReadonlySet<string>;
  /** The capabilities of clients that these tools use. */
  readonly capabilities: readonly string[];
  /** The keys that sign what the client carries from one round to the next. */
  readonly keys: () => Promise<StateKeys>;
  /** Whether calls may become tasks: a restart must not change the keys. */
  readonly tasks: boolean;
}

/** The capabilities of MCP that may be offered. They do not change while the process runs. */
export interface Capabilities {
  readonly tools: Record<never, never>;
  readonly resources?: Record<never, never>;
  readonly prompts?: Record<never, never>;
  readonly completions?: Record<never, never>;
  readonly extensions?: Readonly<Record<string, Record<never, never>>>;
}

/** An offer of tools alone. */
export const TOOLS_ALONE: Offer = {
  resources: null,
  prompts: false,
  isOffered: () => true,
  instructions: instructionsFor(() => true),
  docsSearch: false,
  capabilities: { tools: {} },
};

/** The extension of calls that the client polls. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** The extension of views that clients show, the media type of a view, and the view of a run. */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
export const APP_TYPE = "text/html;profile=mcp-app";
export const RUN_APP = "ui://gate/run";

/** The tools whose results the view of a run shows. */
export const RUN_APP_TOOLS: ReadonlySet<string> = new Set(["runs_list", "scenario_status", "scenario_next"]);

function extensionsOf(rounds: Rounds | undefined): Pick<Capabilities, "extensions"> {
  return rounds?.tasks === true ? { extensions: { [TASKS_EXTENSION]: {} } } : {};
}

/**
 * An offer of tools, prompts and the served documents.
 *
 * @param isOffered Whether a tool may be called
 * @param parts The tools that ask the client, the run view and more prompts; none unless given
 */
export function offerWith(
  documentation: Documentation,
  isOffered: (tool: string) => boolean,
  { rounds, runApp, morePrompts }: Pick<Offer, "rounds" | "runApp" | "morePrompts"> = {},
): Offer {
  const resources = documentation.resources ? documentation : null;
  return {
    resources,
    prompts: true,
    isOffered,
    instructions: instructionsFor(isOffered),
    docsSearch: documentation.search && isOffered("gate_docs_search"),
    capabilities: {
      tools: {},
      ...resources === null ? {} : { resources: {} },
      prompts: {},
      completions: {},
      ...extensionsOf(rounds),
    },
    ...rounds === undefined ? {} : { rounds },
    ...morePrompts === undefined ? {} : { morePrompts },
    ...runApp === undefined || resources === null ? {} : { runApp },
  };
}
