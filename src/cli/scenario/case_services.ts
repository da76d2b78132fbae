/**
 * The files and the answers of services in cases: the built-in providers run on them in place of those of the machine.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { identify } from "../../canonical/identity.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseConfig } from "../../config/parse.ts";
import type { GateConfig } from "../../config/types.ts";
import { type Acquisition, createAcquirer } from "../../evidence/acquisition/acquire.ts";
import { createBuiltinProvider } from "../../evidence/builtin/provider.ts";
import type { PinnedResponse } from "../../evidence/egress/pinned_request.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import type { SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import { maximumValueBytes } from "../../run/evidence.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import type { Steps } from "../../scenario/source_position.ts";
import type { CaseSchema, CaseStep, Report } from "./case_types.ts";

/** Reads `files`: a text as it stands, any other value as its JSON. */
export function readFiles(report: Report, value: JsonValue | undefined, at: Steps): CaseStep["files"] {
  return new Map(entriesOf(report, value, at, "CONTENT for each FILE").map(([name, given]) => [name, bytesOf(given)]));
}

/** Reads `answers`: a body, or `{status, headers, body}`. */
export function readAnswers(report: Report, value: JsonValue | undefined, at: Steps): CaseStep["answers"] {
  return new Map(
    entriesOf(report, value, at, "BODY or {status, headers, body} for each URL").map(([url, given]) => {
      if (!URL.canParse(url)) report([...at, url], "Expected an absolute URL", "name");
      return [URL.parse(url)?.href ?? url, answerOf(report, given, [...at, url])];
    }),
  );
}

function answerOf(report: Report, given: JsonValue, at: Steps): PinnedResponse {
  const names = isJsonObject(given) ? Object.keys(given) : [];
  const isWhole = isJsonObject(given) && names.length > 0 &&
    names.every((name) => ["status", "headers", "body"].includes(name));
  const whole: JsonObject = isWhole ? given : { body: given };
  const status = member(whole, "status") ?? 200;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 100 || status > 999) {
    report([...at, "status"], "Expected a status from 100 to 999");
  }
  const headers = entriesOf(report, member(whole, "headers"), [...at, "headers"], "a text for each header");
  return {
    status: Number(status),
    headers: [
      ["content-type", "application/json"] as const,
      ...headers.map(([name, one]) => [name, String(one)] as const),
    ]
      .filter(([name], index) => index > 0 || !headers.some(([other]) => other.toLowerCase() === name)),
    body: bytesOf(member(whole, "body") ?? ""),
  };
}

function entriesOf(
  report: Report,
  value: JsonValue | undefined,
  at: Steps,
  expected: string,
): readonly (readonly [string, JsonValue])[] {
  if (isJsonObject(value)) return Object.entries(value);
  if (value !== undefined) report(at, `Expected ${expected}`);
  return [];
}

function bytesOf(value: JsonValue): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(typeof value === "string" ? value : canonicalize(value));
}

/** The providers that cases run, where the configuration has none. */
const PROVIDERS =
  ["time", "calendar", "http", "rest"].map((name) => `[[providers]]\nname = "${name}"\ntype = "builtin"\n`)
    .join("") + '[[providers]]\nname = "json"\ntype = "builtin"\nconfig = { root = ".", root_id = "case" }\n';

/** Runs the built-in providers on what a step gives. */
export interface CaseServices {
  /** Asks the sources of a stage for which the step gives files, answers or a time, and no value. */
  readonly acquire: (law: CompiledLaw, stage: CompiledStage, step: CaseStep) => Promise<Acquisition>;
  readonly close: () => Promise<void>;
}

/** Starts the services of cases. */
export async function startCaseServices(
  config: GateConfig,
  profile: OperatorProfile,
  sandbox: SchemaSandbox,
  schemas: readonly CaseSchema[],
): Promise<CaseServices> {
  let given: Pick<CaseStep, "files" | "answers"> = { files: new Map(), answers: new Map() };
  const defaults = await parseConfig(new TextEncoder().encode(PROVIDERS), "cases", true);
  const entries = new Map([...defaults.providers, ...config.providers].map((entry) => [entry.name, entry]));
  const sources = { file: (path: string) => given.files.get(path), answer: (url: string) => given.answers.get(url) };
  const providers = new Map(
    [...entries.values()].flatMap((entry) =>
      entry.type === "builtin" && entry.name !== "env"
        ? [[entry.name, createBuiltinProvider(entry, { given: sources })] as const]
        : []
    ),
  );
  const acquirer = createAcquirer(providers, sandbox);
  const boundContracts = new Map(
    [...providers.values()].map(({ provider_id, loaded }) => [provider_id, loaded.contract_identity]),
  );
  const acquire: CaseServices["acquire"] = async (law, stage, step) => {
    given = step;
    const isGiven: Readonly<Record<string, boolean>> = {
      json: step.files.size > 0,
      http: step.answers.size > 0,
      rest: step.answers.size > 0,
      time: step.now !== null,
      calendar: step.now !== null,
    };
    const asked = stage.bindings.filter(({ binding_id, condition_id }) =>
      !step.found.has(binding_id) && !step.values.has(condition_id)
    );
    const conditions = new Set(
      asked.filter(({ provider_id }) => isGiven[provider_id] === true).map(({ condition_id }) => condition_id),
    );
    const bindings = asked.filter(({ condition_id, provider_id }) =>
      conditions.has(condition_id) && providers.has(provider_id as "json")
    );
    return await acquirer.acquire({
      law,
      bindings: bindings.map((binding) => ({ binding })),
      context: { namespace_id: law.law.namespace_id, trigger_time: { kind: "unix_millis", value: step.now ?? 0 } },
      boundContracts,
      maximumValueBytes: maximumValueBytes(law, profile),
      findSchema: ({ schema_id, version }) => {
        const document = schemas.find((one) => one.schema_id === schema_id && one.version === version)?.schema ?? false;
        return Promise.resolve({ identity: identify(HOST_PRIMITIVES.sha256, "schema", document), document });
      },
      caller: "case",
      signal: new AbortController().signal,
    });
  };
  return {
    acquire,
    close: async () => void await Promise.all([...providers.values()].map((provider) => provider.close())),
  };
}
