/**
 * Runs every published vector of the kernel in a page of the site, with the kernel that the page holds. It is bundled to a
 * script, which leaves the number of comparisons by section of a file, and the names of those that differ.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import type { DraftSpec } from "../../../src/law/decode_spec.ts";
import type { Requirement, ScenarioLaw } from "../../../src/law/types.ts";
import type { PredicateValidation } from "../../../src/law/value/predicate.ts";
import type { PredicateName } from "../../../src/law/value/predicates.ts";
import type { ObservationDomain, Predicate, TypedValue, ValueType } from "../../../src/law/value/types.ts";
import type { KERNEL } from "../../../src/playground/kernel.ts";
import type { Command, Stamps } from "../../../src/run/command.ts";
import type { GenesisParameters } from "../../../src/run/parameters.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import type { SubmittedStatement } from "../../../src/run/submitted_statement.ts";
import type { RunRecord, RunState } from "../../../src/run/types.ts";
import { environment } from "../../simulation/kernel/law_specs.ts";
import canonicalization from "../../vectors/canonical/canonicalization.json" with { type: "json" };
import identities from "../../vectors/canonical/identities.json" with { type: "json" };
import numbers from "../../vectors/canonical/numbers.json" with { type: "json" };
import order from "../../vectors/canonical/order.json" with { type: "json" };
import scanner from "../../vectors/canonical/scanner.json" with { type: "json" };
import extensions from "../../vectors/law/extensions.json" with { type: "json" };
import laws from "../../vectors/law/laws.json" with { type: "json" };
import parameters from "../../vectors/law/parameters.json" with { type: "json" };
import proofs from "../../vectors/law/proofs.json" with { type: "json" };
import refusals from "../../vectors/law/refusals.json" with { type: "json" };
import deploy from "../../vectors/run/deploy.json" with { type: "json" };
import statements from "../../vectors/run/evidence_statements.json" with { type: "json" };
import invocations from "../../vectors/run/invocations.json" with { type: "json" };
import submitted from "../../vectors/run/submitted_statements.json" with { type: "json" };
import predicates from "../../vectors/values/predicates.json" with { type: "json" };
import providerResults from "../../vectors/values/provider_results.json" with { type: "json" };
import relativeTime from "../../vectors/values/relative_time.json" with { type: "json" };
import typedValues from "../../vectors/values/typed_values.json" with { type: "json" };

const { gate } = globalThis as unknown as { readonly gate: typeof KERNEL };
const differing: string[] = [];
const counts: Record<string, number> = {};
const primitives = { sha256: gate.sha256, verifyEd25519: gate.verifyEd25519 };

/** Compares for a section: the path of a file without its ending, and the name of a member of it. */
function same(section: string, name: unknown, actual: unknown, expected: unknown): void {
  counts[section] = (counts[section] ?? 0) + 1;
  const texts = [actual, expected].map((value) => JSON.stringify(value));
  if (texts[0] !== texts[1]) differing.push(`${section} ${JSON.stringify(name)}: ${texts.join(" is not ")}`);
}

/** Reads a text without a scan, which refuses some values that have a canonical form. */
const read = (text: string): JsonValue => gate.parseScanned(text, { fault: null, escapedNames: true });
const bytesOfBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const bytesOfHex = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

function doubleOf(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0] ?? NaN;
}

function checkCanonical(): void {
  for (const { name, input, canonical, sha256 } of canonicalization.vectors) {
    const text = gate.canonicalize(read(input));
    same("canonical/canonicalization.vectors", name, [text, gate.sha256(text)], [canonical, sha256]);
  }
  for (const { name, text } of scanner.accepted) {
    same("canonical/scanner.accepted", name, [gate.scanJson(text), gate.parseJson(text).ok], [null, true]);
  }
  const rows = [
    ["canonical/scanner.rejected", scanner.rejected],
    [
      "canonical/scanner.rejected_utf16",
      scanner.rejected_utf16.map((one) => ({ ...one, text: String.fromCharCode(...one.code_units) })),
    ],
  ] as const;
  for (const [section, rejected] of rows) {
    for (const { name, text, code, path, offset } of rejected) {
      const fault = gate.scanJson(text);
      same(section, name, [fault?.code, fault?.path, fault?.offset], [code, path, offset]);
    }
  }
  for (const { name, bytes } of scanner.not_utf8) {
    same("canonical/scanner.not_utf8", name, gate.decodeUtf8Strict(bytesOfHex(bytes)), null);
  }
  const names = order.code_points;
  const members = gate.canonicalize(Object.fromEntries(names.map((name) => [name, null])));
  const sorted = gate.sortedBy(order.utf16_code_units, (name) => name);
  const expected = `{${order.utf16_code_units.map((name) => `${JSON.stringify(name)}:null`).join(",")}}`;
  same("canonical/order.utf16_code_units", "members", members, expected);
  same("canonical/order.code_points", "strings", sorted, names);
}

function checkIdentities(): void {
  const section = (name: string): string => `canonical/identities.${name}`;
  type Kind = Parameters<typeof gate.identify>[1];
  for (const { kind, input, canonical, identity } of identities.values) {
    const found = [
      gate.identify(gate.sha256, kind as Kind, read(input)),
      gate.identifyCanonical(gate.sha256, kind as Kind, canonical),
    ];
    same(section("values"), kind, found, [identity, identity]);
  }
  const covered = new Set(identities.values.map(({ kind }) => kind));
  for (const kind of identities.kinds) same(section("kinds"), kind, covered.has(kind), true);
  for (const { kind, bytes, identity } of identities.bytes) {
    same(section("bytes"), kind, gate.identifyBytes(gate.sha256, kind as Kind, bytesOfHex(bytes)), identity);
  }
  for (const { input, canonical, sha256: value } of identities.content_hashes) {
    const text = gate.canonicalize(read(input));
    same(section("content_hashes"), input, [text, gate.contentHash(gate.sha256, text)], [
      canonical,
      { algorithm: "sha256", value },
    ]);
  }
  for (const { bytes, sha256: value } of identities.content_hashes_of_bytes) {
    same(section("content_hashes_of_bytes"), bytes, gate.contentHash(gate.sha256, bytesOfHex(bytes)).value, value);
  }
  for (const { text, valid } of identities.operation_identities) {
    same(section("operation_identities"), text, gate.isOperationIdentity(text), valid);
  }
}

function checkNumbers(): void {
  for (const { bits, canonical } of numbers.samples) {
    let found: string | null = null;
    try {
      found = gate.canonicalize(doubleOf(BigInt(`0x${bits}`)));
    } catch {
      // A number without a canonical form.
    }
    same("canonical/numbers.samples", bits, found, canonical);
  }
  const sequence = numberSequence();
  let text = "";
  let lines = 0;
  for (const checkpoint of numbers.sequence.checkpoints) {
    for (; lines < checkpoint.lines; lines++) {
      const bits = sequence.next().value ?? 0n;
      text += `${bits.toString(16)},${gate.canonicalize(doubleOf(bits))}\n`;
    }
    same("canonical/numbers.sequence", lines, gate.sha256(text), checkpoint.sha256);
  }
}

/** The fixed doubles, then a run of neighbours, then the finite non-zero doubles in a chain of SHA-256 blocks. */
function* numberSequence(): Generator<bigint> {
  const { static_bits, serial_first_bits, serial_count } = numbers.sequence;
  for (const bits of static_bits) yield BigInt(`0x${bits}`);
  for (let index = 0; index < serial_count; index++) yield BigInt(`0x${serial_first_bits}`) + BigInt(index);
  let block = "00".repeat(32);
  for (;;) {
    block = gate.sha256(bytesOfHex(block));
    const view = new DataView(bytesOfHex(block).buffer);
    for (let offset = 0; offset < 32; offset += 8) {
      const bits = view.getBigUint64(offset, true);
      const double = doubleOf(bits);
      if (double !== 0 && Number.isFinite(double)) yield bits;
    }
  }
}

const lawOf = (spec: unknown): ReturnType<typeof gate.constructLaw> =>
  gate.constructLaw(spec as JsonValue, environment());

function checkLaws(): void {
  for (
    const [section, cases] of [["law/laws.cases", laws.cases], ["law/extensions.cases", extensions.cases]] as const
  ) {
    for (const vector of cases) {
      const result = lawOf(vector.spec);
      const { name, canonical, scenario_law_identity, graph_canonical, graph_identity, normal_form } = vector;
      const found = result.ok
        ? [
          gate.canonicalize(gate.lawAsJson(result.law)),
          gate.lawIdentity(gate.sha256, result.law),
          gate.canonicalize(gate.graphOf(result.law)),
          gate.graphIdentity(gate.sha256, result.law),
          gate.reproveLaw(normal_form as unknown as JsonValue, environment()).ok,
        ]
        : result.refusals;
      same(section, name, found, [canonical, scenario_law_identity, graph_canonical, graph_identity, true]);
    }
  }
  for (const { name, normal_form, refusals: expected } of refusals.cases) {
    const result = lawOf(normal_form);
    const found = result.ok ? [] : result.refusals.map(({ code, path }) => ({ code, path }));
    const isLaw = gate.reproveLaw(normal_form as unknown as JsonValue, environment()).ok;
    same("law/refusals.cases", name, [found, isLaw], [expected, expected.length === 0]);
  }
  for (const { name, requirement, verdict, visits } of proofs.cases) {
    const given = requirement as unknown as Requirement;
    const found = [gate.classifySatisfiability(given, visits), gate.classifySatisfiability(given, visits - 1).verdict];
    same("law/proofs.cases", name, found, [{ verdict, visits }, "budget_exceeded"]);
  }
  for (const { name, budget, stages, exceeded_by } of proofs.laws) {
    const collected = gate.collector();
    const own = stages.map(({ completion_requirement }) => ({
      prerequisite: undefined,
      completion: completion_requirement as unknown as Requirement,
    }));
    const draft = { stages: stages.map(({ stage_id }) => ({ stage_id })) } as unknown as DraftSpec;
    gate.proveRequirements(collected, draft, { stages: own, completion: undefined }, budget);
    const index = stages.findIndex(({ stage_id }) => stage_id === exceeded_by);
    const expected = index < 0 ? [] : [["proof_budget_exceeded", `$.stages[${index}].completion_requirement`]];
    same("law/proofs.laws", name, collected.report().map(({ code, path }) => [code, path]), expected);
  }
}

function checkParameters(): void {
  const compiled = new Map<string, ReturnType<typeof gate.compileLaw>>();
  for (const { name, spec, canonical, scenario_law_identity, graph_identity } of parameters.laws) {
    const result = lawOf(spec);
    const found = result.ok
      ? [
        gate.canonicalize(gate.lawAsJson(result.law)),
        gate.lawIdentity(gate.sha256, result.law),
        gate.graphIdentity(gate.sha256, result.law),
      ]
      : result.refusals;
    same("law/parameters.laws", name, found, [canonical, scenario_law_identity, graph_identity]);
    if (result.ok) compiled.set(name, gate.compileLaw(result.law, scenario_law_identity, graph_identity));
  }
  for (const { name, spec, refusals: expected } of parameters.refusals) {
    const result = lawOf(spec);
    const found = result.ok ? [] : result.refusals.map(({ code, path }) => ({ code, path }));
    same("law/parameters.refusals", name, found, expected);
  }
  for (const { template, parameters: expected } of parameters.templates) {
    const found = gate.readTemplate(template);
    same("law/parameters.templates", template, typeof found === "string" ? null : found.parameters, expected);
  }
  for (const { name, law, genesis, faults, expanded } of parameters.genesis) {
    const of = compiled.get(law);
    if (of === undefined) throw new Error(`Cannot find the law ${law}`);
    const checked = gate.checkParameters(of, genesis as unknown as GenesisParameters, 1_048_576);
    const found = checked.ok ? [] : checked.faults.map(({ code, path, parameter_id }) => ({
      code,
      path,
      ...parameter_id === undefined ? {} : { parameter_id },
    }));
    same("law/parameters.genesis", name, found, faults);
    if (!checked.ok) continue;
    const { conditions, acquisition_bindings } = gate.bindLaw(of, checked.parameters).law;
    const text = gate.canonicalize({ conditions, acquisition_bindings } as unknown as JsonValue);
    same("law/parameters.genesis", name, text, expanded);
  }
}

const ALL_ENABLED: PredicateValidation = { enable_lexicographic: true, enable_deep_equals: true };

function checkPredicates(): void {
  const { cases, absence, fits } = predicates as unknown as {
    readonly cases: readonly {
      readonly domain: ObservationDomain;
      readonly predicate: Predicate;
      readonly values: readonly { readonly value: JsonValue; readonly outcome: string }[];
    }[];
    readonly absence: readonly { readonly predicate: PredicateName; readonly outcome: string }[];
    readonly fits: readonly {
      readonly domain: ObservationDomain;
      readonly predicate: Predicate;
      readonly validation: PredicateValidation;
      readonly refusals: readonly JsonObject[];
    }[];
  };
  for (const { domain, predicate, values } of cases) {
    const compiled = gate.compilePredicate(predicate, domain);
    for (const { value, outcome } of values) {
      const typed: TypedValue = { value, value_type: domain.domain };
      same("values/predicates.cases", predicate.predicate, gate.triName(compiled(typed, null)), outcome);
    }
  }
  for (const { predicate, outcome } of absence) {
    const found = gate.triName(gate.predicateOnAbsence({ predicate } as Predicate));
    same("values/predicates.absence", predicate, found, outcome);
  }
  const fit = (section: string, predicate: Predicate, domain: ObservationDomain, expected: unknown, by = ALL_ENABLED) =>
    same(
      section,
      predicate,
      gate.checkPredicate(predicate, domain, by).map(({ code, path }) => ({ code, path })),
      expected,
    );
  for (const { domain, predicate, validation, refusals: expected } of fits) {
    fit("values/predicates.fits", predicate, domain, expected, validation);
  }
  const timestamp: ObservationDomain = { domain: "Timestamp" };
  for (const { predicate, evaluated_at, values } of relativeTime.cases) {
    const compiled = gate.compilePredicate(predicate as Predicate, timestamp);
    for (const { value, outcome } of values) {
      const found = gate.triName(compiled({ value, value_type: "Timestamp" }, evaluated_at));
      same("values/relative_time.cases", [predicate, value, evaluated_at], found, outcome);
    }
  }
  for (const { domain, predicate, refusals: expected } of relativeTime.fits) {
    fit("values/relative_time.fits", predicate as unknown as Predicate, domain as ObservationDomain, expected);
  }
}

function checkValues(): void {
  for (const { value_type, value, valid } of typedValues.grammar) {
    const found = gate.checkTypedValue(value as JsonValue, value_type as ValueType) === null;
    same("values/typed_values.grammar", [value_type, value], found, valid);
  }
  for (const { value_type, left, right, equal } of typedValues.equality) {
    const [one, other] = [left, right].map((value) => ({ value, value_type }) as unknown as TypedValue);
    if (one === undefined || other === undefined) continue;
    const found = [gate.domainEqual(one, other), gate.domainEqual(other, one)];
    same("values/typed_values.equality", [left, right], found, [equal, equal]);
  }
  for (const { domain: given, value, fault } of typedValues.domains) {
    const domain = given as unknown as ObservationDomain;
    const typed = { value: value as JsonValue, value_type: domain.domain };
    same("values/typed_values.domains", [domain, value], gate.checkInDomain(typed, domain)?.code ?? null, fault);
  }
  for (const { domain, result, value } of providerResults.cases) {
    const found = gate.fitProviderResult(result as JsonValue, domain as unknown as ObservationDomain);
    const texts = [found, value].map((one) => gate.canonicalize(one as unknown as JsonValue));
    same("values/provider_results.cases", [domain, result], texts[0], texts[1]);
  }
}

function checkRun(): void {
  const scenario = deploy.law as unknown as ScenarioLaw;
  const law = gate.compileLaw(scenario, deploy.scenario_law_identity, deploy.graph_identity);
  const profile = deploy.operator_profile as unknown as OperatorProfile;
  const under = { ...gate.environmentUnder(primitives, profile), procedure: "gate-kernel-1" as const };
  const named = [
    ["law", gate.lawIdentity(gate.sha256, scenario), deploy.scenario_law_identity],
    ["graph", gate.graphIdentity(gate.sha256, scenario), deploy.graph_identity],
    ["operator_profile", gate.profileIdentity(gate.sha256, profile), deploy.operator_profile_identity],
  ] as const;
  for (const [name, found, expected] of named) same(`run/deploy.${name}`, name, found, expected);
  let state: RunState | null = null;
  for (const step of deploy.steps as unknown as readonly JsonObject[]) {
    const command = step["command"] as JsonObject;
    const schema_verdicts = new Map((command["schema_verdicts"] ?? []) as [number, "valid" | "invalid"][]);
    const given = { ...command, schema_verdicts } as unknown as Command;
    const decision = gate.decide(law, state, given, step["stamps"] as unknown as Stamps, under);
    const record = decision.outcome === "accepted" ? decision.records[0] : undefined;
    const result = gate.canonicalize(step["result"] as JsonValue);
    const found = [
      ...[decision.outcome, gate.canonicalize(decision.result), record?.text, record?.record_id],
      ...(record?.material ?? []).map(({ kind, identity, body }) => [kind, identity, body]),
    ];
    const material = (step["material"] ?? []) as unknown as readonly Record<"kind" | "identity" | "body", string>[];
    same("run/deploy.steps", step["name"], found, [
      ...[step["outcome"], result, step["record"], step["record_id"]],
      ...material.map(({ kind, identity, body }) => [kind, identity, body]),
    ]);
    if (record === undefined) continue;
    state = gate.fold(law, state, JSON.parse(record.text) as RunRecord, record.record_id);
    same("run/deploy.steps", `${step["name"]}: state`, gate.stateIdentity(gate.sha256, state), step["state_identity"]);
  }
  for (const { name, tool, input, invocation_identity } of invocations.vectors) {
    const found = gate.invocationIdentity(gate.sha256, tool, input as unknown as JsonObject);
    same("run/invocations.vectors", name, found, invocation_identity);
  }
}

function checkSignatures(): void {
  const keysOf = (keys: readonly { readonly key_id: string; readonly public_key: string }[]) =>
    new Map(keys.map(({ key_id, public_key }) => [key_id, bytesOfBase64(public_key)]));
  const keys = keysOf(statements.keys);
  for (const { name, statement, canonical, statement_identity, key_id, signature } of statements.statements) {
    const found = [
      gate.canonicalize(statement as unknown as JsonValue),
      gate.sha256(`gate:evidence-statement:v1\0${canonical}`),
      gate.verifyEd25519(keys.get(key_id) ?? new Uint8Array(), canonical, bytesOfBase64(signature)),
    ];
    same("run/evidence_statements.statements", name, found, [canonical, statement_identity, true]);
  }
  for (const { name, public_key, message, signature } of statements.refused) {
    const found = gate.verifyEd25519(bytesOfBase64(public_key), message, bytesOfBase64(signature));
    same("run/evidence_statements.refused", name, found, false);
  }
  const publicKeys = new Map(submitted.keys.map(({ key_id, public_key }) => [key_id, public_key]));
  const isSigned = (key_id: string, signature: string, statement: unknown): boolean =>
    gate.isSubmittedStatementSigned(
      primitives,
      publicKeys.get(key_id) ?? "",
      { scheme: "ed25519", key_id, signature },
      statement as SubmittedStatement,
    );
  for (const one of submitted.statements) {
    const { statement: _kind, ...statement } = one.statement;
    const found = [
      gate.submittedStatementText(statement as unknown as SubmittedStatement),
      gate.sha256(`gate:evidence-statement:v1\0${one.canonical}`),
      one.comment === undefined ? undefined : gate.commentHash(gate.sha256, one.comment),
      isSigned(one.key_id, one.signature, statement),
    ];
    const expected = [one.canonical, one.statement_identity, one.statement.comment_hash, true];
    same("run/submitted_statements.statements", one.name, found, expected);
  }
  const itself = submitted.statements[0]?.statement.statement;
  for (const { name, statement: { statement: kind, ...statement }, key_id, signature } of submitted.refused) {
    const text = gate.canonicalize({ statement: kind, ...statement } as unknown as JsonValue);
    const key = keysOf(submitted.keys).get(key_id) ?? new Uint8Array();
    const found = [
      gate.verifyEd25519(key, text, bytesOfBase64(signature)),
      isSigned(key_id, signature, statement),
    ];
    same("run/submitted_statements.refused", name, found, [false, kind !== itself]);
  }
}

checkCanonical();
checkIdentities();
checkNumbers();
checkLaws();
checkParameters();
checkPredicates();
checkValues();
checkRun();
checkSignatures();
Object.assign(globalThis, { gateVectors: { counts, differing } });
