import assert from "node:assert/strict";
import { shellOperand } from "./shell_operand.ts";

const OPERANDS: readonly (readonly [text: string, operand: string])[] = [
  ["release", "release"],
  ["release-1.2_b", "release-1.2_b"],
  ["", "''"],
  ["two words", "'two words'"],
  ["a; rm -rf ~", "'a; rm -rf ~'"],
  ["$(id)", "'$(id)'"],
  ["`id`", "'`id`'"],
  ["it's", String.raw`'it'\''s'`],
  ["';id;'", String.raw`''\'';id;'\'''`],
  ["a\\", String.raw`'a\'`],
  ["~", "'~'"],
  ["*", "'*'"],
  ["#x", "'#x'"],
  ["prüfung", "'prüfung'"],
  ["--yes", "-- --yes"],
  ["-x y", "-- '-x y'"],
];

for (const [text, operand] of OPERANDS) {
  Deno.test(`the operand of ${JSON.stringify(text)} is ${operand}`, async () => {
    assert.equal(shellOperand(text), operand);
    const script = `for one in ${operand}; do printf '%s\\n' "$one"; done`;
    const { stdout } = await new Deno.Command("sh", { args: ["-c", script] }).output();
    const words = new TextDecoder().decode(stdout).split("\n").slice(0, -1);
    assert.deepEqual(words, text.startsWith("-") ? ["--", text] : [text], "a shell reads the same");
  });
}
