/** Decides whether a verified runpack shows what its reader requires (docs/format/runpack.md "Admission"). */

import type { Identity } from "../../canonical/identity.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import { domainEqual } from "../../law/value/typed_value.ts";
import { valueOfText } from "../../law/value/value_of_text.ts";
import { cut, derivationOf, nameText, resultLine } from "./result_line.ts";
import type { StageResult } from "./run_result.ts";
import type { CountedProvider, CountedSignature } from "./signers.ts";
import type { Examination } from "./verify.ts";
import type { ProcedureName } from "../../run/types.ts";

/** What the reader of a runpack requires, and which requirements it waives. */
export interface Expectation {
  readonly law: Identity;
  /** That law, where the reader has it; else the one of the runpack counts. */
  readonly document: ScenarioLaw | null;
  /** Texts by parameter id. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Parameters that may have any value. */
  readonly any_parameters: readonly string[];
  /** The stage that has to be complete; null for the run. */
  readonly stage: string | null;
  /** Unix milliseconds before which the run, or the stage, must not have been completed. */
  readonly not_before: number | null;
  /** Base64 of the public keys of people and programs, by the key id that the law gives them. */
  readonly keys: ReadonlyMap<string, string>;
  /** Whether one of the reader's producer keys must have signed the pack. */
  readonly needs_producer: boolean;
  /** Version identities of typed providers, by provider id. */
  readonly providers: ReadonlyMap<string, string>;
  /** Superseded procedures that the reader accepts, whatever the law. */
  readonly accept_procedures: readonly string[];
  readonly origin_unchecked: boolean;
  readonly signers_unchecked: boolean;
  readonly allow_asserted: boolean;
}

/** Why a runpack is not admitted, in the order of precedence, with the exit code of each. */
const ADMISSION_CODES = {
  parameter_undeclared: 2,
  parameter_invalid: 2,
  parameter_missing: 2,
  stage_undeclared: 2,
  violated: 6,
  law_mismatch: 6,
  parameter_mismatch: 6,
  signer_differs: 6,
  provider_differs: 6,
  not_complete: 3,
  completed_before: 3,
  material_unknown: 4,
  procedure_superseded: 4,
  signer_unknown: 4,
  provider_unknown: 4,
  producer_unknown: 4,
  evidence_asserted: 4,
  origin_unknown: 4,
} as const;
const PRECEDENCE = Object.keys(ADMISSION_CODES);
/** Why a runpack is not admitted. */
export type AdmissionCode = keyof typeof ADMISSION_CODES;

/** One reason against admission. */
export interface AdmissionReason {
  readonly code: AdmissionCode;
  readonly message: string;
}

/** The decision on a runpack. */
export interface Admission {
  /** 0 where it is admitted, else that of the first reason. */
  readonly exit_code: 0 | 2 | 3 | 4 | 6;
  /** Every reason, in the order of precedence. */
  readonly reasons: readonly AdmissionReason[];
  /** The requirements that the reader waived. */
  readonly waived: readonly string[];
  /** Whether a waiver touches trust: the origin, the signers, a procedure or asserted evidence. */
  readonly is_trust_waived: boolean;
  /** The decision in one line, with what was waived and assumed. */
  readonly line: string;
  /** Each signature that counted, and who signed: the name is the key id, which the law or the reader may vouch for. */
  readonly signers: readonly AdmittedSigner[];
  /** The version of each typed provider of which evidence counted. */
  readonly providers: readonly CountedProvider[];
}

/** A signature that counted, as a decision shows it. */
export interface AdmittedSigner {
  readonly name: string;
  readonly fingerprint: string;
  /** Who says whose key it is: the law, the reader, or the pack alone. */
  readonly named_by: "law" | "reader" | "pack";
  readonly condition_id: string;
  readonly value: TypedValue | null;
  readonly observed_at: number | null;
}

/** Decides on a runpack that was examined under `full_replay_v1`. */
export function decideAdmission(examination: Examination, expectation: Expectation): Admission {
  const reasons = [
    ...faultsOf(examination, expectation),
    ...contradictionsOf(examination, expectation),
    ...gapsOf(examination, expectation),
    ...sourceReasons(examination, expectation),
  ].sort((a, b) => PRECEDENCE.indexOf(a.code) - PRECEDENCE.indexOf(b.code));
  const [first] = reasons;
  const waived = waiversOf(expectation);
  const { assumptions } = examination.report;
  const head = first === undefined ? "Admitted" : `Not admitted (${first.code})`;
  const line = [
    `${head}: ${resultLine(examination)}`,
    ...waived.length === 0 ? [] : [`waived: ${waived.join(", ")}`],
    ...assumptions.length === 0 ? [] : [`assumed: ${assumptions.join(", ")}`],
  ].join("; ");
  return {
    exit_code: first === undefined ? 0 : ADMISSION_CODES[first.code],
    reasons,
    waived,
    is_trust_waived: waived.length > expectation.any_parameters.length,
    line,
    signers: signersOf(examination, expectation),
    providers: examination.run?.sources.providers.filter(({ version_identity }) => version_identity !== null) ?? [],
  };
}

function waiversOf(expectation: Expectation): string[] {
  const { any_parameters, accept_procedures, origin_unchecked, signers_unchecked, allow_asserted } = expectation;
  return [
    ...origin_unchecked ? ["origin"] : [],
    ...signers_unchecked ? ["signers"] : [],
    ...accept_procedures.map((name) => `procedure ${name}`),
    ...allow_asserted ? ["asserted evidence"] : [],
    ...any_parameters.map((name) => `parameter ${nameText(name)}`),
  ];
}

/** Who says whose key a signature is by: the key's name means what the law or the reader says, never what the pack says. */
function namedBy(
  { key_id, public_key }: Pick<CountedSignature, "key_id" | "public_key">,
  { keys }: Expectation,
  pins: ReadonlyMap<string, string>,
): AdmittedSigner["named_by"] | "another key" {
  const given = [pins.get(key_id), keys.get(key_id)];
  if (given.some((key) => key !== undefined && key !== public_key)) return "another key";
  return given[0] !== undefined ? "law" : given[1] !== undefined ? "reader" : "pack";
}

/** The keys that a law pins, by id: an id has one key in all of a law. */
function pinsOf(law: ScenarioLaw | undefined): ReadonlyMap<string, string> {
  return new Map(
    law?.conditions.flatMap(({ evidence_use_policy: { authorized_public_keys = {} } }) =>
      Object.entries(authorized_public_keys)
    ),
  );
}

function signersOf({ run, law }: Examination, expectation: Expectation): readonly AdmittedSigner[] {
  const pins = pinsOf(law?.law);
  return run?.sources.signatures.map((one) => {
    const { key_id, fingerprint, condition_id, value, observed_at } = one;
    const by = namedBy(one, expectation, pins);
    const named_by = by === "another key" ? "pack" : by;
    return { name: key_id, fingerprint, named_by, condition_id, value, observed_at };
  }) ?? [];
}

const NAMED_BY = { law: "as the law says", reader: "as you say", pack: "as the pack alone says" } as const;

/** A signature in words: who signed what, when, and who says whose key it is. */
export function describeSigner(
  { name, fingerprint, named_by, condition_id, value, observed_at }: AdmittedSigner,
): string {
  const said = value === null ? "a value that is not here" : canonicalize(value.value);
  const at = observed_at === null ? "" : ` at ${new Date(observed_at).toISOString()}`;
  return `${nameText(name)} ${fingerprint} (${NAMED_BY[named_by]}) signed ${nameText(condition_id)} = ${
    cut(said)
  }${at}`;
}

/** What does not hold about those who signed, the sources, and the rules of judging. */
function sourceReasons({ report, run, law }: Examination, expectation: Expectation): AdmissionReason[] {
  if (run === null || derivationOf(report) === "violated") return [];
  const { accept_procedures, providers: versions, signers_unchecked } = expectation;
  const { signatures, providers, procedures } = run.sources;
  const reasons: AdmissionReason[] = [];
  const pins = pinsOf(law?.law);
  const seen = new Set<string>();
  for (const one of signatures) {
    const by = namedBy(one, expectation, pins);
    const isUnknown = by === "pack" && one.is_named && !signers_unchecked;
    const code = by === "another key" ? "signer_differs" : isUnknown ? "signer_unknown" : null;
    if (code === null || seen.has(`${code} ${one.key_id}`)) continue;
    seen.add(`${code} ${one.key_id}`);
    const what = code === "signer_differs"
      ? "signed with another key than the law or the reader names"
      : "signed, and neither the law nor the reader says whose key that is";
    reasons.push({ code, message: `${nameText(one.key_id)} (${one.fingerprint}) ${what}` });
  }
  for (const [name, version] of versions) {
    const found = providers.find(({ provider_id }) => provider_id === name);
    if (found?.version_identity === version) continue;
    const code = found === undefined ? "provider_unknown" : "provider_differs";
    const message = found === undefined
      ? `No evidence of provider ${nameText(name)} counted`
      : `Evidence of provider ${nameText(name)} is of ${found.version_identity ?? "no typed version"}`;
    reasons.push({ code, message });
  }
  for (const procedure of procedures) {
    const weaknesses = law === null || accept_procedures.includes(procedure) ? [] : weaknessesOf(procedure, law.law);
    if (weaknesses.length === 0) continue;
    reasons.push({ code: "procedure_superseded", message: `Records are by ${procedure}: ${weaknesses.join("; ")}` });
  }
  return reasons;
}

/** Whether signatures alone show the origin: known keys signed every item that counted. */
function isSignedByKnown({ run, law, parameters }: Examination, expectation: Expectation): boolean {
  // A statement without the head is good for a run of the same id with other parameters.
  const isOfRun = parameters?.length === 0 || run?.is_head_signed === true;
  if (run === null || !isOfRun || expectation.signers_unchecked) return false;
  const { signatures, unsigned } = run.sources;
  const known = new Set([...pinsOf(law?.law).values(), ...expectation.keys.values()]);
  return unsigned === 0 && signatures.length > 0 && signatures.every(({ public_key }) => known.has(public_key));
}

/** The expected law, as far as it is known. */
function lawOf({ law, law_identity }: Examination, expectation: Expectation): ScenarioLaw | null {
  return expectation.document ?? (law_identity === expectation.law ? law?.law ?? null : null);
}

/** What is wrong with the expectation itself. */
function faultsOf(examination: Examination, expectation: Expectation): AdmissionReason[] {
  const law = lawOf(examination, expectation);
  if (law === null) return [];
  const declared = new Map(law.parameters?.map(({ parameter_id, domain }) => [parameter_id, domain]));
  const { parameters, any_parameters, stage } = expectation;
  const reasons: AdmissionReason[] = [];
  for (const name of [...parameters.keys(), ...any_parameters]) {
    if (declared.has(name)) continue;
    reasons.push({ code: "parameter_undeclared", message: `The law declares no parameter ${nameText(name)}` });
  }
  for (const [name, text] of parameters) {
    const domain = declared.get(name);
    if (domain === undefined || valueOfText(text, domain) !== null) continue;
    const message = `The value of parameter ${nameText(name)} is outside its domain ${domain.domain}`;
    reasons.push({ code: "parameter_invalid", message });
  }
  for (const name of declared.keys()) {
    if (parameters.has(name) || any_parameters.includes(name)) continue;
    const message = `The law declares parameter ${nameText(name)}: give its value, or allow any`;
    reasons.push({ code: "parameter_missing", message });
  }
  if (stage !== null && law.stages.every(({ stage_id }) => stage_id !== stage)) {
    reasons.push({ code: "stage_undeclared", message: `The law has no stage ${nameText(stage)}` });
  }
  return reasons;
}

/** What of the runpack is wrong, or is of another law or other parameters. */
function contradictionsOf(examination: Examination, expectation: Expectation): AdmissionReason[] {
  const { report, law_identity, parameters } = examination;
  const reasons: AdmissionReason[] = [];
  const violated = report.claims.filter(({ status }) => status.status === "violated");
  if (violated.length > 0) {
    const names = violated.map(({ claim }) => claim).join(", ");
    reasons.push({ code: "violated", message: `The runpack contradicts itself: ${names}` });
  }
  if (law_identity !== null && law_identity !== expectation.law) {
    reasons.push({ code: "law_mismatch", message: `The runpack is of law ${law_identity}` });
  }
  const law = lawOf(examination, expectation);
  if (law === null || parameters === null || law_identity !== expectation.law) return reasons;
  for (const { parameter_id, domain } of law.parameters ?? []) {
    const text = expectation.parameters.get(parameter_id);
    const wanted = text === undefined ? null : valueOfText(text, domain);
    const found = parameters.find((one) => one.parameter_id === parameter_id);
    if (wanted === null || found !== undefined && domainEqual(wanted, found.value)) continue;
    const message = `Parameter ${nameText(parameter_id)} has another value`;
    reasons.push({ code: "parameter_mismatch", message });
  }
  return reasons;
}

/** What the runpack does not show. */
function gapsOf(examination: Examination, expectation: Expectation): AdmissionReason[] {
  const { report, run, producers } = examination;
  const derivation = derivationOf(report);
  if (derivation === "violated") return [];
  const reasons: AdmissionReason[] = [];
  if (derivation !== "derived" || run === null) {
    reasons.push({ code: "material_unknown", message: "Not every decision could be derived again" });
  } else {
    const subject = expectation.stage === null
      ? { name: "run", completed_at: run.completed_at, isComplete: run.status === "complete" }
      : stageOf(run.stages, expectation.stage);
    const { not_before } = expectation;
    if (!subject.isComplete || subject.completed_at === null) {
      reasons.push({ code: "not_complete", message: `The ${subject.name} is not complete` });
    } else if (not_before !== null && subject.completed_at < not_before) {
      const message = `The ${subject.name} was completed at ${subject.completed_at} ms, before ${not_before} ms`;
      reasons.push({ code: "completed_before", message });
    }
  }
  if (run?.is_permissive === true && !expectation.allow_asserted) {
    const message = "Asserted evidence counted, under a permissive operator profile";
    reasons.push({ code: "evidence_asserted", message });
  }
  if (producers.length === 0 && expectation.needs_producer) {
    const message = "None of the producer keys signed the runpack";
    reasons.push({ code: "producer_unknown", message });
  }
  const isKnown = producers.length > 0 || isSignedByKnown(examination, expectation);
  if (!isKnown && !expectation.origin_unchecked) {
    const message = "No producer key signed the runpack, and not all evidence that counted is signed by a known key";
    reasons.push({ code: "origin_unknown", message });
  }
  return reasons;
}

function stageOf(
  stages: readonly StageResult[],
  stageId: string,
): { readonly name: string; readonly completed_at: number | null; readonly isComplete: boolean } {
  const stage = stages.find(({ stage_id }) => stage_id === stageId);
  return {
    name: `stage ${nameText(stageId)}`,
    completed_at: stage?.completed_at ?? null,
    isComplete: stage?.classification === "complete",
  };
}

interface Weakness {
  /** What is weak, for messages. */
  readonly what: string;
  /** Whether a law uses what is weak. */
  readonly touches: (law: ScenarioLaw) => boolean;
}

const asks = ({ acquisition_bindings }: ScenarioLaw, provider: string): boolean =>
  acquisition_bindings.some(({ provider_id }) => provider_id === provider);

const WEAKNESSES: Readonly<Record<ProcedureName, readonly Weakness[]>> = {
  "gate-kernel-1": [
    {
      what: "two ids of one key count as two signers under a quorum",
      touches: ({ conditions }) =>
        conditions.some(({ evidence_use_policy: { combination } }) =>
          combination.combination === "Quorum" && combination.minimum > 1
        ),
    },
    {
      what: "a clock that ran ahead once keeps evidence fresh",
      touches: (law) =>
        asks(law, "time") ||
        law.conditions.some(({ evidence_use_policy: { freshness } }) => freshness.freshness === "MaximumAge"),
    },
    { what: "a redirect shows the absence of a header", touches: (law) => asks(law, "rest") },
    { what: "overrides hide the rest of the environment", touches: (law) => asks(law, "env") },
  ],
  "gate-kernel-2": [],
};

/** What of a procedure is weak and used by a law. */
function weaknessesOf(procedure: ProcedureName, law: ScenarioLaw): readonly string[] {
  return WEAKNESSES[procedure].filter(({ touches }) => touches(law)).map(({ what }) => what);
}
