import assert from "node:assert/strict";
import { join } from "node:path";

import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { testRepository, withPack, type WithRepository } from "../../../tests/simulation/runpack/repository_cases.ts";
import { localPackSource, openLocalRepository } from "./local_repository.ts";
import { RepositoryError, type Written } from "./repository.ts";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function filesIn(folder: string, prefix = ""): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(join(folder, prefix))) {
      const path = prefix === "" ? name : `${prefix}/${name}`;
      found.push(...isDirectory ? await filesIn(folder, path) : [path]);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort();
}

const withLocal: WithRepository = (run) =>
  withFolder((folder) => {
    const root = join(folder, "runpacks");
    return run({
      repository: openLocalRepository(root),
      overwrite: async (key, bytes) => {
        await Deno.mkdir(join(root, key, ".."), { recursive: true });
        await Deno.writeFile(join(root, key), bytes);
      },
      remove: (key) => Deno.remove(join(root, key)),
      keys: () => filesIn(root),
    });
  });

testRepository("local", withLocal);

/** A file system without hard links, as FAT is one. */
const withoutLinks: WithRepository = async (run) => {
  const { link } = Deno;
  Object.assign(Deno, { link: () => Promise.reject(new Deno.errors.PermissionDenied("Operation not permitted")) });
  try {
    await withLocal((under) => run({ ...under, isExclusive: false }));
  } finally {
    Object.assign(Deno, { link });
  }
};

testRepository("local, without hard links", withoutLinks);

const OBJECT = { identity: SHA256("gate:object:v1\0object"), bytes: new TextEncoder().encode("object") };

Deno.test("openLocalRepository() removes what a crash left a day ago, and nothing younger", () =>
  withFolder(async (root) => {
    const folder = join(root, "objects", "ab");
    await Deno.mkdir(folder, { recursive: true });
    for (const name of [".tmp-old", ".tmp-young", "ab-old"]) await Deno.writeTextFile(join(folder, name), "x");
    const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
    for (const name of [".tmp-old", "ab-old"]) await Deno.utime(join(folder, name), twoDaysAgo, twoDaysAgo);
    await openLocalRepository(root).putObject(OBJECT);
    assert.deepEqual(await filesIn(folder), [".tmp-young", "ab-old"]);
  }));

Deno.test("openLocalRepository() rejects with unavailable where it cannot write", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "runpacks"), "a file");
    const repository = openLocalRepository(join(folder, "runpacks"));
    const calls = [
      () => repository.putObject(OBJECT),
      () => repository.putManifest(SHA256(""), OBJECT.bytes),
      () => repository.ready(),
    ];
    for (const call of calls) {
      await assert.rejects(call(), (error) => error instanceof RepositoryError && error.code === "unavailable");
    }
    assert.equal(await repository.getManifest(SHA256("")), "missing");
  }));

Deno.test("openLocalRepository() publishes only after folders are durable, also those that another writer flushes", () =>
  withFolder(async (root) => {
    const repository = openLocalRepository(root);
    const other = { identity: SHA256("gate:object:v1\0other"), bytes: new TextEncoder().encode("other") };
    for (const object of [OBJECT, other]) await repository.putObject(object);
    const { sync } = Deno.FsFile.prototype;
    const release = Promise.withResolvers<void>();
    let syncs = 0;
    Deno.FsFile.prototype.sync = async function (): Promise<void> {
      if (++syncs === 1) await release.promise;
      await sync.call(this);
    };
    try {
      const publishing = ["one", "two"].map((name) => repository.putManifest(SHA256(name), OBJECT.bytes));
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual(await filesIn(join(root, "manifests")), []);
      release.resolve();
      assert.deepEqual(await Promise.all(publishing), ["written", "written"]);
    } finally {
      Deno.FsFile.prototype.sync = sync;
    }
    assert.equal((await filesIn(join(root, "manifests"))).length, 2);
  }));

Deno.test("openLocalRepository() publishes again after folders of an unfinished publication were removed", () =>
  withFolder(async (root) => {
    const repository = openLocalRepository(root);
    const other = { identity: SHA256("gate:object:v1\0other"), bytes: new TextEncoder().encode("other") };
    for (const object of [OBJECT, other]) await repository.putObject(object);
    await Deno.remove(join(root, "objects"), { recursive: true });
    const publish = (): Promise<Written> => repository.putManifest(SHA256("one"), OBJECT.bytes);
    // The first publication might need the objects that are gone.
    await assert.rejects(publish(), (error) => error instanceof RepositoryError && error.code === "unavailable");
    assert.equal(await publish(), "written");
  }));

Deno.test("openLocalRepository() does not read a link as an object", () =>
  withFolder(async (root) => {
    const folder = join(root, "objects", OBJECT.identity.slice(0, 2));
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeFile(join(root, "elsewhere"), OBJECT.bytes);
    await Deno.symlink(join(root, "elsewhere"), join(folder, OBJECT.identity));
    const repository = openLocalRepository(root);
    assert.equal(await repository.getObject({ object: OBJECT.identity, bytes: 6 }), "unreadable");
    await assert.rejects(
      repository.putObject(OBJECT),
      (error) => error instanceof RepositoryError && error.code === "integrity_failure",
    );
  }));

Deno.test("localPackSource() reads manifest and objects, bounded, and reads no other names", () =>
  withPack(0, async (contents, root) => {
    const source = localPackSource(root, contents.runpackIdentity);
    assert.deepEqual(await source.manifest(), contents.manifest);
    assert.equal(source.list, null);
    const { law } = contents.decoded;
    const chunks = source.object(law.object, 10);
    assert.ok(typeof chunks !== "string");
    let bytes = 0;
    for await (const chunk of chunks) bytes += chunk.length;
    assert.equal(bytes, 11);
    for (const name of [SHA256("nothing"), "../manifests/x", ""]) assert.equal(source.object(name, 10), "missing");
    assert.equal(await localPackSource(root, "../x").manifest(), "missing");
  }));
