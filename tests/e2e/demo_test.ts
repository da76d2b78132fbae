import assert from "node:assert/strict";
import { type Ended, gate } from "./gate_command.ts";

const CHECKOUT = new URL("../../", import.meta.url).pathname;
const EXAMPLE = "docs/examples/release_gate";

/** Runs this Deno in the checkout until it ends. */
async function deno(args: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: CHECKOUT,
    // Checkouts that are tested are not always on a branch.
    env: { NO_COLOR: "1", CI_COMMIT_REF_NAME: "main" },
    stdin: "null",
  }).output();
  const [said, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: said ?? "", stderr: errors ?? "" };
}

Deno.test("the demo gates this checkout by the law of the example, and the command that it prints verifies its runpack", async () => {
  const checked = await gate(
    CHECKOUT,
    "scenario",
    "check",
    `${EXAMPLE}/scenario.yaml`,
    "--json",
    "--config",
    `${EXAMPLE}/gate.toml`,
  );
  const { scenario_law_identity } = JSON.parse(checked.stdout).result;
  const { code, stdout: said, stderr } = await deno(["task", "--quiet", "demo"]);
  assert.equal(code, 0, said + stderr);
  // Where the port of the law is taken, the law asks another one, and is another law.
  if (!said.includes("is taken")) assert.ok(said.includes(`\n  law   ${scenario_law_identity}\n`), said);
  assert.match(said, /\n {2}release: true, stage complete\n/);
  assert.match(said, /\n {2}open release from revision 1: stale\n/);
  assert.match(said, /\n {2}the same submission again: accepted, revision 6\n/);
  assert.match(said, /\n {2}verified \d+ claims satisfied, 0 violated, \d+ unavailable\n/);
  const folder = /\n {2}folder {3}(\.gate\/demo\/[0-9a-f]{32})\n/.exec(said)?.[1] ?? assert.fail(said);
  try {
    // A checkout that is tested need not be a repository, so the list of ignored files is read.
    assert.ok((await Deno.readTextFile(`${CHECKOUT}/.gitignore`)).split("\n").includes("/.gate/"));
    const [program, ...args] = (/\n {2}check it (.*)\n/.exec(said)?.[1] ?? assert.fail(said)).split(" ");
    assert.equal(program, "deno");
    const verified = await deno(args);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    assert.match(verified.stdout, /\bpure_semantic_replay\b/);
    const { version } = JSON.parse(await Deno.readTextFile(`${CHECKOUT}/deno.json`)) as { version: string };
    const admit = (law: string, of: string): Promise<{ readonly code: number }> =>
      gate(
        CHECKOUT,
        ...["runpack", "admit", folder, "--law", law, "--parameter", `version=${of}`, "--any-parameter", "commit"],
        "--origin-unchecked",
      );
    // Where the port of the law is taken, the run is of another law.
    const law = /\n {2}law {3}([0-9a-f]{64})\n/.exec(said)?.[1] ?? assert.fail(said);
    assert.equal((await admit(law, version)).code, 0);
    assert.equal((await admit(law, `${version}1`)).code, 6, "another release");
    assert.equal((await admit("0".repeat(64), version)).code, 6, "another law");
    await Deno.remove(`${CHECKOUT}/${folder}/manifest.json`);
    assert.equal((await deno(args)).code, 6, "the command verifies the folder that is named");
  } finally {
    await Deno.remove(`${CHECKOUT}/${folder}`, { recursive: true });
  }
  assert.match(said, /\ntrue: the release may go \(\d+ s\)\n$/);
});

Deno.test("the pages pin the law of the release gate by its identity, which no version changes", async () => {
  const { stdout } = await gate(CHECKOUT, "scenario", "check", `${EXAMPLE}/scenario.yaml`, "--json");
  const { scenario_law_identity } = JSON.parse(stdout).result;
  for (const page of ["README.md", `${EXAMPLE}/README.md`]) {
    assert.ok((await Deno.readTextFile(`${CHECKOUT}/${page}`)).includes(scenario_law_identity), page);
  }
  const { version } = JSON.parse(await Deno.readTextFile(`${CHECKOUT}/deno.json`)) as { version: string };
  const law = await Deno.readTextFile(`${CHECKOUT}/${EXAMPLE}/scenario.yaml`);
  assert.ok(!law.includes(version), "another version is another run, under the same law");
});
