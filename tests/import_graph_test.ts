import assert from "node:assert/strict";
import { importersOf } from "./import_graph.ts";

const FILES = Object.entries({
  "src/a.ts": "",
  "src/b.ts": `import { a } from "./a.ts";`,
  "src/c.ts": `export { b } from "./b.ts";`,
  "src/worker.ts": `const worker = new Worker(new URL("./a.ts", import.meta.url), { type: "module" });`,
  "src/late.ts": `const late = await import("./c.ts");`,
  "src/shape.ts": `import type { A } from "./a.ts";`,
  "src/turn.ts": `import "./round.ts";`,
  "src/round.ts": `import "./turn.ts";`,
  "tests/a_test.ts": `import { a } from "@/a.ts";`,
  "tests/c_test.ts": `import { c } from "../src/c.ts";`,
  "tests/said_test.ts": `// import "../src/a.ts"`,
}).map(([path, text]) => ({ path, text }));

const ROWS: readonly (readonly [imported: string, importers: string])[] = [
  ["src/late.ts", "src/late.ts"],
  ["src/c.ts", "src/c.ts src/late.ts tests/c_test.ts"],
  [
    "src/a.ts",
    "src/a.ts src/b.ts src/worker.ts tests/a_test.ts src/c.ts src/late.ts tests/c_test.ts",
  ],
  ["src/turn.ts", "src/turn.ts src/round.ts"],
  ["src/none.ts", "src/none.ts"],
];

for (const [imported, importers] of ROWS) {
  Deno.test(`importersOf() ${imported}: ${importers}`, () => {
    assert.equal(importersOf(FILES, [imported]).join(" "), importers);
  });
}
