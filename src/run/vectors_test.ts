/** Runs the published vectors of this module, which other implementations run too. */
import assert from "node:assert/strict";
import { HOST_PRIMITIVES } from "../evidence/host_primitives.ts";
import deploy from "../../tests/vectors/run/deploy.json" with { type: "json" };
import statements from "../../tests/vectors/run/evidence_statements.json" with { type: "json" };
import submitted from "../../tests/vectors/run/submitted_statements.json" with { type: "json" };
import invocations from "../../tests/vectors/run/invocations.json" with { type: "json" };
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { graphIdentity, lawIdentity } from "../law/law.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { type Command, type Environment, environmentUnder, type Stamps } from "./command.ts";
import { compileLaw } from "./compile.ts";
import { decide } from "./decide/decide.ts";
import { fold, stateIdentity } from "./fold.ts";
import { invocationIdentity } from "./invocation.ts";
import { asJson } from "./primitives.ts";
import { type OperatorProfile, profileIdentity } from "./profile.ts";
import { STATEMENT } from "./statement.ts";
import {
  commentHash,
  isSubmittedStatementSigned,
  SUBMITTED_STATEMENT,
  type SubmittedStatement,
  submittedStatementText,
} from "./submitted_statement.ts";
import type { RunRecord, RunState } from "./types.ts";

const { sha256, verifyEd25519 } = HOST_PRIMITIVES;

/** A step of `deploy.json`; only accepted ones have a record. */
interface Step {
  readonly name: string;
  readonly command: JsonObject;
  readonly stamps: JsonObject;
  readonly outcome: string;
  readonly result: JsonObject;
  readonly record?: string;
  readonly record_id?: string;
  readonly material?: JsonValue;
  readonly state?: JsonValue;
  readonly state_identity?: string;
}

const STEPS = deploy.steps as unknown as readonly Step[];
const SCENARIO = deploy.law as unknown as ScenarioLaw;
const PROFILE = deploy.operator_profile as unknown as OperatorProfile;

/** The command of a step. Verdicts are pairs of an item's index and its verdict. */
function commandOf({ command }: Step): Command {
  const schema_verdicts = new Map((command["schema_verdicts"] ?? []) as [number, "valid" | "invalid"][]);
  return { ...command, schema_verdicts } as unknown as Command;
}

Deno.test("run vectors: identities of the law, its graph and the operator profile", () => {
  assert.equal(lawIdentity(sha256, SCENARIO), deploy.scenario_law_identity);
  assert.equal(graphIdentity(sha256, SCENARIO), deploy.graph_identity);
  assert.equal(profileIdentity(sha256, PROFILE), deploy.operator_profile_identity);
});

Deno.test("run vectors: every step decides as published, byte for byte", async (test) => {
  const law = compileLaw(SCENARIO, deploy.scenario_law_identity, deploy.graph_identity);
  const environment: Environment = {
    ...environmentUnder(HOST_PRIMITIVES, PROFILE),
    procedure: "gate-kernel-1",
  };
  let state: RunState | null = null;
  for (const step of STEPS) {
    await test.step(`${step.name}: ${step.outcome}`, () => {
      const decision = decide(law, state, commandOf(step), step.stamps as unknown as Stamps, environment);
      assert.equal(decision.outcome, step.outcome);
      assert.equal(canonicalize(decision.result), canonicalize(step.result));
      if (decision.outcome !== "accepted") return assert.equal(step.record, undefined);
      const [{ text, record_id, material }] = decision.records;
      assert.equal(text, step.record);
      assert.equal(record_id, step.record_id);
      assert.deepEqual(material, step.material);
      state = fold(law, state, JSON.parse(text) as RunRecord, record_id);
      assert.equal(stateIdentity(sha256, state), step.state_identity);
      if (step.state !== undefined) assert.equal(canonicalize(asJson(state)), canonicalize(step.state));
    });
  }
});

Deno.test("run vectors: material has the identity that records name, and records do not contain its value", () => {
  const records = STEPS.flatMap(({ record }) => record ?? []);
  for (const { material } of STEPS) {
    for (const { kind, identity, body } of (material ?? []) as { kind: string; identity: string; body: string }[]) {
      assert.equal(sha256(`gate:${kind}:v1\0${body}`), identity);
      assert.equal(canonicalize(JSON.parse(body) as JsonValue), body);
      assert.ok(records.some((record) => record.includes(identity)));
    }
  }
});

for (const { name, tool, input, invocation_identity } of invocations.vectors) {
  Deno.test(`invocation vectors: ${name}`, () => {
    assert.equal(invocationIdentity(sha256, tool, input as unknown as JsonObject), invocation_identity);
  });
}

const KEYS = new Map(statements.keys.map(({ key_id, public_key }) => [key_id, Uint8Array.fromBase64(public_key)]));

for (const { name, statement, canonical, statement_identity, key_id, signature } of statements.statements) {
  Deno.test(`statement vectors: ${name}`, () => {
    const key = KEYS.get(key_id);
    assert.ok(key !== undefined);
    assert.equal(statement.statement, STATEMENT);
    assert.equal(canonicalize(asJson(statement)), canonical);
    assert.equal(sha256(`gate:evidence-statement:v1\0${canonical}`), statement_identity);
    assert.ok(verifyEd25519(key, canonical, Uint8Array.fromBase64(signature)));
  });
}

for (const { name, public_key, message, signature } of statements.refused) {
  Deno.test(`statement vectors, refused: ${name}`, () => {
    const [key, bytes] = [public_key, signature].map((text) => Uint8Array.fromBase64(text));
    assert.ok(key !== undefined && bytes !== undefined);
    assert.ok(!verifyEd25519(key, message, bytes));
  });
}

for (
  const { name, statement: vector, canonical, statement_identity, key_id, signature, comment } of submitted.statements
) {
  Deno.test(`submitted statement vectors: ${name}`, () => {
    const { statement: kind, ...statement } = vector;
    assert.equal(kind, SUBMITTED_STATEMENT);
    assert.equal(submittedStatementText(statement as unknown as SubmittedStatement), canonical);
    assert.equal(sha256(`gate:evidence-statement:v1\0${canonical}`), statement_identity);
    assert.deepEqual(comment === undefined ? undefined : commentHash(sha256, comment), vector.comment_hash);
    assert.ok(isSigned(key_id, signature, statement as unknown as SubmittedStatement));
  });
}

for (const { name, statement: { statement: kind, ...statement }, key_id, signature } of submitted.refused) {
  Deno.test(`submitted statement vectors, refused: ${name}`, () => {
    // A statement of another kind is not one that the verifier builds, so its text alone is compared.
    const text = canonicalize(asJson({ statement: kind, ...statement }));
    assert.ok(!verifyEd25519(KEYS.get(key_id) ?? new Uint8Array(), text, Uint8Array.fromBase64(signature)));
    const isItself = kind !== SUBMITTED_STATEMENT;
    assert.equal(isSigned(key_id, signature, statement as unknown as SubmittedStatement), isItself);
  });
}

function isSigned(keyId: string, signature: string, statement: SubmittedStatement): boolean {
  const publicKey = submitted.keys.find(({ key_id }) => key_id === keyId)?.public_key ?? "";
  return isSubmittedStatementSigned(
    HOST_PRIMITIVES,
    publicKey,
    { scheme: "ed25519", key_id: keyId, signature },
    statement,
  );
}
