import assert from "node:assert/strict";
import { join } from "node:path";

import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { objectsOf, withPack } from "../../../tests/simulation/runpack/repository_cases.ts";
import { ArchiveError, objectName } from "../format/archive.ts";
import type { PackSource } from "../format/types.ts";
import { openArchive, writeArchive } from "./archive_file.ts";
import type { PackContents } from "./contents.ts";
import { joinBytes } from "./files.ts";
import { addFolderSignature, folderPackSource, folderSignatures, isFreeFolder, writeFolder } from "./folder.ts";
import { RepositoryError } from "./repository.ts";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function read(source: PackSource, identity: string, maximumBytes = 1_000_000): Promise<string> {
  const chunks = source.object(identity, maximumBytes);
  if (typeof chunks === "string") return chunks;
  return new TextDecoder().decode(joinBytes(await Array.fromAsync(chunks, (chunk) => chunk.slice())));
}

/** A source gives exactly a pack: its manifest, its objects, and their names. */
async function assertSource(source: PackSource, contents: PackContents): Promise<void> {
  assert.deepEqual(await source.manifest(), contents.manifest);
  const objects = await objectsOf(contents);
  for (const [identity, text] of objects) assert.equal(await read(source, identity), text);
  assert.ok(source.list !== null);
  assert.deepEqual((await Array.fromAsync(source.list())).sort(), [...objects.keys()].map(objectName).sort());
  const { law } = contents.decoded;
  assert.equal((await read(source, law.object, 10)).length, 11);
  assert.equal(await read(source, SHA256("nothing")), "missing");
  assert.equal(await read(source, "../manifest.json"), "missing");
}

Deno.test("writeFolder() and writeArchive() write what their sources read", () =>
  withPack(300, (contents) =>
    withFolder(async (folder) => {
      await writeFolder(join(folder, "pack"), contents);
      await assertSource(folderPackSource(join(folder, "pack")), contents);
      assert.deepEqual(await folderSignatures(join(folder, "pack")), contents.signatures);
      await writeArchive(join(folder, "a.runpack"), contents);
      const archive = await openArchive(join(folder, "a.runpack"));
      await assertSource(archive.source, contents);
      assert.deepEqual(await archive.signatures(), contents.signatures);
      archive.close();
    })));

Deno.test("writeArchive() writes the same bytes each time, which tar unpacks to the folder form", () =>
  withPack(0, (contents) =>
    withFolder(async (folder) => {
      await writeArchive(join(folder, "a.runpack"), contents);
      await writeArchive(join(folder, "b.runpack"), contents);
      assert.deepEqual(await Deno.readFile(join(folder, "a.runpack")), await Deno.readFile(join(folder, "b.runpack")));
      await Deno.mkdir(join(folder, "unpacked"));
      const args = ["-xf", join(folder, "a.runpack"), "-C", join(folder, "unpacked")];
      assert.equal((await new Deno.Command("tar", { args }).output()).code, 0);
      await assertSource(folderPackSource(join(folder, "unpacked")), contents);
    })));

Deno.test("writeArchive() overwrites nothing, and leaves nothing half written", () =>
  withPack(0, (contents, root) =>
    withFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, "a.runpack"), "mine");
      await assert.rejects(writeArchive(join(folder, "a.runpack"), contents), RepositoryError);
      assert.equal(await Deno.readTextFile(join(folder, "a.runpack")), "mine");
      const { law } = contents.decoded;
      await Deno.remove(join(root, "objects", law.object.slice(0, 2), law.object));
      await assert.rejects(writeArchive(join(folder, "b.runpack"), contents));
      assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["a.runpack"]);
    })));

Deno.test("folderPackSource() lists what has no place in a pack by its path", () =>
  withPack(0, (contents) =>
    withFolder(async (folder) => {
      const pack = join(folder, "pack");
      await writeFolder(pack, contents);
      const objects = [...(await objectsOf(contents)).keys()].map(objectName);
      await Deno.writeTextFile(join(pack, "README"), "");
      await Deno.writeTextFile(join(pack, "objects", "stray"), "");
      await Deno.symlink(folder, join(pack, "signatures", "loop"));
      await Deno.mkdir(join(pack, "notes", "of", "today"), { recursive: true });
      await Deno.mkdir(join(pack, "objects", "empty"));
      const source = folderPackSource(pack);
      const listed = await Array.fromAsync(source.list?.() ?? []);
      const strays = ["README", "notes", "objects/stray", "signatures/loop"];
      assert.deepEqual(listed.sort(), [...objects, ...strays].sort());
    })));

Deno.test("folderPackSource() reads neither a link nor a folder as an object", () =>
  withPack(0, (contents) =>
    withFolder(async (folder) => {
      const pack = join(folder, "pack");
      await writeFolder(pack, contents);
      const { law, segments } = contents.decoded;
      const [lawPath = "", nodePath = ""] = [law, segments].map(({ object }) =>
        join(pack, "objects", object.slice(0, 2), object)
      );
      await Deno.rename(lawPath, join(folder, "law"));
      await Deno.symlink(join(folder, "law"), lawPath);
      await Deno.remove(nodePath);
      await Deno.mkdir(nodePath);
      const source = folderPackSource(pack);
      assert.equal(await read(source, law.object), "unreadable");
      assert.equal(await read(source, segments.object), "unreadable");
    })));

Deno.test("folderPackSource() and folderSignatures() follow no link in the place of a folder", () =>
  withPack(0, (contents) =>
    withFolder(async (folder) => {
      const pack = join(folder, "pack");
      await writeFolder(pack, contents);
      for (const name of ["objects", "signatures"]) {
        await Deno.rename(join(pack, name), join(folder, name));
        await Deno.symlink(join(folder, name), join(pack, name));
      }
      assert.equal(await read(folderPackSource(pack), contents.decoded.law.object), "missing");
      assert.deepEqual(await folderSignatures(pack), []);
    })));

Deno.test("folderPackSource() of a folder that is not there has nothing", () =>
  withFolder(async (folder) => {
    const source = folderPackSource(join(folder, "none"));
    assert.equal(await source.manifest(), "missing");
    assert.equal(await read(source, SHA256("a")), "missing");
    assert.deepEqual(await folderSignatures(join(folder, "none")), []);
  }));

Deno.test("addFolderSignature() puts a signature in the place of the one that is there, which is there until then", () =>
  withPack(0, (contents) =>
    withFolder(async (folder) => {
      await writeFolder(folder, contents);
      const [signature] = contents.signatures;
      assert.ok(signature !== undefined);
      const path = join(folder, "signatures", `${signature.keyId}.json`);
      using before = await Deno.open(path);
      await addFolderSignature(folder, { ...signature, bytes: new TextEncoder().encode("{}") });
      assert.equal(await Deno.readTextFile(path), "{}");
      // Who had it open has it still: it was replaced, not written over.
      assert.deepEqual(await new Response(before.readable).bytes(), new Uint8Array(signature.bytes));
      assert.deepEqual([...Deno.readDirSync(join(folder, "signatures"))].map(({ name }) => name), [
        `${signature.keyId}.json`,
      ]);
    })));

Deno.test("addFolderSignature() writes nothing out of the folder", () =>
  withPack(0, (contents) =>
    withFolder(async (folder) => {
      await writeFolder(join(folder, "pack"), contents);
      const [signature] = contents.signatures;
      assert.ok(signature !== undefined);
      await Deno.rename(join(folder, "pack/signatures"), join(folder, "elsewhere"));
      await Deno.remove(join(folder, `elsewhere/${signature.keyId}.json`));
      await Deno.symlink("../elsewhere", join(folder, "pack/signatures"));
      assert.equal(await addFolderSignature(join(folder, "pack"), signature), false);
      assert.deepEqual([...Deno.readDirSync(join(folder, "elsewhere"))], []);
    })));

Deno.test("openArchive() rejects a file that is not the archive of a pack", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "text"), "x".repeat(2048));
    await Deno.symlink(join(folder, "text"), join(folder, "link"));
    for (const name of ["text", "link", "none", "."]) {
      await assert.rejects(openArchive(join(folder, name)), ArchiveError);
    }
  }));

Deno.test("writeFolder() leaves the folder empty where an object cannot be read, and takes nothing from another writer", () =>
  withPack(0, (contents) =>
    withFolder(async (folder) => {
      const broken = {
        ...contents,
        objects: async function* (): ReturnType<typeof contents.objects> {
          for await (const object of contents.objects()) {
            yield object;
            throw new Error("unreadable");
          }
        },
      };
      const pack = join(folder, "pack");
      await assert.rejects(writeFolder(pack, broken), /unreadable/);
      assert.ok(isFreeFolder(pack));
      await writeFolder(pack, contents);
      await assert.rejects(writeFolder(pack, contents), Deno.errors.AlreadyExists);
      await assertSource(folderPackSource(pack), contents);
    })));

Deno.test("isFreeFolder() is where a pack can be written", () =>
  withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "file"), "");
    await Deno.mkdir(join(folder, "empty"));
    assert.deepEqual([folder, join(folder, "empty"), join(folder, "none")].map(isFreeFolder), [false, true, true]);
    await Deno.writeTextFile(join(folder, "file"), "");
    assert.equal(isFreeFolder(join(folder, "file")), false);
  }));
