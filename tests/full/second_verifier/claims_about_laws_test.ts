import assert from "node:assert/strict";
import { proveClaim } from "../../../src/law/questions/prove.ts";
import { Dice, randomClaim, randomLaw } from "../../simulation/questions/generated_laws.ts";

const LAWS = 500;
const SCRIPT = new URL("../../second_verifier/claims_about_laws.py", import.meta.url).pathname;

Deno.test("a program in Python decides claims about 500 laws in the same way", async () => {
  const asked = Array.from({ length: LAWS }, (_, seed) => {
    const dice = new Dice(seed + 1_000_000);
    const law = randomLaw(dice);
    return { law: law.law, claim: randomClaim(dice, law) };
  });
  const lines = asked.map(({ law, claim }) =>
    JSON.stringify({ law, claim: { ...claim, atoms: Object.fromEntries(claim.atoms) } })
  );
  const child = new Deno.Command("python3", { args: [SCRIPT], stdin: "piped", stdout: "piped" }).spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
  await writer.close();
  const verdicts = new TextDecoder().decode((await output).stdout).trimEnd().split("\n");
  assert.equal(verdicts.length, LAWS);
  const differing = asked.flatMap(({ law, claim }, at) => {
    const { verdict } = proveClaim(law, claim);
    return verdict === verdicts[at] ? [] : [`${at}: ${verdict}, and ${verdicts[at]} in Python`];
  });
  assert.deepEqual(differing, []);
  assert.ok(verdicts.filter((one) => one === "proved").length > 50, "both verdicts are met");
});
