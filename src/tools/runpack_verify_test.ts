import assert from "node:assert/strict";
import { join } from "node:path";

import type { NamespaceAnswer, Principal } from "../access/types.ts";
import type { JsonObject } from "../canonical/json.ts";
import { sha256 } from "../evidence/host_primitives.ts";
import { SchemaSandboxError } from "../evidence/sandbox/schema_sandbox.ts";
import { openLocalRepository } from "../runpack/host/local_repository.ts";
import { repositoryFolder } from "../runpack/host/open_publisher.ts";
import { createPublisher } from "../runpack/host/publish.ts";
import { type Repository, RepositoryError } from "../runpack/host/repository.ts";
import { identifyBytes } from "../canonical/identity.ts";
import { CLAIM_NAMES } from "../runpack/verify/claims.ts";
import type { VerificationRequest } from "../runpack/verify/types.ts";
import { identityOf as runpackIdentityOf, type MemoryPack, packOf } from "../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../tests/simulation/runpack/run.ts";
import { type Bench, REMOTE, startRun, testConfig, withTools } from "./tests/tools_fixture.ts";
import { verifyPack } from "./packs/verify_pack.ts";
import { createTools } from "./table.ts";
import type { ToolAnswer } from "./framework/types.ts";

interface Scene {
  readonly bench: Bench;
  readonly dataDir: string;
  readonly identity: string;
}

/** A remote caller that may verify runpacks of namespace 7. */
const READER: Principal = {
  ...REMOTE,
  roles: [{ name: "NamespaceReader", tenant_id: null, namespace_id: 7 }],
};

const ADMITTED: Principal = { ...READER, roles: [{ name: "NamespaceReader", tenant_id: null, namespace_id: 2 }] };

/** Runs a test with an exported run of namespace 2; with `roles`, roles are in force after the export. */
async function withPack(
  test: (scene: Scene) => Promise<void>,
  roles: boolean = false,
  judged: SchemaSandboxError | null = null,
  mirror: (() => Promise<Repository>) | null = null,
): Promise<void> {
  const dataDir = await Deno.makeTempDir();
  const open = testConfig();
  const principals = [{ subject: READER.subject, policy_class: null, roles: READER.roles }];
  const auth = { mode: "local_only", bearer_tokens: [], mtls_subjects: [], allowed_tools: null, principals };
  let config = open;
  try {
    await withTools(async (bench) => {
      const started = await startRun(bench);
      const { namespace_id, run_id } = started.run;
      const { publication } = await bench.call("runpack_export", { namespace_id, run_id });
      const { runpack_identity } = publication as { runpack_identity: string };
      if (roles) config = { ...open, server: { ...open.server, auth } as unknown as typeof open.server };
      await test({ bench, dataDir, identity: runpack_identity });
    }, {
      change: (services) => {
        const local = openLocalRepository(repositoryFolder(dataDir));
        const publisher = createPublisher({ sha256, runs: services.runs, local, mirror, signer: null });
        const { environment } = services;
        const schemaSandbox = judged === null
          ? services.schemaSandbox
          : { ...services.schemaSandbox, validate: () => Promise.reject(judged) };
        return {
          ...services,
          environment,
          schemaSandbox,
          dataDir,
          publisher: () => Promise.resolve(publisher),
          get config(): typeof open {
            return config;
          },
        };
      },
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function report(bench: Bench, input: JsonObject): Promise<JsonObject> {
  return (await bench.call("runpack_verify", input))["report"] as JsonObject;
}

function statusOf(of: JsonObject, claim: string): JsonObject {
  const claims = of["claims"] as { claim: string; status: JsonObject }[];
  return claims.find((entry) => entry.claim === claim)?.status ?? {};
}

Deno.test("runpack_verify reports every claim in the order of the contract, with the profile of integrity by default", () =>
  withPack(async ({ bench, identity }) => {
    const plain = await report(bench, { runpack_identity: identity });
    assert.equal(plain["profile"], "integrity_only_v1");
    assert.deepEqual((plain["claims"] as { claim: string }[]).map(({ claim }) => claim), CLAIM_NAMES);
    assert.deepEqual(statusOf(plain, "pure_semantic_replay"), { status: "not_requested" });
    const whole = await report(bench, { runpack_identity: identity, profile: "full_replay_v1", budget: null });
    assert.deepEqual(statusOf(whole, "pure_semantic_replay"), { status: "satisfied", method: "semantic_replay_v6" });
    assert.equal(whole["runpack_identity"], identity);
    assert.deepEqual(await report(bench, { runpack_identity: identity, profile: "full_replay_v1" }), whole);
  }));

Deno.test("runpack_verify keeps to a budget, and rejects an invalid one", () =>
  withPack(async ({ bench, identity }) => {
    const short = await report(bench, { runpack_identity: identity, budget: { objects: 1 } });
    assert.deepEqual(statusOf(short, "artifact_tree_integrity"), { status: "unavailable", reason: "budget_exhausted" });
    for (const budget of [{ objects: -1 }, { objects: 0.5 }, { minutes: 1 }, 1]) {
      const error = await bench.fail("runpack_verify", { runpack_identity: identity, budget } as JsonObject);
      assert.equal(error.code, "invalid_input");
    }
  }));

Deno.test("runpack_verify reports a change in the repository", () =>
  withPack(async ({ bench, dataDir, identity }) => {
    const folder = join(repositoryFolder(dataDir), "objects");
    const [name] = [...Deno.readDirSync(folder)].map((entry) => entry.name);
    const [object] = [...Deno.readDirSync(join(folder, name ?? ""))].map((entry) => entry.name);
    await Deno.remove(join(folder, name ?? "", object ?? ""));
    const broken = await report(bench, { runpack_identity: identity, profile: "full_replay_v1" });
    assert.equal(statusOf(broken, "artifact_tree_integrity")["status"], "violated");
    assert.equal(statusOf(broken, "pure_semantic_replay")["reason"], "material_not_intact");
  }));

Deno.test("runpack_verify gives the same answer for a missing and for a hidden runpack", () =>
  withPack(async ({ bench, identity }) => {
    const missing = "0".repeat(64);
    const unseen = await bench.fail("runpack_verify", { runpack_identity: identity }, READER);
    const absent = await bench.fail("runpack_verify", { runpack_identity: missing }, READER);
    assert.equal(unseen.code, "runpack_not_found");
    assert.equal(unseen.kind, "not_found");
    assert.equal(JSON.stringify(unseen).replaceAll(identity, missing), JSON.stringify(absent));
    await bench.call("runpack_verify", { runpack_identity: identity }, ADMITTED);
  }, true));

Deno.test("runpack_verify names the namespace authority, if any, for a runpack that it does not show", () =>
  withPack(async ({ bench, identity }) => {
    const missing = "0".repeat(64);
    for (const verdict of ["unavailable", "refused", "granted"] as const) {
      const ask = (): Promise<NamespaceAnswer> => Promise.resolve({ verdict, reason: "authority_tested" });
      const tools = createTools({ ...bench.services, namespaces: { ask, close: () => undefined } });
      const call = { principal: ADMITTED, signal: new AbortController().signal, correlationId: null };
      const answerTo = async (runpack_identity: string): Promise<ToolAnswer | undefined> =>
        await tools.get("runpack_verify")?.handle({ runpack_identity }, call);
      const absent = await answerTo(missing);
      assert.match(
        JSON.stringify(absent),
        /not exported here, or its namespace authority .*wait a moment and call again/,
      );
      const there = await answerTo(identity);
      if (verdict === "granted") assert.ok(there?.ok === true);
      else assert.equal(JSON.stringify(there).replaceAll(identity, missing), JSON.stringify(absent));
    }
  }, true));

Deno.test("runpack_verify hides a manifest with another identity from remote callers", () =>
  withPack(async ({ bench, dataDir, identity }) => {
    const other = runpackIdentityOf(await packOf(playGoldenRun()));
    const manifests = join(repositoryFolder(dataDir), "manifests");
    await Deno.copyFile(join(manifests, `${identity}.json`), join(manifests, `${other}.json`));
    assert.equal((await bench.fail("runpack_verify", { runpack_identity: other }, REMOTE)).code, "runpack_not_found");
    const shown = await report(bench, { runpack_identity: other });
    assert.equal(statusOf(shown, "runpack_subject_identity")["reason"], "identity_mismatch");
  }));

async function putPack(dataDir: string, pack: MemoryPack): Promise<string> {
  const repository = openLocalRepository(repositoryFolder(dataDir));
  for (const [identity, bytes] of pack.objects) {
    assert.equal(identifyBytes(sha256, "object", bytes), identity);
    await repository.putObject({ identity, bytes: bytes as Uint8Array<ArrayBuffer> });
  }
  const identity = runpackIdentityOf(pack);
  await repository.putManifest(identity, pack.manifest);
  return identity;
}

// Why a JSON Schema gave no verdict, and the error of the tool; null: a report.
/** A test on a server that lost its runpacks, with a mirror that can be down. */
async function withMirror(
  test: (scene: Scene, mirror: { folder: string; isDown: boolean }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const mirror = { folder, isDown: false };
  const repository = openLocalRepository(folder);
  try {
    await withPack(
      async (scene) => {
        await Deno.remove(repositoryFolder(scene.dataDir), { recursive: true });
        await test(scene, mirror);
      },
      true,
      null,
      () => mirror.isDown ? Promise.reject(new RepositoryError("unavailable", "down")) : Promise.resolve(repository),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("runpack_verify fetches a runpack of another server from the mirror, for callers that may see it", () =>
  withMirror(async ({ bench, dataDir, identity }) => {
    const input = { runpack_identity: identity, profile: "full_replay_v1" };
    const hidden = await bench.fail("runpack_verify", input, READER);
    assert.equal(hidden.code, "runpack_not_found");
    await assert.rejects(Deno.stat(repositoryFolder(dataDir)), Deno.errors.NotFound);
    const { report } = await bench.call("runpack_verify", input, ADMITTED);
    assert.equal(statusOf(report as JsonObject, "pure_semantic_replay")["status"], "satisfied");
    assert.ok((await Deno.stat(repositoryFolder(dataDir))).isDirectory);
    const missing = await bench.fail("runpack_verify", { runpack_identity: "0".repeat(64) }, ADMITTED);
    assert.equal(missing.code, "runpack_not_found");
  }));

Deno.test("runpack_verify answers the same for a missing and for a hidden runpack while the mirror is down", () =>
  withMirror(async ({ bench, dataDir, identity }, mirror) => {
    const missing = "0".repeat(64);
    await bench.call("runpack_verify", { runpack_identity: identity }, ADMITTED);
    assert.ok((await Deno.stat(repositoryFolder(dataDir))).isDirectory);
    for (const [isDown, code] of [[false, "runpack_not_found"], [true, "store_unavailable"]] as const) {
      mirror.isDown = isDown;
      const unseen = await bench.fail("runpack_verify", { runpack_identity: identity }, READER);
      const absent = await bench.fail("runpack_verify", { runpack_identity: missing }, READER);
      assert.equal(unseen.code, code);
      assert.equal(JSON.stringify(unseen).replaceAll(identity, missing), JSON.stringify(absent));
      await bench.call("runpack_verify", { runpack_identity: identity }, ADMITTED);
    }
  }));

Deno.test("runpack_verify takes the same least time for a missing and for a hidden runpack", () =>
  withPack(async ({ bench, identity }) => {
    const tool = bench.tools.get("runpack_verify") ?? assert.fail();
    const call = { principal: READER, signal: new AbortController().signal, correlationId: null };
    for (const runpack_identity of [identity, "0".repeat(64)]) {
      let least = Infinity;
      for (let round = 0; round < 5; round++) {
        const begun = performance.now();
        const answer = await tool.handle({ runpack_identity }, call);
        least = Math.min(least, performance.now() - begun);
        assert.equal(!answer.ok && answer.error.code, "runpack_not_found");
      }
      // A timer may fire a millisecond early.
      assert.ok(least >= 24, `${least} ms`);
    }
  }, true));

Deno.test("runpack_verify says that the mirror is down, and reports damage there", () =>
  withMirror(async ({ bench, identity }, mirror) => {
    const input = { runpack_identity: identity };
    mirror.isDown = true;
    const down = await bench.fail("runpack_verify", input, ADMITTED);
    assert.deepEqual([down.code, down.retryable], ["store_unavailable", true]);
    mirror.isDown = false;
    await Deno.remove(join(mirror.folder, "objects"), { recursive: true });
    assert.equal((await bench.fail("runpack_verify", input, ADMITTED)).code, "store_corrupt");
  }));

const UNJUDGED = [
  ["deadline_exceeded", "schema_deadline_exceeded"],
  ["overloaded", "schema_worker_unavailable"],
  ["schema_refused", null],
] as const;

for (const [why, code] of UNJUDGED) {
  Deno.test(`runpack_verify of a runpack whose JSON Schema gave no verdict, ${why}: ${code ?? "a report"}`, () =>
    withPack(
      async ({ bench, dataDir }) => {
        const runpack_identity = await putPack(dataDir, await packOf(playGoldenRun()));
        const asked = { runpack_identity, profile: "full_replay_v1" };
        if (code !== null) assert.equal((await bench.fail("runpack_verify", asked)).code, code);
        else assert.deepEqual((await report(bench, asked))["assumptions"], ["json_schema_verdict_as_recorded"]);
        await report(bench, { runpack_identity });
      },
      false,
      new SchemaSandboxError(why, "Cannot run the JSON Schema"),
    ));
}

Deno.test("verifyPack() lets other tasks run after every 64 records of a long run", () =>
  withPack(async ({ dataDir }) => {
    const pack = await packOf(playGoldenRun(4000));
    await putPack(dataDir, pack);
    const request: VerificationRequest = {
      runpack_identity: runpackIdentityOf(pack),
      profile: "full_replay_v1",
      budget: null,
      trusted_keys: null,
      signatures: [],
    };
    let pauses = 0;
    const pause = (): Promise<void> => Promise.resolve(void pauses++);
    const { claims } = await verifyPack(repositoryFolder(dataDir), request, () => Promise.resolve("valid"), pause);
    assert.equal(claims.find(({ claim }) => claim === "accepted_history_continuity")?.status.status, "satisfied");
    assert.ok(pauses >= 62, `${pauses} pauses`);
  }));
