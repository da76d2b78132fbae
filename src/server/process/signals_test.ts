import assert from "node:assert/strict";

/** What nothing catches, in a process with an open database. */
const UNCAUGHT = [
  'setTimeout(() => { throw new Error("late"); });',
  'Promise.reject(new Error("late")); await new Promise((resolve) => setTimeout(resolve, 60_000));',
];

for (const code of UNCAUGHT) {
  Deno.test(`exitWhenUncaught() ends with 1, says why, and closes no database: ${code}`, async () => {
    const folder = await Deno.makeTempDir();
    const program = `
      import { DatabaseSync } from "node:sqlite";
      import { exitWhenUncaught } from ${JSON.stringify(import.meta.resolve("./signals.ts"))};
      exitWhenUncaught();
      globalThis.database = new DatabaseSync(${JSON.stringify(`${folder}/a.db`)});
      database.exec("PRAGMA journal_mode = wal; CREATE TABLE a (b)");
      ${code}`;
    await Deno.writeTextFile(`${folder}/program.ts`, program);
    const { code: exit, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--quiet", "--allow-read", "--allow-write", "--no-check", `${folder}/program.ts`],
      env: { NO_COLOR: "1" },
    }).output();
    const said = new TextDecoder().decode(stderr);
    assert.equal(exit, 1, said);
    assert.match(said, /^error: Uncaught Error: late\n/);
    assert.ok((await Deno.stat(`${folder}/a.db-wal`)).size > 0, "the log is still there");
    await Deno.remove(folder, { recursive: true });
  });
}
