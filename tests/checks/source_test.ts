import assert from "node:assert/strict";
import { maskSource, readImports, resolveSpecifier } from "./source.ts";

const MASKED: readonly (readonly [name: string, text: string, code: string])[] = [
  ["line comment", "a // b\nc", "a     \nc"],
  ["block comment over lines", "a /* b\n c */ d", "a     \n      d"],
  ["string", `f("x{y", 'z')`, `f("   ", ' ')`],
  ["escaped quote", `f("a\\"b")`, `f("    ")`],
  ["template", "f(`a{b`)", "f(`   `)"],
  ["substitution", "`a${b + `c${d}`}e`", "`  {b + `  {d}`} `"],
  ["braces inside a substitution", "`${f({ a: 1 })}`;g", "` {f({ a: 1 })}`;g"],
  ["regular expression with quote and slash in a class", `x = /["/]{/.test(y)`, `x = /     /.test(y)`],
  ["regular expression after return", "return /a'/;", "return /  /;"],
  ["division", "a / b / c // d", "a / b / c     "],
  ["division after a call", "f(a) / 2 / g", "f(a) / 2 / g"],
  ["division after a member named like a keyword", "a.in / 2 / g", "a.in / 2 / g"],
  ["comment marks inside a string", `"// no" + a`, `"     " + a`],
  ["unterminated template ends with the text", "`abc", "`   "],
];

for (const [name, text, code] of MASKED) {
  Deno.test(`maskSource() keeps the code only: ${name}`, () => assert.equal(maskSource(text), code));
}

const IMPORTS: readonly (readonly [text: string, edges: string])[] = [
  [`import a from "./a.ts";`, "static ./a.ts"],
  [`import { a, type B } from './a.ts';`, "static ./a.ts"],
  [`import type { A } from "./a.ts";`, "type ./a.ts"],
  [`import type from "./a.ts";`, "static ./a.ts"],
  [`import * as a\n  from "node:fs";`, "static node:fs"],
  [`import "./side_effect.ts";`, "static ./side_effect.ts"],
  [`export * from "./a.ts";`, "static ./a.ts"],
  [`export type { A } from "./a.ts";`, "type ./a.ts"],
  [`export { a } from "./a.ts";`, "static ./a.ts"],
  [`const a = await import("./a.ts");`, "dynamic ./a.ts"],
  [`const a = await import(name);`, "dynamic null"],
  [`type A = import("./a.ts").A;`, "dynamic ./a.ts"],
  [`new Worker(new URL("./w.ts", import.meta.url));`, "worker ./w.ts"],
  [`new URL("./data.json", import.meta.url);`, ""],
  [`new URL("./a.ts", base);`, ""],
  [`// import a from "./a.ts";`, ""],
  [`/** import { a } from "@/a.ts"; */ export const b = "from";`, ""],
  [`const text = 'import a from "./a.ts"';`, ""],
  [`export const a = "./b.ts";`, ""],
  [`import a from "./a.ts";\nexport * from "./b.ts";`, "static ./a.ts, static ./b.ts"],
];

for (const [text, expected] of IMPORTS) {
  Deno.test(`readImports() lists what is named: ${text.replaceAll("\n", " ")}`, () => {
    const found = readImports({ path: "src/x.ts", text }).map((edge) => `${edge.kind} ${edge.specifier}`);
    assert.equal(found.join(", "), expected);
  });
}

Deno.test("readImports() gives the line", () => {
  const edges = readImports({ path: "src/x.ts", text: `// one\n\nimport a from "./a.ts";` });
  assert.deepEqual(edges.map((edge) => edge.line), [3]);
});

const RESOLVED: readonly (readonly [from: string, specifier: string, path: string | null])[] = [
  ["src/law/a.ts", "./b.ts", "src/law/b.ts"],
  ["src/law/a.ts", "../canonical/b.ts", "src/canonical/b.ts"],
  ["main.ts", "./src/cli/main.ts", "src/cli/main.ts"],
  ["tests/e2e/a_test.ts", "@/law/b.ts", "src/law/b.ts"],
  ["src/law/a.ts", "node:fs", null],
  ["src/law/a.ts", "zod", null],
];

for (const [from, specifier, path] of RESOLVED) {
  Deno.test(`resolveSpecifier() ${from} ${specifier}`, () => assert.equal(resolveSpecifier(from, specifier), path));
}
