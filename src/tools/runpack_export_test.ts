import assert from "node:assert/strict";
import { join } from "node:path";

import { canonicalize } from "../canonical/canonicalize.ts";
import { identifyCanonical } from "../canonical/identity.ts";
import { type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { sha256 } from "../evidence/host_primitives.ts";
import { openContents } from "../runpack/host/contents.ts";
import { openLocalRepository } from "../runpack/host/local_repository.ts";
import { openPublisher, repositoryFolder } from "../runpack/host/open_publisher.ts";
import { createPublisher, type Publication, type Publisher } from "../runpack/host/publish.ts";
import { RepositoryError } from "../runpack/host/repository.ts";
import { leafHash } from "../runpack/format/merkle.ts";
import { rootOf } from "../runpack/format/merkle_fixture.ts";
import type { Manifest } from "../runpack/format/types.ts";
import { asJson } from "../run/primitives.ts";
import {
  type Bench,
  envelope,
  id,
  REMOTE,
  type StartedRun,
  startRun,
  STORES,
  withTools,
} from "./tests/tools_fixture.ts";
import type { Services } from "./services/services.ts";

interface Scene {
  readonly bench: Bench;
  readonly started: StartedRun;
  readonly dataDir: string;
}

/** Runs a test with a started run and a publisher with a folder of its own. */
async function withRun(
  test: (scene: Scene) => Promise<void>,
  options: {
    readonly store?: typeof STORES[number];
    readonly publisher?: (services: Services, dataDir: string) => Publisher;
  } = {},
): Promise<void> {
  const dataDir = await Deno.makeTempDir();
  const open = options.publisher ??
    (({ runs }: Services): Publisher => openPublisher({ sha256, runs, dataDir, storage: null, signer: null }));
  const change = (services: Services): Services => {
    const publisher = open(services, dataDir);
    return { ...services, publisher: () => Promise.resolve(publisher) };
  };
  try {
    await withTools(async (bench) => await test({ bench, started: await startRun(bench), dataDir }), {
      ...options.store === undefined ? {} : { store: options.store },
      change,
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function exported({ bench, started }: Scene, change: JsonObject = {}, remote = false): Promise<JsonObject> {
  const { namespace_id, run_id } = started.run;
  const input = { namespace_id, run_id, ...change };
  const answer = await bench.call("runpack_export", input, ...remote ? [REMOTE] : []);
  return answer["publication"] as JsonObject;
}

async function manifestOf(dataDir: string, identity: JsonValue | undefined): Promise<Manifest> {
  const contents = await openContents(sha256, openLocalRepository(repositoryFolder(dataDir)), String(identity));
  assert.ok(contents !== null);
  // Reads and checks every object.
  for await (const object of contents.objects()) await object.bytes();
  return contents.decoded;
}

for (const store of STORES) {
  Deno.test(`runpack_export publishes the accepted head, and the same head again with the same identity (${store})`, () =>
    withRun(async (scene) => {
      const first = await exported(scene);
      assert.deepEqual(Object.keys(first), ["outcome", "runpack_identity"]);
      assert.equal(first["outcome"], "published");
      const manifest = await manifestOf(scene.dataDir, first["runpack_identity"]);
      assert.deepEqual(asJson(manifest.head), scene.started.head);
      assert.equal(manifest.scenario_law_identity, scene.started.law);
      assert.deepEqual(await exported(scene), first);
    }, { store }));
}

/**
 * Submits a number of times, each time at the head of the last answer; returns the last head.
 */
async function submitMany(
  { bench, started }: Scene,
  writer: number,
  times: number,
  head: JsonObject,
): Promise<JsonObject> {
  for (let accepted = 0, attempt = 0; accepted < times; attempt++) {
    const answer = await bench.call("scenario_submit", {
      ...started.run,
      expected_head: head,
      operation_id: id(writer * 1_000_000 + attempt + 1),
      content_type: "application/json",
      payload: { kind: "json", value: { writer, attempt } },
      scope: { kind: "run_wide" },
    });
    const { outcome, result } = envelope(answer);
    if (outcome === "accepted") accepted++;
    else assert.equal(outcome, "stale");
    head = (outcome === "accepted" ? result["accepted_head"] : result) as JsonObject;
  }
  return head;
}

Deno.test("runpack_export under eight writers always publishes an accepted prefix", () =>
  withRun(async (scene) => {
    const { bench, started, dataDir } = scene;
    const published = new Map<JsonValue, Manifest>();
    const rounds = 5;
    let head: JsonObject = started.head;
    for (let round = 0; round < rounds; round++) {
      const from = head;
      const writers = Array.from({ length: 8 }, (_, at) => submitMany(scene, round * 8 + at + 1, 8, from));
      const [{ runpack_identity = null }, ...heads] = await Promise.all([exported(scene), ...writers]);
      published.set(runpack_identity, await manifestOf(dataDir, runpack_identity));
      head = heads.reduce((last, next) => Number(next["revision"]) > Number(last["revision"]) ? next : last);
    }
    // Records were accepted between the starts of two exports.
    assert.equal(published.size, rounds);
    const { runs, projections } = bench.services;
    const records = await runs.listRecords(started.run, 0, 1000);
    assert.equal(records.length, 321);
    const leaves = records.map(({ record }) => leafHash(sha256, record));
    for (const manifest of published.values()) {
      const { revision } = manifest.head;
      assert.equal(manifest.head.record_id, records[revision - 1]?.record_id);
      assert.deepEqual(manifest.record_tree, { root: rootOf(sha256, leaves.slice(0, revision)), size: revision });
    }
    const last = await manifestOf(dataDir, (await exported(scene))["runpack_identity"]);
    const state = (await projections.load(started.run))?.state;
    assert.ok(state !== undefined);
    assert.equal(last.state_identity, identifyCanonical(sha256, "run-state", canonicalize(asJson(state))));
  }, { store: "sqlite" }));

const NOWHERE_TO_WRITE = async (dataDir: string): Promise<void> => {
  await Deno.writeTextFile(repositoryFolder(dataDir), "a file");
};

const answering = (publication: Publication): Publisher => ({
  publish: () => Promise.resolve(publication),
  mirrored: () => Promise.resolve(null),
  unready: () => Promise.resolve([]),
});

const mirrorDown = ({ runs }: Services, dataDir: string): Publisher =>
  createPublisher({
    sha256,
    runs,
    local: openLocalRepository(repositoryFolder(dataDir)),
    mirror: () => Promise.reject(new RepositoryError("unavailable", "Cannot write to the bucket")),
    signer: null,
  });

// Every outcome: its cause, the messages for a local and a remote caller, and the next step.
const REFUSALS: readonly {
  readonly outcome: string;
  readonly why: string;
  readonly next: string;
  readonly change?: JsonObject;
  readonly prepare?: (scene: Scene) => Promise<void>;
  readonly publisher?: (services: Services, dataDir: string) => Publisher;
  readonly local: RegExp;
  readonly remote: RegExp;
}[] = [
  {
    outcome: "run_not_found",
    why: "no such run",
    change: { run_id: "f".repeat(32) },
    next: "scenarios_list",
    local: /"run_id":"f{32}"/,
    remote: /"run_id":"f{32}"/,
  },
  {
    outcome: "unauthorized",
    why: "a closed namespace, whether the run exists or not",
    change: { namespace_id: 1 },
    next: "runpack_export",
    local: /namespace.allow_default/,
    remote: /namespace_refused/,
  },
  {
    outcome: "limit_exceeded",
    why: "a run that does not fit",
    publisher: () => answering({ outcome: "limit_exceeded", message: "Cannot export the law: it is too large" }),
    next: "runpack_export",
    local: /Cannot export the law/,
    remote: /too large/,
  },
  {
    outcome: "integrity_failure",
    why: "another object under the law's name",
    prepare: async (scene) => {
      const { law } = await manifestOf(scene.dataDir, (await exported(scene))["runpack_identity"]);
      const path = join(repositoryFolder(scene.dataDir), "objects", law.object.slice(0, 2), law.object);
      await Deno.writeTextFile(path, "x".repeat(law.bytes));
    },
    next: "runpack_export",
    local: /exists and it holds other bytes/,
    remote: /"Cannot publish runpack: the store differs from what was accepted"/,
  },
  {
    outcome: "repository_unavailable",
    why: "a folder that cannot be written",
    prepare: ({ dataDir }) => NOWHERE_TO_WRITE(dataDir),
    next: "runpack_export",
    local: /Cannot keep an object in the local runpack repository/,
    remote: /"Cannot publish runpack: a repository is unavailable"/,
  },
  {
    outcome: "repository_unavailable",
    why: "a mirror that is down",
    publisher: mirrorDown,
    next: "runpack_export",
    local: /Cannot write to the bucket.*"runpack_identity":"[0-9a-f]{64}"/,
    remote: /a repository is unavailable.*"runpack_identity":"[0-9a-f]{64}"/,
  },
];

for (const { outcome, why, next, change = {}, prepare, publisher, local, remote } of REFUSALS) {
  Deno.test(`runpack_export of ${why}: ${outcome}`, () =>
    withRun(async (scene) => {
      await prepare?.(scene);
      for (const [isRemote, message] of [[false, local], [true, remote]] as const) {
        const publication = await exported(scene, change, isRemote);
        assert.equal(publication["outcome"], outcome);
        assert.match(JSON.stringify(publication["result"]), message);
        if (isRemote) assert.ok(!JSON.stringify(publication).includes(scene.dataDir), "no path leaves the machine");
        const steps = member(publication["result"] as JsonObject, "next") as readonly JsonObject[];
        assert.equal(steps[0]?.["tool"], next);
      }
    }, publisher === undefined ? {} : { publisher }));
}

Deno.test("runpack_export stores the pack locally while the mirror is down", () =>
  withRun(async (scene) => {
    const { result } = await exported(scene) as { result: JsonObject };
    const manifest = await manifestOf(scene.dataDir, result["runpack_identity"]);
    assert.deepEqual(asJson(manifest.head), scene.started.head);
  }, { publisher: mirrorDown }));

Deno.test("runpack_export without a data folder: repository_unavailable", () =>
  withTools(async (bench) => {
    const { run } = await startRun(bench);
    const answer = await bench.call("runpack_export", { namespace_id: run.namespace_id, run_id: run.run_id });
    assert.equal((answer["publication"] as JsonObject)["outcome"], "repository_unavailable");
  }));
