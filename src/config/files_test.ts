import assert from "node:assert/strict";
import { type FileReading, readAtMost, readBelow, readBounded, readFileAtMost, withoutByteOrderMark } from "./files.ts";

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${folder}/base/inner/deep`, { recursive: true });
    await Deno.mkdir(`${folder}/out/deep`, { recursive: true });
    for (const name of ["base/a", "base/inner/a", "base/inner/deep/a"]) {
      await Deno.writeTextFile(`${folder}/${name}`, "ours");
    }
    for (const name of ["out/a", "out/deep/a"]) await Deno.writeTextFile(`${folder}/${name}`, "theirs");
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function shown(reading: FileReading): string {
  return "fault" in reading ? reading.fault : new TextDecoder().decode(reading.bytes);
}

const READERS: readonly (readonly [string, typeof readBounded])[] = [
  ["readBounded", readBounded],
  [
    "readBelow",
    (path, maximumBytes) => readBelow(path.replace(/\/[^/]*$/, ""), path.replace(/^.*\//, ""), maximumBytes),
  ],
];

for (const [name, read] of READERS) {
  Deno.test(`${name}() reads regular files up to the limit`, () =>
    inFolder(async (folder) => {
      const path = `${folder}/base/a`;
      assert.deepEqual(await read(path, 3), { fault: "too_large", size: 4 });
      assert.equal(shown(await read(path, 4)), "ours");
      assert.equal(shown(await read(path, 5)), "ours");
      await Deno.writeTextFile(path, "");
      assert.equal(shown(await read(path, 0)), "");
      assert.equal(shown(await read(`${folder}/base/inner`, 9)), "not_a_file");
      await new Deno.Command("mkfifo", { args: [`${folder}/base/pipe`] }).output();
      assert.equal(shown(await read(`${folder}/base/pipe`, 9)), "not_a_file");
      await assert.rejects(read(`${folder}/base/none`, 9), Deno.errors.NotFound);
    }));

  Deno.test(`${name}() rejects a file that holds more than its reported size`, () =>
    inFolder(async (folder) => {
      const open = Deno.open;
      Deno.open = async (path, options) => {
        const file = await open(path, options);
        const statSync = file.statSync.bind(file);
        return Object.assign(file, { statSync: () => ({ ...statSync(), size: 3 }) });
      };
      try {
        assert.equal(shown(await read(`${folder}/base/a`, 9)), "changed");
      } finally {
        Deno.open = open;
      }
    }));
}

/** When a link replaces a file or folder: before the call, while the file is opened, or until the check afterwards. */
type When = "before" | "while" | "until after";

/** The requested file, the replaced name, its replacement, the moment, and the outcome. */
const SWAPS: readonly (readonly [path: string, name: string, target: string, when: When, outcome: string])[] = [
  ["a", "base/a", "out/a", "before", "changed"],
  ["a", "base/a", "out/a", "while", "changed"],
  ["a", "base/a", "out/a", "until after", "changed"],
  ["inner/a", "base/inner/a", "out/a", "while", "changed"],
  ["inner/a", "base/inner", "out", "before", "changed"],
  ["inner/a", "base/inner", "out", "while", "changed"],
  ["inner/a", "base/inner", "out", "until after", "changed"],
  ["inner/deep/a", "base/inner/deep", "out/deep", "until after", "changed"],
  ["inner/deep/a", "base/inner", "out", "until after", "changed"],
  ["a", "base/inner", "out", "until after", "ours"],
  ["inner/a", "base/inner/deep", "out/deep", "until after", "ours"],
];

for (const [path, name, target, when, outcome] of SWAPS) {
  Deno.test(`readBelow() of "${path}" returns ${outcome} where "${name}" is a link ${when} it is opened`, () =>
    inFolder(async (folder) => {
      const { open, lstatSync } = Deno;
      const swap = (): void => {
        Deno.renameSync(`${folder}/${name}`, `${folder}/aside`);
        Deno.symlinkSync(`${folder}/${target}`, `${folder}/${name}`);
      };
      let isSwapped = false;
      const swapBack = (): void => {
        if (isSwapped) Deno.removeSync(`${folder}/${name}`);
        if (isSwapped) Deno.renameSync(`${folder}/aside`, `${folder}/${name}`);
        isSwapped = false;
      };
      if (when === "before") swap();
      else {
        Deno.open = async (path, options) => {
          swap();
          isSwapped = true;
          const file = await open(path, options);
          if (when === "while") swapBack();
          return file;
        };
        Deno.lstatSync = (path) => {
          const found = lstatSync(path);
          swapBack();
          return found;
        };
      }
      try {
        assert.equal(shown(await readBelow(`${folder}/base`, path, 9)), outcome);
      } finally {
        Object.assign(Deno, { open, lstatSync });
      }
    }));
}

Deno.test("readBelow() waits for a folder that was created just now, and for no other", () =>
  inFolder(async (folder) => {
    const { ctime } = await Deno.stat(`${folder}/base`);
    assert.ok(ctime !== null);
    assert.equal(shown(await readBelow(`${folder}/base`, "inner/a", 9)), "ours");
    assert.ok(Date.now() - ctime.getTime() >= 1000);
    // A change within the last folder replaces no folder on the way.
    await Deno.writeTextFile(`${folder}/base/inner/new`, "");
    assert.equal(shown(await readBelow(`${folder}/base`, "inner/a", 9)), "ours");
  }));

Deno.test("readAtMost() returns at most one byte more than the limit, of a pipe too", () =>
  inFolder(async (folder) => {
    const path = `${folder}/base/a`;
    for (const [maximumBytes, text] of [[2, "our"], [3, "ours"], [4, "ours"], [5, "ours"]] as const) {
      assert.equal(new TextDecoder().decode(await readAtMost(path, maximumBytes)), text, `${maximumBytes}`);
    }
    const pipe = `${folder}/base/pipe`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    const writing = Deno.writeTextFile(pipe, "piped");
    assert.equal(new TextDecoder().decode(await readAtMost(pipe, 9)), "piped");
    await writing;
    assert.equal((await readFileAtMost(path, 9)).length, 4);
    await assert.rejects(readFileAtMost(pipe, 9), /^Error: it is not a file$/);
    await assert.rejects(readAtMost(`${folder}/base/none`, 9), Deno.errors.NotFound);
  }));

Deno.test("withoutByteOrderMark() removes one mark at the beginning", () => {
  const cases: [bytes: number[], rest: number[]][] = [
    [[], []],
    [[0xef, 0xbb], [0xef, 0xbb]],
    [[0xef, 0xbb, 0xbf], []],
    [[0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x61], [0xef, 0xbb, 0xbf, 0x61]],
    [[0x61, 0xef, 0xbb, 0xbf], [0x61, 0xef, 0xbb, 0xbf]],
  ];
  for (const [bytes, rest] of cases) assert.deepEqual([...withoutByteOrderMark(new Uint8Array(bytes))], rest);
});
