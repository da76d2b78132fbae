/**
 * Runs the published vectors in a page of the site, with the kernel that the page holds. It is bundled to a script, which
 * leaves the number of vectors and the names of those that differ.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../src/canonical/json.ts";
import type { ScenarioLaw } from "../../src/law/types.ts";
import type { ObservationDomain, Predicate, TypedValue } from "../../src/law/value/types.ts";
import type { KERNEL } from "../../src/playground/kernel.ts";
import type { Command, Stamps } from "../../src/run/command.ts";
import type { OperatorProfile } from "../../src/run/profile.ts";
import type { RunRecord, RunState } from "../../src/run/types.ts";
import { environment } from "../simulation/law_specs.ts";
import canonicalization from "../vectors/canonical/canonicalization.json" with { type: "json" };
import identities from "../vectors/canonical/identities.json" with { type: "json" };
import scanner from "../vectors/canonical/scanner.json" with { type: "json" };
import extensions from "../vectors/law/extensions.json" with { type: "json" };
import laws from "../vectors/law/laws.json" with { type: "json" };
import proofs from "../vectors/law/proofs.json" with { type: "json" };
import refusals from "../vectors/law/refusals.json" with { type: "json" };
import deploy from "../vectors/run/deploy.json" with { type: "json" };
import statements from "../vectors/run/evidence_statements.json" with { type: "json" };
import invocations from "../vectors/run/invocations.json" with { type: "json" };
import predicates from "../vectors/values/predicates.json" with { type: "json" };

const { gate } = globalThis as unknown as { readonly gate: typeof KERNEL };
const differing: string[] = [];
let count = 0;

function same(name: string, actual: unknown, expected: unknown): void {
  count++;
  const texts = [actual, expected].map((value) => JSON.stringify(value));
  if (texts[0] !== texts[1]) differing.push(`${name}: ${texts.join(" is not ")}`);
}

function checkCanonical(): void {
  for (const { name, input, canonical, sha256 } of canonicalization.vectors) {
    const parsed = gate.parseJson(input);
    // The scan of an input refuses some values that have a canonical form.
    if (parsed.ok) same(name, [gate.canonicalize(parsed.value), gate.sha256(canonical)], [canonical, sha256]);
  }
  for (const { name, text } of scanner.accepted) same(name, gate.scanJson(text), null);
  for (const { name, text, code, path, offset } of scanner.rejected) {
    const fault = gate.scanJson(text);
    same(name, [fault?.code, fault?.path, fault?.offset], [code, path, offset]);
  }
  for (const { kind, canonical, identity } of identities.values) {
    same(kind, gate.identifyCanonical(gate.sha256, kind as Parameters<typeof gate.identify>[1], canonical), identity);
  }
}

function checkLaws(): void {
  for (const vector of [...laws.cases, ...extensions.cases]) {
    const result = gate.constructLaw(vector.spec as unknown as JsonValue, environment());
    const { name, canonical, scenario_law_identity, graph_identity } = vector;
    const found = result.ok
      ? [
        gate.canonicalize(gate.lawAsJson(result.law)),
        gate.lawIdentity(gate.sha256, result.law),
        gate.graphIdentity(gate.sha256, result.law),
      ]
      : result.refusals;
    same(name, found, [canonical, scenario_law_identity, graph_identity]);
  }
  for (const { name, normal_form, refusals: expected } of refusals.cases) {
    const result = gate.constructLaw(normal_form as unknown as JsonValue, environment());
    same(name, result.ok ? [] : result.refusals.map(({ code, path }) => ({ code, path })), expected);
  }
  for (const { name, requirement, verdict, visits } of proofs.cases) {
    const given = requirement as unknown as Parameters<typeof gate.classifySatisfiability>[0];
    same(name, gate.classifySatisfiability(given, visits), { verdict, visits });
  }
}

function checkPredicates(): void {
  const cases = predicates.cases as unknown as readonly {
    readonly domain: ObservationDomain;
    readonly predicate: Predicate;
    readonly values: readonly { readonly value: JsonValue; readonly outcome: string }[];
  }[];
  for (const { domain, predicate, values } of cases) {
    const compiled = gate.compilePredicate(predicate, domain);
    for (const { value, outcome } of values) {
      const typed: TypedValue = { value, value_type: domain.domain };
      same(predicate.predicate, gate.triName(compiled(typed, null)), outcome);
    }
  }
}

function checkRun(): void {
  const scenario = deploy.law as unknown as ScenarioLaw;
  const law = gate.compileLaw(scenario, deploy.scenario_law_identity, deploy.graph_identity);
  const primitives = { sha256: gate.sha256, verifyEd25519: gate.verifyEd25519 };
  const profile = deploy.operator_profile as unknown as OperatorProfile;
  const under = { ...gate.environmentUnder(primitives, profile), procedure: "gate-kernel-1" as const };
  let state: RunState | null = null;
  for (const step of deploy.steps as unknown as readonly JsonObject[]) {
    const command = step["command"] as JsonObject;
    const schema_verdicts = new Map((command["schema_verdicts"] ?? []) as [number, "valid" | "invalid"][]);
    const given = { ...command, schema_verdicts } as unknown as Command;
    const decision = gate.decide(law, state, given, step["stamps"] as unknown as Stamps, under);
    const record = decision.outcome === "accepted" ? decision.records[0] : undefined;
    const result = gate.canonicalize(step["result"] as JsonValue);
    const found = [decision.outcome, gate.canonicalize(decision.result), record?.text, record?.record_id];
    same(String(step["name"]), found, [step["outcome"], result, step["record"], step["record_id"]]);
    if (record === undefined) continue;
    state = gate.fold(law, state, JSON.parse(record.text) as RunRecord, record.record_id);
    same(`${step["name"]}: state`, gate.stateIdentity(gate.sha256, state), step["state_identity"]);
  }
  for (const { name, tool, input, invocation_identity } of invocations.vectors) {
    same(name, gate.invocationIdentity(gate.sha256, tool, input as unknown as JsonObject), invocation_identity);
  }
}

function checkSignatures(): void {
  const bytes = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const keys = new Map(statements.keys.map(({ key_id, public_key }) => [key_id, bytes(public_key)]));
  for (const { name, canonical, key_id, signature } of statements.statements) {
    same(name, gate.verifyEd25519(keys.get(key_id) ?? new Uint8Array(), canonical, bytes(signature)), true);
  }
  for (const { name, public_key, message, signature } of statements.refused) {
    same(name, gate.verifyEd25519(bytes(public_key), message, bytes(signature)), false);
  }
}

checkCanonical();
checkLaws();
checkPredicates();
checkRun();
checkSignatures();
Object.assign(globalThis, { gateVectors: { count, differing } });
