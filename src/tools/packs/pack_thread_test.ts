import assert from "node:assert/strict";
import { runsAt } from "../../../tests/simulation/runpack/exporter.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import { objectName } from "../../runpack/format/archive.ts";
import { localPackSource, openLocalRepository } from "../../runpack/host/local_repository.ts";
import { createPublisher, type Publication, type PublisherParts } from "../../runpack/host/publish.ts";
import type { ValidateSchema, VerificationRequest } from "../../runpack/verify/types.ts";
import { createPackThread, type PackThread } from "./pack_thread.ts";
import { verifyPack } from "./verify_pack.ts";

/** Records beyond the golden run: enough for more than one segment. */
const RUN = playGoldenRun(300);
const HEAD = RUN.records.length;
const NEVER_ABORTED = new AbortController().signal;
const VALID: ValidateSchema = () => Promise.resolve("valid");

async function withThread(test: (thread: PackThread, root: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const thread = createPackThread(`${folder}/runpacks`);
  try {
    await test(thread, `${folder}/runpacks`);
  } finally {
    thread.close();
    await Deno.remove(folder, { recursive: true });
  }
}

function publish(
  root: string,
  parts: Partial<PublisherParts> = {},
  withheld_conditions: string[] = [],
): Promise<Publication> {
  const local = openLocalRepository(root);
  const publisher = createPublisher({ sha256, runs: runsAt(RUN, HEAD), local, mirror: null, signer: null, ...parts });
  return publisher.publish(RUN.state.run_key, { withheld_conditions });
}

async function published(root: string, parts: Partial<PublisherParts> = {}): Promise<string> {
  const publication = await publish(root, parts);
  assert.equal(publication.outcome, "published", JSON.stringify(publication));
  return "runpack_identity" in publication ? publication.runpack_identity ?? "" : "";
}

function asked(
  runpack_identity: string,
  profile: VerificationRequest["profile"] = "full_replay_v1",
): VerificationRequest {
  return { runpack_identity, profile, budget: null, trusted_keys: [new Uint8Array(32)], signatures: [] };
}

Deno.test("createPackThread() exports the same pack as the thread of the caller", () =>
  withThread(async (thread, root) => {
    const there = await published(root, { exportRun: thread.exportRun });
    assert.equal(there, await published(`${root}-2`));
    const names = async (folder: string): Promise<string[]> =>
      (await Array.fromAsync(Deno.readDir(`${folder}/objects`), ({ name }) => name)).sort();
    assert.deepEqual(await names(root), await names(`${root}-2`));
  }));

Deno.test("createPackThread() verifies with the same report as the thread of the caller, and uses its validator", () =>
  withThread(async (thread, root) => {
    const identity = await published(root);
    for (const profile of ["integrity_only_v1", "full_replay_v1"] as const) {
      for (const verdict of ["valid", "invalid", null] as const) {
        const validate: ValidateSchema = () => Promise.resolve(verdict);
        const here = await verifyPack(root, asked(identity, profile), validate);
        assert.deepEqual(await thread.verify(root, asked(identity, profile), validate, NEVER_ABORTED), here);
      }
    }
  }));

Deno.test("createPackThread() fails with the error of a validator, and continues", () =>
  withThread(async (thread, root) => {
    const identity = await published(root);
    const failure = new RangeError("no time");
    let isAsked = false;
    const failing: ValidateSchema = () => {
      isAsked = true;
      return Promise.reject(failure);
    };
    const failed = await thread.verify(root, asked(identity), failing, NEVER_ABORTED).catch((error) => error);
    assert.ok(isAsked);
    assert.equal(failed, failure);
    assert.equal((await thread.verify(root, asked(identity), VALID, NEVER_ABORTED)).runpack_identity, identity);
  }));

Deno.test("createPackThread() gives the same reason for a missing pack as the thread of the caller", () =>
  withThread(async (thread, root) => {
    const broken: Partial<PublisherParts>[] = [
      { runs: { ...runsAt(RUN, HEAD), listRecords: () => Promise.resolve([]) } },
      { runs: { ...runsAt(RUN, HEAD), artifacts: { get: () => Promise.resolve(null) } } },
    ];
    for (const parts of broken) {
      const here = await publish(`${root}-2`, parts);
      assert.equal(here.outcome, "integrity_failure");
      assert.deepEqual(await publish(root, { ...parts, exportRun: thread.exportRun }), here);
    }
    const unknown = await publish(root, { exportRun: thread.exportRun }, ["nobody"]);
    assert.deepEqual(unknown, await publish(`${root}-2`, {}, ["nobody"]));
    assert.equal(unknown.outcome, "condition_not_found");
    await published(root, { exportRun: thread.exportRun });
  }));

Deno.test("createPackThread() is free again after each export that the repository refuses", () =>
  withThread(async (thread, root) => {
    const identity = await published(root, { exportRun: thread.exportRun });
    const source = localPackSource(root, identity);
    const manifest = JSON.parse(new TextDecoder().decode(await source.manifest() as Uint8Array));
    const damaged = `${root}/${objectName(manifest.law.object)}`;
    const bytes = await Deno.readFile(damaged);
    await Deno.writeTextFile(damaged, "damaged");
    let ended = 0;
    const counted: PackThread["exportRun"] = async function* (...args): ReturnType<PackThread["exportRun"]> {
      try {
        return yield* thread.exportRun(...args);
      } finally {
        ended++;
      }
    };
    // More than run at one time.
    for (const attempt of [1, 2, 3]) {
      assert.equal((await publish(root, { exportRun: counted })).outcome, "integrity_failure");
      assert.equal(ended, attempt, "the export still holds its place");
    }
    await Deno.writeFile(damaged, bytes);
    assert.equal(await published(root, { exportRun: thread.exportRun }), identity);
  }));

Deno.test("createPackThread() cancels an aborted job, whether it waits or runs", () =>
  withThread(async (thread, root) => {
    const identity = await published(root);
    const gone = new AbortController();
    const jobs = Array.from({ length: 5 }, () => thread.verify(root, asked(identity), VALID, gone.signal));
    const outcomes = Promise.allSettled(jobs);
    gone.abort(new Error("gone"));
    for (const outcome of await outcomes) {
      assert.equal(outcome.status === "rejected" && outcome.reason.message, "gone");
    }
    assert.equal((await thread.verify(root, asked(identity), VALID, NEVER_ABORTED)).runpack_identity, identity);
  }));

Deno.test("close() ends running jobs and leaves no waiting ones", () =>
  withThread(async (thread, root) => {
    const identity = await published(root);
    const running = Promise.withResolvers<void>();
    const asking: ValidateSchema = () => {
      running.resolve();
      return new Promise(() => {});
    };
    const jobs = Promise.allSettled(
      Array.from({ length: 5 }, () => thread.verify(root, asked(identity), asking, NEVER_ABORTED)),
    );
    await running.promise;
    thread.close();
    for (const { status } of await jobs) assert.equal(status, "rejected");
  }));
