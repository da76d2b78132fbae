import assert from "node:assert/strict";
import { isWritable } from "./check.ts";

/** What a user can write, and whether that changes `FOLDER/a/b/law`, or what the link `FOLDER/link` leads to. */
const ROWS: readonly (readonly [written: readonly string[], law: boolean, link: boolean])[] = [
  [[], false, false],
  [["a/b/law"], true, true],
  [["a/b"], true, true],
  [["a"], true, true],
  [["."], true, true],
  [["link"], false, true],
  [["a/other", "other"], false, false],
];

for (const [written, law, link] of ROWS) {
  Deno.test(`isWritable() where a user can write ${written.join()}: ${law}, ${link}`, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    try {
      await Deno.mkdir(`${folder}/a/b`, { recursive: true });
      await Deno.writeTextFile(`${folder}/a/b/law`, "");
      await Deno.symlink("a/b/law", `${folder}/link`);
      const paths = written.map((name) => name === "." ? folder : `${folder}/${name}`);
      const canWrite = (part: string): Promise<boolean> => Promise.resolve(paths.includes(part));
      assert.deepEqual(
        [await isWritable(`${folder}/a/b/law`, canWrite), await isWritable(`${folder}/link`, canWrite)],
        [
          law,
          link,
        ],
      );
      assert.equal(
        await isWritable(`${folder}/a/b/missing`, canWrite),
        law && written[0] !== "a/b/law",
        "a file to come",
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("isWritable() of a file and a folder that their owner made read-only", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/law`, "", { mode: 0o444 });
    await Deno.chmod(folder, 0o555);
    assert.ok(await isWritable(`${folder}/law`));
    assert.deepEqual([Deno.statSync(folder).mode! & 0o777, Deno.statSync(`${folder}/law`).mode! & 0o777], [
      0o555,
      0o444,
    ]);
  } finally {
    await Deno.chmod(folder, 0o700);
    await Deno.remove(folder, { recursive: true });
  }
});
