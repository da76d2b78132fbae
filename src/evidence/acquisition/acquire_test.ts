import assert from "node:assert/strict";
import { until } from "../../../tests/until.ts";
import fc from "../../../tests/packages/fast_check.ts";
import {
  acquisitionOf,
  answered,
  type Behaviour,
  found,
  NOTHING,
  testProvider,
} from "../../../tests/simulation/acquisition_fixture.ts";
import {
  accepted,
  ATTEMPT,
  createCommand,
  environmentWith,
  evaluateCommand,
  NOW,
  oneConditionLaw,
  openCommand,
  stampsAt,
} from "../../../tests/simulation/kernel/fixture.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { ObservationDomain } from "../../law/value/types.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { decide } from "../../run/decide/decide.ts";
import type { PresentedEvidence } from "../../run/evidence.ts";
import { createSchemaSandbox, type SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import type { CheckContract, EvidenceResult, OperationalCode, ProviderAnswer } from "../types.ts";
import { QUESTIONS_AT_ONCE } from "./acquire.ts";
import { measureValue } from "./present.ts";

const LAW = oneConditionLaw();

async function withSchemas(test: (schemas: SchemaSandbox) => Promise<void>): Promise<void> {
  const schemas = createSchemaSandbox({ deadlineMillis: 1500 });
  try {
    await test(schemas);
  } finally {
    schemas.close();
  }
}

/** Acquires a provider's answer by the binding `scan-1`. */
async function acquireOne(
  schemas: SchemaSandbox,
  answer: ProviderAnswer | Behaviour,
  options: { readonly law?: CompiledLaw; readonly check?: Partial<CheckContract>; readonly maximum?: number } = {},
): Promise<PresentedEvidence | string> {
  const law = options.law ?? LAW;
  const behaviour: Behaviour = typeof answer === "function" ? answer : () => answer;
  const { acquirer, request } = acquisitionOf(law, [testProvider("scanner", behaviour, options.check)], schemas);
  const { acquired, failures } = await acquirer.acquire({
    ...request,
    bindings: request.bindings.filter(({ binding }) => binding.binding_id === "scan-1"),
    maximumValueBytes: options.maximum ?? request.maximumValueBytes,
  });
  assert.equal(acquired.length + failures.length, 1);
  return acquired[0] ?? failures[0]?.code ?? "";
}

function summary(item: PresentedEvidence | string): JsonValue {
  if (typeof item === "string") return item;
  if (item.error !== undefined) return `observed ${item.error.code}`;
  return item.value === null ? "found nothing" : item.value.value;
}

const JSON_DOMAIN = { domain: "Json", maximum_bytes: 100 } as const;

/** Name, provider's result, domain of the condition, outcome. */
const FITS: readonly [string, EvidenceResult, ObservationDomain, JsonValue][] = [
  ["an integer", found(3), { domain: "Integer" }, 3],
  ["an integer as a decimal", found(3), { domain: "Decimal" }, "3"],
  ["a number as a decimal", found(0.1), { domain: "Decimal" }, "0.1"],
  [
    "a hash object as a digest",
    found({ algorithm: "sha256", value: "0".repeat(64) }),
    { domain: "Digest", algorithm: "sha256" },
    "0".repeat(64),
  ],
  ["anything as Json", found({ a: [null] }), JSON_DOMAIN, { a: [null] }],
  ["JSON null is present", found(null), JSON_DOMAIN, null],
  ["no value is found nothing", NOTHING, JSON_DOMAIN, "found nothing"],
  ["no value is found nothing in any domain", NOTHING, { domain: "Integer" }, "found nothing"],
  ["JSON null is no integer", found(null), { domain: "Integer" }, "observed domain_mismatch"],
  ["text is no integer", found("3"), { domain: "Integer" }, "observed domain_mismatch"],
  ["a number beyond the bounds", found(9), { domain: "Integer", maximum: 8 }, "observed domain_mismatch"],
  ["Json beyond its bytes", found("x".repeat(99)), JSON_DOMAIN, "observed domain_mismatch"],
  [
    "bytes are of no domain",
    { ...NOTHING, value: { kind: "bytes", base64: "AAEC" } },
    JSON_DOMAIN,
    "observed domain_mismatch",
  ],
  ["an error stays an error", { ...NOTHING, error: { code: "x", message: "m" } }, JSON_DOMAIN, "observed x"],
];

Deno.test("createAcquirer() fits results into domains", (test) =>
  withSchemas(async (schemas) => {
    for (const [name, result, observation_domain, expected] of FITS) {
      await test.step(name, async () => {
        const change = observation_domain.domain === "Integer" ? {} : { predicate: { predicate: "Exists" } };
        const law = oneConditionLaw({}, { observation_domain, ...change });
        assert.deepEqual(summary(await acquireOne(schemas, answered(result), { law })), expected);
      });
    }
  }));

const ANCHOR = { anchor_type: "report", anchor_value: "{}" };

/** Name, contract of the check, result, outcome. */
const CONTRACTS: readonly [string, Partial<CheckContract>, EvidenceResult, JsonValue][] = [
  ["a result within the schema", { result_schema: { type: "integer" } }, found(3), 3],
  ["a result outside of it", { result_schema: { maximum: 2 } }, found(3), "observed result_schema_mismatch"],
  ["nothing found where that can be", { result_schema: { type: ["integer", "null"] } }, NOTHING, "found nothing"],
  [
    "nothing found where that cannot be",
    { result_schema: { type: "integer" } },
    NOTHING,
    "observed result_schema_mismatch",
  ],
  ["a declared content type", { content_types: ["application/json"] }, found(3), 3],
  [
    "its parameters and case do not matter",
    { content_types: ["application/json"] },
    found(3, { content_type: "Application/JSON; charset=utf-8" }),
    3,
  ],
  [
    "another content type",
    { content_types: ["application/json"] },
    found(3, { content_type: "text/plain" }),
    "observed content_type_mismatch",
  ],
  ["a declared anchor", { anchor_types: ["report"] }, found(3, { evidence_anchor: ANCHOR }), 3],
  ["another anchor", { anchor_types: ["url"] }, found(3, { evidence_anchor: ANCHOR }), "observed anchor_invalid"],
  [
    "a schema without a verdict",
    { result_schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } } },
    found(3),
    "schema_validator_failed",
  ],
  ["a check that is gone", { check_id: "other" }, found(3), "contract_changed"],
];

Deno.test("createAcquirer() checks results against the contract", (test) =>
  withSchemas(async (schemas) => {
    for (const [name, check, result, expected] of CONTRACTS) {
      await test.step(name, async () => {
        assert.deepEqual(summary(await acquireOne(schemas, answered(result), { check })), expected);
      });
    }
  }));

Deno.test("createAcquirer() accepts values up to the limit", (test) =>
  withSchemas(async (schemas) => {
    const law = oneConditionLaw({}, {
      observation_domain: { domain: "Json", maximum_bytes: 1000 },
      predicate: { predicate: "Exists" },
    });
    for (const [bytes, expected] of [[99, "value"], [100, "value"], [101, "response_too_large"]] as const) {
      await test.step(`${bytes} of 100 bytes: ${expected}`, async () => {
        const item = await acquireOne(schemas, answered(found("x".repeat(bytes - 2))), { law, maximum: 100 });
        assert.equal(typeof item === "string" ? item : "value", expected);
      });
    }
  }));

const OPERATIONAL: readonly OperationalCode[] = [
  "timeout",
  "dns_failed",
  "tls_failed",
  "server_certificate_untrusted",
  "server_certificate_name_mismatch",
  "client_certificate_missing",
  "client_certificate_untrusted",
  "destination_refused",
  "destination_blocked",
  "connection_failed",
  "response_truncated",
  "response_too_large",
  "worker_died",
  "provider_unreachable",
  "provider_protocol_error",
  "credential_unavailable",
  "credential_locator_refused",
  "host_not_allowed",
  "cancelled",
];

Deno.test("createAcquirer() returns every operational failure with its binding", () =>
  withSchemas(async (schemas) => {
    for (const code of OPERATIONAL) {
      const gone = code === "cancelled" ? AbortSignal.abort() : new AbortController().signal;
      const provider = testProvider("scanner", () => ({ ok: false, code, message: "no", retryable: true }));
      const { acquirer, request } = acquisitionOf(LAW, [provider], schemas, { signal: gone });
      const { acquired, failures } = await acquirer.acquire(request);
      assert.deepEqual(acquired, []);
      assert.deepEqual(failures.map((failure) => [failure.binding_id, failure.code]), [["scan-1", code], [
        "scan-2",
        code,
      ]]);
    }
  }));

Deno.test("createAcquirer() does not query a provider with another contract or an unknown one", () =>
  withSchemas(async (schemas) => {
    let asked = 0;
    const provider = testProvider("scanner", () => {
      asked++;
      return answered(found(3));
    });
    const { acquirer, request } = acquisitionOf(LAW, [provider], schemas);
    for (const boundContracts of [new Map(), new Map([["scanner", "0".repeat(64)]])]) {
      const { failures } = await acquirer.acquire({ ...request, boundContracts });
      assert.deepEqual(failures.map(({ code }) => code), ["contract_changed", "contract_changed"]);
    }
    const without = acquisitionOf(LAW, [], schemas);
    const { failures } = await without.acquirer.acquire(request);
    assert.deepEqual(failures.map(({ code }) => code), ["provider_not_configured", "provider_not_configured"]);
    assert.equal(asked, 0);
  }));

Deno.test("createAcquirer() records the whole witness, with hashes in place of the value", () =>
  withSchemas(async (schemas) => {
    const law = oneConditionLaw({}, { observation_domain: { domain: "Decimal" }, predicate: { predicate: "Exists" } });
    const result = found(0.5, { evidence_ref: { uri: "a:b" }, lane: "asserted", observed_at: 5 });
    const item = await acquireOne(schemas, answered(result, 77), { law });
    assert.ok(typeof item !== "string");
    const { content_hash } = measureValue({ kind: "json", value: 0.5 });
    const provider = testProvider("scanner", () => answered(result));
    assert.deepEqual(item.acquisition, {
      binding_id: "scan-1",
      provider_id: "scanner",
      check_id: "read",
      contract_identity: provider.loaded.contract_identity,
      trigger_time: { kind: "unix_millis", value: NOW - 20 },
      acquired_at: 77,
      lane: "asserted",
      evidence_ref: "a:b",
      content_type: "application/json",
      provider_result: {
        ...NOTHING,
        value: { kind: "json", content_hash, value_identity: item.value_identity },
        lane: "asserted",
        evidence_ref: { uri: "a:b" },
        content_type: "application/json",
        observed_at: 5,
      },
      grant: { kind: "test" },
    });
    assert.deepEqual([item.item_id, item.observed_at, item.lane, item.hash_recomputes], [
      "binding:scan-1",
      5,
      "asserted",
      true,
    ]);
    assert.notDeepEqual(item.content_hash, content_hash);
  }));

Deno.test("createAcquirer() reports whether the source's own hash is correct", () =>
  withSchemas(async (schemas) => {
    const right = measureValue({ kind: "json", value: 3 }).content_hash;
    const wrong = { algorithm: "sha256", value: "0".repeat(64) } as const;
    for (const [evidence_hash, expected] of [[null, true], [right, true], [wrong, false]] as const) {
      const item = await acquireOne(schemas, answered(found(3, { evidence_hash })));
      assert.equal(typeof item !== "string" && item.hash_recomputes, expected);
    }
    const nothing = await acquireOne(schemas, answered({ ...NOTHING, evidence_hash: right }));
    assert.equal(typeof nothing !== "string" && nothing.hash_recomputes, false);
  }));

Deno.test("createAcquirer() queries with the caller's trigger time if it has one, and records this", () =>
  withSchemas(async (schemas) => {
    const times: unknown[] = [];
    const provider = testProvider("scanner", (_query, { trigger_time }) => {
      times.push(trigger_time);
      return answered(found(3));
    });
    const { acquirer, request } = acquisitionOf(LAW, [provider], schemas);
    const given = { kind: "logical", value: 9 } as const;
    const bindings = request.bindings.map((one) =>
      one.binding.binding_id === "scan-2" ? { ...one, trigger_time: given } : one
    );
    const { acquired } = await acquirer.acquire({ ...request, bindings });
    assert.deepEqual(times, [{ kind: "unix_millis", value: NOW - 20 }, given]);
    assert.deepEqual(acquired.map(({ acquisition }) => acquisition?.trigger_time_given), [undefined, true]);
  }));

Deno.test("createAcquirer() queries each binding once, with limited concurrency", () =>
  withSchemas(async (schemas) => {
    let running = 0;
    let most = 0;
    let asked = 0;
    const provider = testProvider("scanner", async () => {
      asked++;
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return answered(found(3));
    });
    const { acquirer, request } = acquisitionOf(LAW, [provider], schemas);
    await Promise.all(Array.from({ length: 100 }, () => acquirer.acquire(request)));
    assert.deepEqual([asked, most, running], [200, QUESTIONS_AT_ONCE, 0]);
  }));

Deno.test("createAcquirer() queries for waiting callers in turns", () =>
  withSchemas(async (schemas) => {
    const asked: string[] = [];
    const finish: (() => void)[] = [];
    const provider = testProvider("scanner", (_query, { operation_id }) => {
      asked.push(operation_id ?? "");
      return new Promise((resolve) => finish.push(() => resolve(answered(found(3)))));
    });
    const { acquirer, request } = acquisitionOf(LAW, [provider], schemas);
    const ask = (caller: string): Promise<unknown> =>
      acquirer.acquire({ ...request, caller, context: { ...request.context, operation_id: caller } });
    const flood = Array.from({ length: 100 }, () => ask("first"));
    const others = [ask("second"), ask("third")];
    const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
    for (await tick(); finish.length > 0; await tick()) finish.splice(0, 1).forEach((one) => one());
    await Promise.all([...flood, ...others]);
    assert.equal(asked.length, 204);
    assert.deepEqual(asked.slice(QUESTIONS_AT_ONCE, QUESTIONS_AT_ONCE + 8), [
      ...["first", "second", "third"],
      ...["first", "second", "third"],
      ...["first", "first"],
    ]);
  }));

Deno.test("createAcquirer() does not query for a caller that disconnected while waiting", () =>
  withSchemas(async (schemas) => {
    let asked = 0;
    const provider = testProvider("scanner", (_query, _context, signal) => {
      asked++;
      return new Promise((resolve) => {
        const gone = (): void => resolve({ ok: false, code: "cancelled", message: "gone", retryable: false });
        if (signal.aborted) gone();
        signal.addEventListener("abort", gone);
      });
    });
    const { acquirer, request } = acquisitionOf(LAW, [provider], schemas);
    const controller = new AbortController();
    const calls = Array.from({ length: 50 }, () => acquirer.acquire({ ...request, signal: controller.signal }));
    await until("all that fit in are asked", () => asked === QUESTIONS_AT_ONCE);
    controller.abort();
    const codes = (await Promise.all(calls)).flatMap(({ failures }) => failures.map(({ code }) => code));
    assert.deepEqual(new Set(codes), new Set(["cancelled"]));
    assert.equal(asked, QUESTIONS_AT_ONCE);
  }));

const DOMAIN_SCHEMA = { domain: "Json", maximum_bytes: 1000, schema: { schema_id: "release", version: "1" } } as const;

Deno.test("createAcquirer() returns the verdict of the condition's own schema", () =>
  withSchemas(async (schemas) => {
    const law = oneConditionLaw({}, { observation_domain: DOMAIN_SCHEMA, predicate: { predicate: "Exists" } });
    for (const [value, verdict] of [[{ passed: true }, "valid"], [{}, "invalid"]] as const) {
      const provider = testProvider("scanner", () => answered(found(value)));
      const findSchema = () => Promise.resolve({ identity: "i", document: { required: ["passed"] } });
      const { acquirer, request } = acquisitionOf(law, [provider], schemas, { findSchema });
      const { acquired } = await acquirer.acquire(request);
      assert.deepEqual(acquired.map(({ schema_verdict }) => schema_verdict), [verdict, verdict]);
    }
  }));

/** The record of an evaluation with all bindings, whose providers answer after given delays. */
async function recordAfter(schemas: SchemaSandbox, delays: readonly number[]): Promise<string> {
  const environment = environmentWith();
  const created = accepted(decide(LAW, null, createCommand(), stampsAt(NOW - 100), environment));
  const opened = accepted(
    decide(LAW, created.state, openCommand(1, created.state.head, "s"), stampsAt(NOW - 90), environment),
  );
  const names = ["env", "ledger", "scanner", "time"];
  let count = 0;
  const providers = names.map((name) =>
    testProvider(
      name,
      async ({ params }) => {
        const wait = delays[count++ % delays.length] ?? 0;
        for (let turn = 0; turn < wait; turn++) await Promise.resolve();
        return answered(found(JSON.stringify(params).length % 7));
      },
      {},
      name === "env" || name === "time" ? "builtin" : "mcp",
    )
  );
  const { acquirer, request } = acquisitionOf(LAW, providers, schemas);
  const { acquired, failures } = await acquirer.acquire(request);
  assert.equal(failures.length, 0);
  const command = { ...evaluateCommand(2, opened.state.head, ATTEMPT.stage_id), acquired };
  return accepted(decide(LAW, opened.state, command, stampsAt(NOW), environment)).records[0].text;
}

Deno.test("createAcquirer() leads to the same record for any order of answers", () =>
  withSchemas(async (schemas) => {
    const expected = await recordAfter(schemas, [0]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(50), { minLength: 6, maxLength: 6 }), async (delays) => {
        assert.equal(await recordAfter(schemas, delays), expected);
      }),
      { numRuns: 50 },
    );
  }));
