/** Expressions of law files against another parser of the Common Expression Language. */

import assert from "node:assert/strict";
import { parse as parsePeer } from "npm:@bufbuild/cel@0.6.1";
import { type ASTNode, parse } from "@marcbachmann/cel-js";
import fc from "../packages/fast_check.ts";
import { readExpression, type Scope } from "../../src/scenario/law_file/expression.ts";

const SCOPE: Scope = { ofStages: false, names: new Set(["a", "b", "n"]), parameters: new Set(["p"]) };

/** The tree of the program's parser as a text; `&&` and `||` in a row are one list. */
function ownTree(node: ASTNode): string {
  switch (node.op) {
    case "value":
      return literal(node.args);
    case "id":
      return node.args;
    case "-_":
      return node.args.op === "value" ? literalOf(`-${literal(node.args.args)}`) : `-_(${ownTree(node.args)})`;
    case "!_":
      // The peer drops two negations in a row.
      return node.args.op === "!_" ? ownTree(node.args.args) : `!_(${ownTree(node.args)})`;
    case "call":
      return `${node.args[0]}(${node.args[1].map(ownTree).join()})`;
    case "rcall":
      return `${ownTree(node.args[1])}.${node.args[0]}(${node.args[2].map(ownTree).join()})`;
    case "list":
      return `[${node.args.map(ownTree).join()}]`;
    default: {
      const [left, right] = node.args as [ASTNode, ASTNode];
      return joined(node.op === "in" ? "@in" : `_${node.op}_`, [ownTree(left), ownTree(right)]);
    }
  }
}

// deno-lint-ignore no-explicit-any
function peerTree({ exprKind: { case: kind, value } }: any): string {
  if (kind === "identExpr") return value.name;
  if (kind === "constExpr") return literal(value.constantKind.value);
  if (kind === "listExpr") return `[${value.elements.map(peerTree).join()}]`;
  const args = value.args.map(peerTree) as string[];
  if (value.target !== undefined) return `${peerTree(value.target)}.${value.function}(${args.join()})`;
  if (value.function === "!_" || value.function === "-_") return `${value.function}(${args[0]})`;
  return /^(_.*_|@in)$/.test(value.function) ? joined(value.function, args) : `${value.function}(${args.join()})`;
}

function joined(operator: string, operands: readonly string[]): string {
  if (operator !== "_&&_" && operator !== "_||_") return `${operator}{${operands.join(" ; ")}}`;
  const flat = operands.map((one) =>
    one.startsWith(`${operator}<`) && one.endsWith(`>${operator}`)
      ? one.slice(operator.length + 1, -operator.length - 1)
      : one
  );
  return `${operator}<${flat.join(" ; ")}>${operator}`;
}

function literal(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function literalOf(text: string): string {
  return text.replace(/^--/, "");
}

/** Messages of refusals that the peer does not share: CEL has the construct, and gate does not judge it. */
const NARROWER: readonly (readonly [RegExp, string])[] = [
  [/is not declared|is reserved/, "names are those of the law"],
  [/is no evidence|is no value|with each other|name of evidence on one side/, "evidence is compared with a value"],
  [
    /^Function "?\w+"?(\(\))? |^Expected (\w+)\((name|"\.\.")|^Expected at_least|^Expected name\.contains|^Cannot use \./,
    "functions are those of law files",
  ],
  [
    /^Expected a name or a comparison|^Expected a name and a list|after the minus sign/,
    "an expression asks about evidence",
  ],
  [
    /^Cannot (use|compare with) "|^There is no arithmetic|^Expected now|^Cannot compare with null/,
    "nothing is computed",
  ],
  [/^Expected a (decimal number|duration)|^Expected JSON text/, "literals are decimal, and texts have a form"],
  [/Unexpected token: dot/, "neither a name nor a number begins with a point"],
];

const PIECES = [
  "a",
  "b",
  "n",
  "p",
  "now",
  "x",
  "true",
  "0",
  "12.50",
  "-3",
  '"q"',
  "'r'",
  "null",
  "1e3",
  "0x1",
  " && ",
  " || ",
  "!",
  " == ",
  " != ",
  " < ",
  " <= ",
  " > ",
  " >= ",
  " in ",
  "(",
  ")",
  "[",
  "]",
  ", ",
  ".",
  " + ",
  " - ",
  " ? ",
  " : ",
  "present(a)",
  "absent(b)",
  "at_least(1, a, b)",
  "all(a, b)",
  "any(a)",
  'lex(n) < "q"',
  'deep(n) == json("{}")',
  'n.contains("q")',
  'timestamp("2026-01-01")',
  'n < now - duration("24h")',
  "n in [1, 2]",
  "n == p",
  "80 <= n",
  "has(a.b)",
  "size(a)",
  "a.b",
];

/** Well-formed expressions, from two pieces and an operator. */
const grown = fc.letrec<{ whole: string }>((tie) => ({
  whole: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      "a",
      "b",
      "n == 1",
      "n in [1, -2.5]",
      'n != "q"',
      "0 < n",
      'n >= now + duration("90s")',
      "present(n)",
      'n.contains("q")',
    ),
    fc.tuple(tie("whole"), fc.constantFrom(" && ", " || ", "&&"), tie("whole")).map((parts) => parts.join("")),
    tie("whole").map((one) => `(${one})`),
    tie("whole").map((one) => `!(${one})`),
    fc.tuple(tie("whole"), tie("whole")).map(([one, two]) => `at_least(1, ${one}, ${two})`),
    fc.tuple(fc.constantFrom("all", "any"), tie("whole")).map(([name, one]) => `${name}(${one})`),
  ),
})).whole;
const strewn = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));

Deno.test("readExpression() accepts what another parser reads as the same tree, and names why it refuses more", () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(grown, strewn), (text) => {
      const messages: string[] = [];
      const read = readExpression(text, SCOPE, (_code, message) => messages.push(message));
      let peer: ReturnType<typeof parsePeer> | null = null;
      try {
        peer = parsePeer(text);
      } catch {
        // The peer refuses the text.
      }
      if (read !== undefined) {
        accepted++;
        assert.ok(peer !== null, `only gate accepts: ${text}`);
        // deno-lint-ignore no-explicit-any
        assert.equal(ownTree(parse(text).ast), peerTree((peer as any).expr), text);
      } else if (peer !== null) {
        assert.ok(NARROWER.some(([known]) => known.test(messages[0] ?? "")), `${text}: ${messages[0]}`);
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(accepted > 500, String(accepted));
});
