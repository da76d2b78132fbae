import assert from "node:assert/strict";
import { gate } from "./gate_command.ts";

const CHECKOUT = new URL("../../", import.meta.url).pathname;
const EXAMPLE = "docs/examples/release_gate";

Deno.test("the demo gates this checkout by the law of the example, and its runpack verifies", async () => {
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
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--quiet", "-A", `${EXAMPLE}/demo.ts`],
    cwd: CHECKOUT,
    // Checkouts that are tested are not always on a branch.
    env: { NO_COLOR: "1", CI_COMMIT_REF_NAME: "main" },
    stdin: "null",
  }).output();
  const said = new TextDecoder().decode(stdout);
  assert.equal(code, 0, said + new TextDecoder().decode(stderr));
  // Where the port of the law is taken, the law asks another one, and is another law.
  if (!said.includes("is taken")) assert.ok(said.includes(`\n  law   ${scenario_law_identity}\n`), said);
  assert.match(said, /\n {2}release: true, stage complete\n/);
  assert.match(said, /\n {2}open release from revision 1: stale\n/);
  assert.match(said, /\n {2}the same submission again: accepted, revision 6\n/);
  assert.match(said, /\n {2}verified \d+ claims satisfied, 0 violated, \d+ unavailable\n/);
  assert.match(said, /\ntrue: the release may go \(\d+ s\)\n$/);
});

Deno.test("the law of the demo is of the version that the checkout declares", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(`${CHECKOUT}/deno.json`)) as { version: string };
  const law = await Deno.readTextFile(`${CHECKOUT}/${EXAMPLE}/scenario.yaml`);
  assert.ok(law.includes(`expected: { value: "${version}", value_type: String }`), version);
});
