/**
 * `gate scenario explain`: a scenario in plain words.
 *
 * @module
 */

import { countOf } from "../config/problems.ts";
import type {
  AcquisitionBinding,
  Condition,
  EntryPacket,
  EvidenceUsePolicy,
  ScenarioLaw,
  Stage,
  Target,
} from "../law/types.ts";
import type { JsonValue } from "../canonical/json.ts";
import { eachLeaf } from "../law/requirement_walk.ts";
import type { ObservationDomain, Predicate, TypedValue } from "../law/value/types.ts";
import { EXIT } from "./exit_codes.ts";
import { writeOut, writeResult } from "./output.ts";
import { describeDiagnostics, identitiesOf, type ScenarioFlags } from "./scenario_check.ts";
import { layersOf, plainRequirement } from "./scenario_layers.ts";
import { withScenario } from "./scenario_law.ts";
import { shown } from "./text.ts";

/** Characters of an expected value that are shown. */
const VALUE_CHARACTERS = 80;

/** Runs `gate scenario explain`; 2 where the file is no law. */
export function runScenarioExplain(file: string, flags: ScenarioFlags): Promise<number> {
  return withScenario(file, flags.config, ({ scenario }) => {
    const { law, diagnostics } = scenario;
    if (law === null) {
      if (flags.json === true) writeResult("scenario explain", { file, diagnostics }, false);
      else writeOut(describeDiagnostics(scenario, false));
      return Promise.resolve(EXIT.usage);
    }
    if (flags.json === true) writeResult("scenario explain", { file, ...identitiesOf(law), ...explainedData(law) });
    else writeOut(explainLaw(law));
    return Promise.resolve(EXIT.ok);
  });
}

/** The same words by stage and condition. */
function explainedData(law: ScenarioLaw): Readonly<Record<string, unknown>> {
  const stages = layersOf(law).flatMap((layer, index) =>
    layer.map((stage) => ({
      stage_id: stage.stage_id,
      layer: index,
      opens: opensWhen(stage),
      completes: plainRequirement(stage.completion_requirement),
      discloses: stage.entry_packets.map(packetWords),
      conditions: conditionsOf(law, stage).map((condition) => ({
        condition_id: condition.condition_id,
        needs: `${domainWords(condition.observation_domain)} that ${predicateWords(condition.predicate)}`,
        counts: evidenceWords(law, condition),
      })),
    }))
  );
  return { completes: plainRequirement(law.completion_requirement), stages };
}

/** A law in plain words: the stages in an order in which they can be passed, and what counts for each condition. */
export function explainLaw(law: ScenarioLaw): string {
  const { scenario_id, namespace_id, stages, conditions, acquisition_bindings } = law;
  const counts = [
    countOf(stages.length, "stage"),
    countOf(conditions.length, "condition"),
    countOf(acquisition_bindings.length, "binding"),
  ];
  const described = layersOf(law).flat().map((stage, index) => explainStage(law, stage, index + 1));
  return [
    `Scenario ${shown(scenario_id)} in namespace ${namespace_id}: ${counts.join(", ")}`,
    `A run is complete when ${plainRequirement(law.completion_requirement)}`,
    "",
    ...described,
  ].join("\n");
}

function opensWhen({ prerequisite }: Stage): string {
  return prerequisite.kind === "root"
    ? "can be opened at once"
    : `can be opened when complete: ${plainRequirement(prerequisite.requirement)}`;
}

function conditionsOf(law: ScenarioLaw, { completion_requirement }: Stage): Condition[] {
  const named = new Set<string>();
  eachLeaf(completion_requirement, null, (id) => named.add(id));
  return law.conditions.filter(({ condition_id }) => named.has(condition_id));
}

function explainStage(law: ScenarioLaw, stage: Stage, number: number): string {
  const lines = [`${number}. ${shown(stage.stage_id)}: ${opensWhen(stage)}`];
  for (const packet of stage.entry_packets) lines.push(`   discloses ${packetWords(packet)}`);
  lines.push(`   completes when true: ${plainRequirement(stage.completion_requirement)}`);
  for (const condition of conditionsOf(law, stage)) {
    const { condition_id, observation_domain, predicate } = condition;
    lines.push(`   - ${shown(condition_id)}: ${domainWords(observation_domain)} that ${predicateWords(predicate)}`);
    evidenceWords(law, condition).forEach((line) => lines.push(`       ${line}`));
  }
  return `${lines.join("\n")}\n`;
}

function packetWords({ packet_id, content_type, targets, expiry }: EntryPacket): string {
  const to = targets.length === 0 ? "no target in particular" : targets.map(targetWords).join(", ");
  const until = expiry === null ? "" : `, until ${expiry.kind} ${expiry.value}`;
  return `packet ${shown(packet_id)} (${shown(content_type)}) to ${to}, if the operator's policy permits${until}`;
}

function targetWords(target: Target): string {
  switch (target.kind) {
    case "agent":
      return `agent ${shown(target.agent_id)}`;
    case "session":
      return `session ${shown(target.session_id)}`;
    case "channel":
      return `channel ${shown(target.channel)}`;
    case "external":
      return `${shown(target.target)} at ${shown(target.system)}`;
  }
}

function range(minimum: string | number | undefined, maximum: string | number | undefined): string {
  if (minimum === undefined) return maximum === undefined ? "" : ` up to ${maximum}`;
  return maximum === undefined ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function domainWords(domain: ObservationDomain): string {
  switch (domain.domain) {
    case "String":
      return `a text of ${domain.minimum_bytes} to ${domain.maximum_bytes} bytes`;
    case "Boolean":
      return "a boolean";
    case "Integer":
      return `an integer${range(domain.minimum, domain.maximum)}`;
    case "Decimal":
      return `a decimal${range(domain.minimum, domain.maximum)}`;
    case "Timestamp":
      return "a timestamp";
    case "Digest":
      return "a SHA-256 digest";
    case "Json": {
      const schema = domain.schema === undefined
        ? ""
        : `, valid under schema ${shown(domain.schema.schema_id)} version ${shown(domain.schema.version)}`;
      return `JSON of at most ${domain.maximum_bytes} bytes${schema},`;
    }
  }
}

const VERBS: Readonly<Record<Predicate["predicate"], string>> = {
  Equals: "equals",
  NotEquals: "does not equal",
  GreaterThan: "is greater than",
  GreaterThanOrEqual: "is at least",
  LessThan: "is less than",
  LessThanOrEqual: "is at most",
  LexGreaterThan: "stands after",
  LexGreaterThanOrEqual: "stands at or after",
  LexLessThan: "stands before",
  LexLessThanOrEqual: "stands at or before",
  Contains: "contains",
  InSet: "is one of",
  DeepEquals: "equals at every depth",
  DeepNotEquals: "differs at some depth from",
  Exists: "is there, whatever it is",
  NotExists: "is not there: gate has to look itself",
};

function predicateWords(predicate: Predicate): string {
  const verb = VERBS[predicate.predicate];
  if (!("expected" in predicate)) return verb;
  const { expected } = predicate;
  const values: readonly TypedValue[] = Array.isArray(expected) ? expected : [expected as TypedValue];
  return `${verb} ${values.map(({ value }) => valueWords(value)).join(", ")}`;
}

function valueWords(value: JsonValue): string {
  const text = shown(JSON.stringify(value));
  return text.length <= VALUE_CHARACTERS ? text : `${text.slice(0, VALUE_CHARACTERS)}…`;
}

/** Which evidence counts for a condition, a line each. */
function evidenceWords(law: ScenarioLaw, { condition_id, evidence_use_policy: policy }: Condition): string[] {
  const bindings = law.acquisition_bindings.filter((binding) => binding.condition_id === condition_id);
  const sources = [
    ...policy.allowed_channels.includes("caller_submission") ? ["sent by the caller"] : [],
    ...bindings.map(bindingWords),
  ];
  return [
    `evidence: ${
      sources.length === 0 ? "none can come: no binding, and callers may not send any" : sources.join("; ")
    }`,
    ...demands(policy),
  ];
}

function bindingWords({ binding_id, provider_id, check_id }: AcquisitionBinding): string {
  return `gathered by gate with check ${shown(check_id)} of ${shown(provider_id)} (binding ${shown(binding_id)})`;
}

function demands(policy: EvidenceUsePolicy): string[] {
  const { combination, freshness, integrity, authorization, authorized_key_ids: keys, required_assurance } = policy;
  const lines: string[] = [];
  if (authorization === "signature") {
    lines.push(`signed by ${keys === undefined ? "a trusted key" : `one of the keys ${keys.map(shown).join(", ")}`}`);
  } else if (integrity === "signed_content" || required_assurance.includes("source_signature")) {
    lines.push("signed by a trusted key");
  }
  if (integrity === "anchored_content" || required_assurance.includes("source_anchor")) {
    lines.push("with an anchor to its source");
  }
  if (freshness.freshness === "MaximumAge") lines.push(`at most ${durationWords(freshness.maximum_age_millis)} old`);
  if (combination.combination === "AnyQualifying") lines.push("one item that holds is enough");
  if (combination.combination === "Quorum") lines.push(`${combination.minimum} items that hold, and fewer that do not`);
  if (policy.independence === "distinct_provider") lines.push("from different providers");
  if (policy.retention === "retain_digest_only") lines.push("only the hash of the value is kept");
  return lines;
}

const UNITS = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]] as const;

function durationWords(millis: number): string {
  const unit = UNITS.find(([, size]) => millis >= size && millis % size === 0);
  return unit === undefined ? `${millis} ms` : countOf(millis / unit[1], unit[0]);
}
