import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { condition, id } from "@/tools/tests/tools_fixture.ts";
import {
  acquiredCondition,
  binding,
  evaluate,
  type Gate,
  oneStage,
  type OpenRun,
  serveGate,
  startGate,
} from "./acquisition_serve.ts";
import { gate as gateCommand, inFolder, STORES } from "../gate_command.ts";
import { PARAMETER_LAW } from "../cli/run_command_fixture.ts";

const CONFIG = `${STORES}
[[providers]]
name = "http"
type = "builtin"
config = { allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"] }
`;

const text = (minimum_bytes: number): JsonObject => ({ domain: "String", minimum_bytes, maximum_bytes: 64 });

/** One law for every release: the tag is that of the version, the checks of the commit passed. */
function releaseLaw(port: number): JsonObject {
  const law = oneStage([
    condition("tag", text(0), { predicate: "Equals", expected: { parameter: "version" } }),
    acquiredCondition("checks", { domain: "Integer" }, {
      predicate: "Equals",
      expected: { value: 200, value_type: "Integer" },
    }),
  ], [
    binding("ci", "checks", "http", "status", {
      url: { $template: `http://127.0.0.1:${port}/commits/{commit}/status` },
    }),
  ]);
  return {
    ...law,
    parameters: [{ parameter_id: "version", domain: text(1) }, { parameter_id: "commit", domain: text(0) }],
  };
}

/** A service that answers 200 for one commit, and keeps the paths that it was asked for. */
function ciService(): { readonly port: number; readonly asked: string[] } & AsyncDisposable {
  const asked: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    return new Response(null, { status: pathname === "/commits/0af3/status" ? 200 : 404 });
  });
  return { port: server.addr.port, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

function genesis(version: string, commit: string): JsonObject {
  const values = Object.entries({ version, commit });
  return {
    kind: "parameters",
    parameters: values.map(([parameter_id, value]) => ({ parameter_id, value: { value, value_type: "String" } })),
  };
}

async function startWith(gate: Gate, law: string, number: number, given: JsonObject): ReturnType<Gate["decide"]> {
  return await gate.decide("scenario_start", {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: law,
    creation_request_id: id(number),
    correlation: { kind: "unset" },
    genesis: given,
  });
}

async function open(gate: Gate, law: string, number: number, given: JsonObject): Promise<OpenRun> {
  const { outcome, result } = await startWith(gate, law, number, given);
  assert.equal(outcome, "accepted", JSON.stringify(result));
  const run = {
    namespace_id: 2,
    scenario_id: "release",
    run_id: (result["run_key"] as JsonObject)["run_id"] as string,
  };
  const opened = await gate.decide("scenario_open_stage", {
    ...run,
    stage_id: "release",
    expected_head: result["head"] as JsonObject,
    operation_id: id(1),
  });
  assert.equal(opened.outcome, "accepted");
  return { run, law, head: opened.result["accepted_head"] as JsonObject, operations: 1 };
}

const tagged = (value: string): JsonObject => ({
  caller_evidence: [{
    condition_id: "tag",
    retention: { retention: "RetainCanonicalValue" },
    value: { value, value_type: "String" },
  }],
});

const outcomeOf = ({ result }: Awaited<ReturnType<typeof evaluate>>): JsonValue | undefined =>
  (result["attempt"] as JsonObject | undefined)?.["outcome"];

async function defineRelease(gate: Gate, port: number): Promise<string> {
  const defined = await gate.call("scenario_define", { spec: releaseLaw(port) });
  assert.ok("scenario_law_identity" in defined, JSON.stringify(defined));
  return defined["scenario_law_identity"] as string;
}

Deno.test("two runs of one law ask for their own commit, also after a restart", () =>
  inFolder(async (folder) => {
    await using ci = ciService();
    let runs: OpenRun[] = [];
    {
      await using gate = await serveGate(folder, CONFIG);
      const law = await defineRelease(gate, ci.port);
      runs = [await open(gate, law, 1, genesis("v1", "0af3")), await open(gate, law, 2, genesis("v2", "beef"))];
      for (const run of runs) assert.equal(outcomeOf(await evaluate(gate, run, tagged("v0"))), "false");
      assert.deepEqual(ci.asked, ["/commits/0af3/status", "/commits/beef/status"]);
    }
    await using gate = await startGate(folder);
    const [good, other] = runs as [OpenRun, OpenRun];
    assert.equal(outcomeOf(await evaluate(gate, other, tagged("v2"))), "false", "the checks of the other commit");
    assert.equal(outcomeOf(await evaluate(gate, good, tagged("v2"))), "false", "the version of the other run");
    assert.equal(outcomeOf(await evaluate(gate, good, tagged("v1"))), "true");
    assert.deepEqual(ci.asked.slice(2), [
      "/commits/beef/status",
      "/commits/0af3/status",
      "/commits/0af3/status",
    ]);
    const status = await gate.call("scenario_status", { ...good.run, include: ["parameters"] });
    assert.deepEqual(status["parameters"], [
      { parameter_id: "commit", value: { value: "0af3", value_type: "String" } },
      { parameter_id: "version", value: { value: "v1", value_type: "String" } },
    ]);
    const { records } = await gate.call("scenario_history", good.run) as unknown as { records: JsonObject[] };
    const said = JSON.stringify(records.at(-1));
    const url = `http://127.0.0.1:${ci.port}/commits/0af3/status`;
    assert.ok(said.includes(`"params":{"url":"${url}"}`), "the witness has the resolved params");
    assert.ok(said.includes(JSON.stringify(JSON.stringify({ url })).slice(1, -1)), "the anchor has the resolved URL");
  }));

Deno.test("no value of a parameter leaves the path that the law gives it", () =>
  inFolder(async (folder) => {
    await using ci = ciService();
    await using gate = await serveGate(folder, CONFIG);
    const law = await defineRelease(gate, ci.port);
    for (const [number, commit] of ["", ".", ".."].entries()) {
      const { outcome, result } = await startWith(gate, law, 10 + number, genesis("v1", commit));
      assert.equal(outcome, "genesis_rejected", commit);
      assert.deepEqual((result["faults"] as JsonObject[]).map(({ code }) => code), ["template_value_invalid"]);
    }
    const rows: readonly [commit: string, path: string][] = [
      ["../0af3", "/commits/..%2F0af3/status"],
      ["0af3/status?x=", "/commits/0af3%2Fstatus%3Fx%3D/status"],
      ["0af3#", "/commits/0af3%23/status"],
      ["%2e%2e", "/commits/%252e%252e/status"],
      ["\\..\\0af3", "/commits/%5C..%5C0af3/status"],
      ["@127.0.0.2", "/commits/%40127.0.0.2/status"],
      ["ä\n", "/commits/%C3%A4%0A/status"],
    ];
    for (const [index, [commit, path]] of rows.entries()) {
      const run = await open(gate, law, 20 + index, genesis("v1", commit));
      assert.equal(outcomeOf(await evaluate(gate, run, tagged("v1"))), "false", commit);
      assert.equal(ci.asked.at(-1), path, commit);
    }
  }));

Deno.test("a runpack of a run with parameters is verified and admitted with exactly these", () =>
  inFolder(async (folder) => {
    await using ci = ciService();
    const run = await (async () => {
      await using gate = await serveGate(folder, CONFIG);
      const opened = await open(gate, await defineRelease(gate, ci.port), 1, genesis("v1", "0af3"));
      assert.equal(outcomeOf(await evaluate(gate, opened, tagged("v1"))), "true");
      return opened;
    })();
    const config = ["--config", "gate.toml"];
    const runId = run.run["run_id"] as string;
    const explained = await gateCommand(folder, "explain", runId, ...config);
    assert.match(explained.stdout, /^Parameters commit="0af3", version="v1"$/m);
    const names = ["--namespace", "2", "--run", runId, "--out", "release"];
    const exported = await gateCommand(folder, "runpack", "export", ...names, ...config);
    assert.equal(exported.code, 0, exported.stderr);
    const verified = await gateCommand(folder, "runpack", "verify", "release");
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    assert.match(verified.stdout, /^Complete; law [0-9a-f]{64}; parameters commit = "0af3", version = "v1"$/m);
    const shown = await gateCommand(folder, "runpack", "show", "release");
    assert.match(shown.stdout, /commit="0af3"/);
    const admit = async (...given: string[]): Promise<number> => {
      const named = given.flatMap((one) => ["--parameter", one]);
      const law = ["--law", run.law, "--origin-unchecked"];
      return (await gateCommand(folder, "runpack", "admit", "release", ...law, ...named)).code;
    };
    assert.equal(await admit("commit=0af3", "version=v1"), 0);
    assert.equal(await admit("commit=beef", "version=v1"), 6);
  }));

Deno.test("gate scenario check, explain: name the parameter that nothing uses", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/law.yaml`, PARAMETER_LAW);
    const checked = JSON.parse((await gateCommand(folder, "scenario", "check", "law.yaml", "--json")).stdout);
    assert.ok(
      JSON.stringify(checked).includes('"code":"parameter_unused","path":"$.parameters[1]"'),
      JSON.stringify(checked),
    );
    assert.ok(!JSON.stringify(checked).includes("$.parameters[0]"));
    const explained = await gateCommand(folder, "scenario", "explain", "law.yaml");
    assert.match(
      explained.stdout,
      /- build: integer; not used, so its value ties no evidence to it\n- version: [^;]*\n/,
    );
    const json = JSON.parse((await gateCommand(folder, "scenario", "explain", "law.yaml", "--json")).stdout);
    assert.deepEqual(json.result.parameters, [
      { parameter_id: "build", needs: "integer", unused: true },
      { parameter_id: "version", needs: "text(1..8)" },
    ]);
  }));
