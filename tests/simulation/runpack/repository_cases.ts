/**
 * What every repository of runpacks has to do: one suite over all implementations.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { identifyBytes } from "../../../src/canonical/identity.ts";
import { runpackIdentity } from "../../../src/runpack/format/manifest.ts";
import type { PackObject } from "../../../src/runpack/format/objects.ts";
import { copyPack, openContents, type PackContents } from "../../../src/runpack/host/contents.ts";
import { openLocalRepository } from "../../../src/runpack/host/local_repository.ts";
import { type Repository, RepositoryError, type RepositoryErrorCode } from "../../../src/runpack/host/repository.ts";
import { SHA256 } from "../kernel/fixture.ts";
import { goldenSigner, publishTo } from "./packs.ts";
import { playGoldenRun, storeRun } from "./run.ts";
import { IMPLEMENTATIONS, withStores } from "../store/open.ts";

/** A repository under test, and the keys and bytes that it keeps, reached past it. */
export interface RepositoryUnderTest {
  readonly repository: Repository;
  readonly overwrite: (key: string, bytes: Uint8Array) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
  /** Sorted. */
  readonly keys: () => Promise<readonly string[]>;
  /** Whether of many who write one key at the same time one alone does; true where left out. */
  readonly isExclusive?: boolean;
}

/** Runs a case on an empty repository of its own. */
export type WithRepository = (run: (under: RepositoryUnderTest) => Promise<void>) => Promise<void>;

const encoder = new TextEncoder();

const objectOf = (text: string): PackObject => {
  const bytes = encoder.encode(text);
  return { identity: identifyBytes(SHA256, "object", bytes), bytes };
};
const keyOf = ({ identity }: PackObject): string => `objects/${identity.slice(0, 2)}/${identity}`;
const isCode = (code: RepositoryErrorCode) => (error: unknown): boolean =>
  error instanceof RepositoryError && error.code === code;

/** A pack of so many records beyond the golden run, signed, in a local repository of its own. */
export async function withPack(
  more: number,
  run: (contents: PackContents, root: string) => Promise<void>,
): Promise<void> {
  const [memory] = IMPLEMENTATIONS;
  if (memory === undefined) throw new TypeError("There is no store");
  await withStores(memory, {}, async ({ runs }) => {
    const root = await Deno.makeTempDir();
    try {
      const played = playGoldenRun(more);
      await storeRun(runs, played);
      const published = await publishTo(join(root, "runpacks"), runs, played.state.run_key, [], goldenSigner());
      assert.ok(published.outcome === "published", JSON.stringify(published));
      const local = openLocalRepository(join(root, "runpacks"));
      const contents = await openContents(SHA256, local, published.runpack_identity);
      assert.ok(contents !== null);
      await run(contents, join(root, "runpacks"));
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

/** The texts of the objects that contents have, by identity. */
export async function objectsOf(contents: PackContents): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { reference, bytes } of contents.objects()) {
    found.set(reference.object, new TextDecoder().decode(await bytes()));
  }
  return found;
}

const CASES: readonly [string, (under: RepositoryUnderTest) => Promise<void>][] = [
  ["putObject() keeps bytes once", async ({ repository, keys }) => {
    for (const text of ["object", ""]) {
      const object = objectOf(text);
      const reference = { object: object.identity, bytes: object.bytes.length };
      assert.equal(await repository.getObject(reference), "missing");
      assert.equal(await repository.putObject(object), "written");
      assert.equal(await repository.putObject(object), "exists");
      assert.deepEqual(await repository.getObject(reference), object.bytes);
    }
    assert.deepEqual(await keys(), [objectOf("object"), objectOf("")].map(keyOf).sort());
  }],
  ["putObject() refuses a name that has other bytes", async ({ repository, overwrite }) => {
    for (const other of ["tcejbo", "longer than that", ""]) {
      await overwrite(keyOf(objectOf("object")), encoder.encode(other));
      await assert.rejects(repository.putObject(objectOf("object")), isCode("integrity_failure"));
    }
  }],
  ["getObject() gives at most one byte more than it is asked for", async ({ repository, overwrite }) => {
    const object = objectOf("object");
    await overwrite(keyOf(object), encoder.encode("x".repeat(100_000)));
    const found = await repository.getObject({ object: object.identity, bytes: 6 });
    assert.deepEqual(found, encoder.encode("x".repeat(7)));
  }],
  ["putObject() by many at once writes once", async ({ repository, isExclusive = true }) => {
    const object = objectOf("raced");
    const written = await Promise.all(Array.from({ length: 16 }, () => repository.putObject(object)));
    const writers = written.filter((one) => one === "written").length;
    assert.ok(writers === 1 || writers > 1 && !isExclusive, written.join(" "));
  }],
  ["putManifest() by many with different bytes lets one win", async ({ repository, isExclusive = true }) => {
    if (!isExclusive) return;
    const identity = SHA256("raced");
    const rivals = Array.from(
      { length: 16 },
      (_, index) => repository.putManifest(identity, encoder.encode(`{"n":${index}}`)),
    );
    const ends = await Promise.allSettled(rivals);
    const winner = ends.findIndex(({ status }) => status === "fulfilled");
    assert.deepEqual(await repository.getManifest(identity), encoder.encode(`{"n":${winner}}`));
    assert.equal(ends.filter((end) => end.status === "rejected" && isCode("integrity_failure")(end.reason)).length, 15);
  }],
  ["putManifest() and putSignature() overwrite nothing", async ({ repository, keys }) => {
    const identity = SHA256("pack");
    const keyId = SHA256("key 1");
    const other = SHA256("key 2");
    const bytes = encoder.encode("{}");
    assert.equal(await repository.getManifest(identity), "missing");
    assert.deepEqual(await repository.getSignatures(identity), []);
    assert.equal(await repository.putManifest(identity, bytes), "written");
    assert.equal(await repository.putManifest(identity, bytes), "exists");
    await assert.rejects(repository.putManifest(identity, encoder.encode("[]")), isCode("integrity_failure"));
    for (const id of [keyId, other]) {
      assert.equal(await repository.putSignature(identity, { keyId: id, bytes }), "written");
      assert.equal(await repository.putSignature(identity, { keyId: id, bytes }), "exists");
    }
    const changed = { keyId, bytes: encoder.encode("[]") };
    await assert.rejects(repository.putSignature(identity, changed), isCode("integrity_failure"));
    const kept = [keyId, other].sort().map((id) => ({ keyId: id, bytes }));
    assert.deepEqual(await repository.getSignatures(identity), kept);
    assert.deepEqual(
      await keys(),
      [`manifests/${identity}.json`, ...[keyId, other].map((id) => `signatures/${identity}/${id}.json`)].sort(),
    );
  }],
  ["ready() resolves", async ({ repository }) => {
    await repository.ready();
    await repository.ready();
  }],
  ["copyPack() copies a whole pack, and then nothing more", async ({ repository, keys }) => {
    await withPack(300, async (contents) => {
      await copyPack(contents, repository);
      const before = await keys();
      const copied = await openContents(SHA256, repository, contents.runpackIdentity);
      assert.ok(copied !== null);
      assert.deepEqual(copied.manifest, contents.manifest);
      assert.deepEqual(copied.signatures, contents.signatures);
      assert.deepEqual(await objectsOf(copied), await objectsOf(contents));
      await copyPack(contents, repository);
      assert.deepEqual(await keys(), before);
    });
  }],
  ["copyPack() of a pack that is not whole publishes nothing", async ({ repository, keys }) => {
    await withPack(0, async (contents, root) => {
      const { law } = contents.decoded;
      await Deno.remove(join(root, "objects", law.object.slice(0, 2), law.object));
      await assert.rejects(copyPack(contents, repository), isCode("integrity_failure"));
      assert.ok((await keys()).every((key) => key.startsWith("objects/")));
    });
  }],
  ["openContents() refuses what is not the pack of that name", async ({ repository, overwrite, remove }) => {
    await withPack(0, async (contents) => {
      await copyPack(contents, repository);
      const identity = contents.runpackIdentity;
      const key = `manifests/${identity}.json`;
      const other = new TextEncoder().encode(new TextDecoder().decode(contents.manifest).replace("release", "releasf"));
      assert.notEqual(runpackIdentity(SHA256, other), identity);
      for (const bytes of [other, encoder.encode("{}")]) {
        await overwrite(key, bytes);
        await assert.rejects(openContents(SHA256, repository, identity), isCode("integrity_failure"));
      }
      await remove(key);
      assert.equal(await openContents(SHA256, repository, identity), null);
    });
  }],
];

/** Registers every case for an implementation. */
export function testRepository(name: string, withRepository: WithRepository): void {
  for (const [what, run] of CASES) {
    Deno.test(`Repository (${name}) ${what}`, () => withRepository(run));
  }
}
