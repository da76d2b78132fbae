import assert from "node:assert/strict";
import { join } from "node:path";
import { examineWhole, memorySource, packOf, PRIMITIVES } from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { viewPack } from "../../runpack/material_view.ts";
import { CliError } from "../terminal/cli_error.ts";
import { writePage } from "./show_html.ts";

Deno.test({
  name: "writePage() reports a missing write permission",
  permissions: { read: true, write: false },
  fn: async () => {
    const pack = await packOf(playGoldenRun());
    const view = await viewPack(memorySource(pack), PRIMITIVES);
    assert.ok(!("reason" in view));
    await assert.rejects(writePage("/tmp/release.html", view, await examineWhole(pack), false), {
      message: 'Cannot write "/tmp/release.html": gate has no permission to use it',
    });
  },
});

Deno.test("writePage() writes one page, replaces no file, and reports a missing folder", async () => {
  const folder = await Deno.makeTempDir();
  const pack = await packOf(playGoldenRun());
  const view = await viewPack(memorySource(pack), PRIMITIVES);
  assert.ok(!("reason" in view));
  const examination = await examineWhole(pack);
  const path = join(folder, "release.html");
  await writePage(path, view, examination, false);
  const written = await Deno.readTextFile(path);
  assert.ok(written.startsWith("<!doctype html>") && written.includes(view.runpack_identity));

  const isRefused = (code: string) => (error: unknown): boolean => error instanceof CliError && error.code === code;
  await assert.rejects(writePage(path, view, examination, true), isRefused("file_exists"));
  assert.equal(await Deno.readTextFile(path), written);
  await assert.rejects(writePage(join(folder, "none", "a.html"), view, examination, true), isRefused("usage"));
  await Deno.remove(folder, { recursive: true });
});
