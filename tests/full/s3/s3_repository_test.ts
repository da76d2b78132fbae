import assert from "node:assert/strict";
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { RunpackStorageConfig } from "../../../src/config/types.ts";
import { openArchive } from "../../../src/runpack/host/archive_file.ts";
import { openContents, sourceContents } from "../../../src/runpack/host/contents.ts";
import { openLocalRepository } from "../../../src/runpack/host/local_repository.ts";
import { createPublisher, type Publisher } from "../../../src/runpack/host/publish.ts";
import { type Repository, RepositoryError } from "../../../src/runpack/host/repository.ts";
import { openS3Repository, type S3Options } from "../../../src/runpack/host/s3_repository.ts";
import { evidence, LAW } from "../../e2e/cli/run_command_fixture.ts";
import { gate, STORES } from "../../e2e/gate_command.ts";
import { SHA256 } from "../../simulation/kernel/fixture.ts";
import { goldenSigner } from "../../simulation/runpack/packs.ts";
import { objectsOf, testRepository } from "../../simulation/runpack/repository_cases.ts";
import { playGoldenRun, storeRun } from "../../simulation/runpack/run.ts";
import { WAL_FULL, withFolder, withStores } from "../../simulation/store/open.ts";
import { startObjectStore } from "./radosgw.ts";

const store = await startObjectStore();
const client = new S3Client({
  endpoint: store.endpoint,
  region: "us-east-1",
  forcePathStyle: true,
  credentials: store.credentials,
});

Deno.test.afterAll(async () => {
  client.destroy();
  await store.stop();
});

let buckets = 0;

/** A fresh bucket, as `runpack_storage` names it. */
async function freshBucket(prefix: string | null): Promise<RunpackStorageConfig> {
  const bucket = `gate-${buckets++}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    type: "object_store",
    provider: "s3",
    bucket,
    endpoint: store.endpoint,
    prefix,
    region: null,
    force_path_style: true,
    allow_http: true,
  };
}

async function keysOf({ bucket }: RunpackStorageConfig, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  let token: string | undefined;
  do {
    const page = { Bucket: bucket, Prefix: prefix, ...token === undefined ? {} : { ContinuationToken: token } };
    const listed = await client.send(new ListObjectsV2Command(page));
    keys.push(...(listed.Contents ?? []).map(({ Key = "" }) => Key.slice(prefix.length)));
    token = listed.NextContinuationToken;
  } while (token !== undefined);
  return keys.filter((key) => key !== "conditional-write-probe").sort();
}

async function withRepository(
  config: RunpackStorageConfig,
  run: (repository: Repository) => Promise<void>,
  options: S3Options = {},
): Promise<void> {
  const repository = await openS3Repository(config, { credentials: store.credentials, ...options });
  try {
    await run(repository);
  } finally {
    repository.close();
  }
}

for (const prefix of [null, "releases/gate"]) {
  testRepository(`s3, prefix ${prefix}`, async (run) => {
    const config = await freshBucket(prefix);
    const before = prefix === null ? "" : `${prefix}/`;
    await withRepository(config, (repository) =>
      run({
        repository,
        overwrite: async (key, bytes) => {
          await client.send(new PutObjectCommand({ Bucket: config.bucket, Key: `${before}${key}`, Body: bytes }));
        },
        remove: async (key) => {
          await client.send(new DeleteObjectCommand({ Bucket: config.bucket, Key: `${before}${key}` }));
        },
        keys: () => keysOf(config, before),
      }));
  });
}

// What is wrong with the way to the store, and what the error says.
const WRONG: readonly [string, Partial<RunpackStorageConfig>, S3Options, RegExp][] = [
  ["a secret that is not its key's", {}, {
    credentials: { ...store.credentials, secretAccessKey: "another" },
  }, /SignatureDoesNotMatch|403/],
  ["a bucket that is not there", { bucket: "nobody" }, {}, /NoSuchBucket/],
  ["nobody listening", { endpoint: "http://127.0.0.1:9" }, {}, /ECONNREFUSED|refused/i],
];

for (const [what, changes, options, message] of WRONG) {
  Deno.test(`openS3Repository() with ${what}: unavailable`, async () => {
    const config = { ...await freshBucket(null), ...changes };
    await withRepository(config, async (repository) => {
      await assert.rejects(
        repository.ready(),
        (error) => error instanceof RepositoryError && error.code === "unavailable" && message.test(error.message),
      );
    }, { attempts: 2, ...options });
  });
}

/** A publisher over a store, a local repository and a mirror, with the golden run to publish. */
async function withPublisher(
  mirrors: readonly (() => Promise<Repository>)[],
  run: (publish: (mirror: number) => ReturnType<Publisher["publish"]>, local: Repository) => Promise<void>,
): Promise<void> {
  await withStores(WAL_FULL, {}, async ({ runs }, folder) => {
    const played = playGoldenRun(300);
    await storeRun(runs, played);
    const local = openLocalRepository(`${folder}/runpacks`);
    const publishers = mirrors.map((mirror) =>
      createPublisher({ sha256: SHA256, runs, local, mirror, signer: goldenSigner() })
    );
    await run((index) => publishers[index]?.publish(played.state.run_key) ?? Promise.reject(new RangeError()), local);
  });
}

Deno.test("publish() mirrors a pack, signatures and all, and again without a write", async () => {
  const config = await freshBucket("mirror");
  await withRepository(
    config,
    (repository) =>
      withPublisher([() => Promise.resolve(repository)], async (publish, local) => {
        const published = await publish(0);
        assert.ok(published.outcome === "published", JSON.stringify(published));
        const keys = await keysOf(config, "mirror/");
        const [here, there] = [
          await openContents(SHA256, local, published.runpack_identity),
          await openContents(SHA256, repository, published.runpack_identity),
        ];
        assert.ok(here !== null && there !== null);
        assert.deepEqual(await objectsOf(there), await objectsOf(here));
        assert.deepEqual(there.signatures, here.signatures);
        assert.deepEqual(await publish(0), published);
        assert.deepEqual(await keysOf(config, "mirror/"), keys);
      }),
  );
});

Deno.test("publish() keeps the pack while the mirror is down, and a later export mirrors it", async () => {
  const config = await freshBucket(null);
  const quick = { attempts: 2, connectMillis: 500, requestMillis: 1000 };
  await withRepository(
    { ...config, endpoint: "http://127.0.0.1:9" },
    (down) =>
      withRepository(
        config,
        (up) =>
          withPublisher([() => Promise.resolve(down), () => Promise.resolve(up)], async (publish, local) => {
            const first = await publish(0);
            assert.ok(
              first.outcome === "repository_unavailable" && first.runpack_identity !== null,
              JSON.stringify(first),
            );
            const identity = first.runpack_identity;
            assert.ok(await openContents(SHA256, local, identity) !== null);
            assert.deepEqual(await keysOf(config, ""), []);
            assert.deepEqual(await publish(1), { outcome: "published", runpack_identity: identity });
            assert.ok((await keysOf(config, "")).includes(`manifests/${identity}.json`));
          }),
      ),
    quick,
  );
});

Deno.test("gate runpack export mirrors to the bucket, and gate runpack pull fetches from it elsewhere", async () => {
  const storage = await freshBucket("cli");
  const table = Object.entries(storage).filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join("\n");
  const { accessKeyId, secretAccessKey } = store.credentials;
  Deno.env.set("AWS_ACCESS_KEY_ID", accessKeyId);
  Deno.env.set("AWS_SECRET_ACCESS_KEY", secretAccessKey);
  await withStores(WAL_FULL, {}, async ({ runs }, folder) => {
    const played = playGoldenRun(300);
    await storeRun(runs, played);
    const store = 'run_state_store = { type = "sqlite", path = "gate.db" }\n';
    await Deno.writeTextFile(`${folder}/gate.toml`, `${store}[runpack_storage]\n${table}\n`);
    const { namespace_id, run_id } = played.state.run_key;
    // An object store takes credentials of whoever starts gate: a file that was only found may not name one.
    const named = ["--config", "gate.toml"];
    const argv = ["--namespace", String(namespace_id), "--run", run_id, "--archive", "here.runpack", ...named];
    const exported = await gate(folder, "runpack", "export", ...argv);
    assert.deepEqual([exported.code, exported.stderr], [0, ""]);
    const identity = exported.stdout.trim();
    await Deno.remove(`${folder}/runpacks`, { recursive: true });
    const pulled = await gate(folder, "runpack", "pull", identity, ...named);
    assert.deepEqual(pulled, { code: 0, stdout: `${identity}\n`, stderr: "" });
    const [here, there] = [await openArchive(`${folder}/here.runpack`), openLocalRepository(`${folder}/runpacks`)];
    const original = await sourceContents(SHA256, here.source, []);
    const fetched = await openContents(SHA256, there, identity);
    assert.ok(fetched !== null);
    assert.deepEqual(await objectsOf(fetched), await objectsOf(original));
    here.close();
    const missing = await gate(folder, "runpack", "pull", SHA256("nothing"), ...named);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /Cannot find runpack/);
  });
});

Deno.test("gate store archive removes a run once the bucket has its runpack, which gate runpack pull fetches elsewhere", async () => {
  const storage = await freshBucket("archive");
  const table = Object.entries(storage).filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join("\n");
  Deno.env.set("AWS_ACCESS_KEY_ID", store.credentials.accessKeyId);
  Deno.env.set("AWS_SECRET_ACCESS_KEY", store.credentials.secretAccessKey);
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, `${STORES}[runpack_storage]\n${table}\n`);
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    await Deno.writeTextFile(`${folder}/all.json`, evidence({ built: true, deployed: true }));
    const named = ["--config", "gate.toml"];
    await gate(folder, "run", "law.yaml", "--evidence", "all.json", "--run-key", "a", ...named);
    const archived = await gate(folder, "store", "archive", "--before", new Date().toISOString(), "--json", ...named);
    assert.equal(archived.code, 0, archived.stderr);
    const [{ run_id, runpack_identity }] = JSON.parse(archived.stdout).result.archived;
    await Deno.remove(`${folder}/runpacks`, { recursive: true });

    const copy = ["runpack", "export", "--namespace", "2", "--run", run_id, "--archive", "run.runpack", ...named];
    const absent = await gate(folder, ...copy);
    assert.equal(absent.code, 2);
    assert.match(absent.stderr, /is not in the data folder .*gate runpack pull fetches it from the object store/);
    assert.equal((await gate(folder, "runpack", "pull", runpack_identity, ...named)).code, 0);
    assert.equal((await gate(folder, ...copy)).code, 0);
    assert.match((await gate(folder, "runpack", "verify", "run.runpack")).stdout, /^Complete; /);
  });
});
