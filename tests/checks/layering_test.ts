import assert from "node:assert/strict";
import {
  checkCycles,
  checkDependencies,
  checkLayersKnown,
  checkNothingImportsCli,
  checkPackages,
  checkPurity,
  LAYERING_CHECKS,
  layerOf,
} from "./layering.ts";
import { LAYERS, PUBLIC_FILES } from "./layering_rules.ts";
import type { SourceFile, Violation } from "./source.ts";
import { formatViolations, readTree } from "./tree.ts";

const tree = await readTree();

for (const { name, check } of LAYERING_CHECKS) {
  Deno.test(`the tree: ${name}`, () => {
    const violations = check(tree);
    assert.equal(violations.length, 0, formatViolations(violations));
  });
}

Deno.test("the tree has files in the kernel layers, so the rules above apply to something", () => {
  const layers = new Set(tree.map((file) => layerOf(file.path)));
  for (const layer of ["main", "canonical", "law", "run"]) assert.ok(layers.has(layer), layer);
});

Deno.test("LAYERS has no cycle, and names only layers", () => {
  const reaches = (layer: string): string[] => (LAYERS[layer] ?? []).flatMap((next) => [next, ...reaches(next)]);
  for (const [layer, allowed] of Object.entries(LAYERS)) {
    assert.ok(!reaches(layer).includes(layer), layer);
    for (const name of allowed) assert.ok(Object.hasOwn(LAYERS, name), name);
  }
});

Deno.test("LAYERS lets nothing import the command line but main", () => {
  const importers = Object.entries(LAYERS).filter(([, allowed]) => allowed.includes("cli")).map(([layer]) => layer);
  assert.deepEqual(importers, ["main"]);
});

Deno.test("PUBLIC_FILES restrict only imports that LAYERS allows", () => {
  for (const entry of PUBLIC_FILES) assert.ok(LAYERS[entry.from]?.includes(entry.to), `${entry.from} -> ${entry.to}`);
});

type Check = (files: readonly SourceFile[]) => Violation[];
type Row = readonly [check: Check, path: string, text: string, outcome: "passes" | "refused"];

const ROWS: readonly Row[] = [
  [checkLayersKnown, "src/law/a.ts", "", "passes"],
  [checkLayersKnown, "src/runpack/host/a.ts", "", "passes"],
  [checkLayersKnown, "src/misc/a.ts", "", "refused"],
  [checkLayersKnown, "src/a.ts", "", "refused"],

  [checkDependencies, "src/law/a.ts", `import { a } from "../canonical/a.ts";`, "passes"],
  [checkDependencies, "src/law/a.ts", `import { a } from "./sub/a.ts";`, "passes"],
  [checkDependencies, "src/canonical/a.ts", `import { a } from "../law/a.ts";`, "refused"],
  [checkDependencies, "src/canonical/a.ts", `import type { A } from "../law/a.ts";`, "refused"],
  [checkDependencies, "src/law/a.ts", `export * from "../run/a.ts";`, "refused"],
  [checkDependencies, "src/run/a.ts", `const a = await import("../store/a.ts");`, "refused"],
  [checkDependencies, "src/runpack/verify/verify.ts", `import { a } from "../run/a.ts";`, "passes"],
  [checkDependencies, "src/runpack/verify/verify.ts", `import { a } from "../host/a.ts";`, "refused"],
  [checkDependencies, "src/runpack/host/a.ts", `import { a } from "../verify.ts";`, "passes"],
  [checkDependencies, "src/tools/a.ts", `import { a } from "../store/a.ts";`, "passes"],
  [checkDependencies, "src/tools/a.ts", `import { a } from "../server/a.ts";`, "refused"],
  [checkDependencies, "src/tools/a.ts", `import { a } from "../cli/a.ts";`, "refused"],
  [checkDependencies, "src/store/a.ts", `import { a } from "../tools/a.ts";`, "refused"],
  [checkDependencies, "src/server/a.ts", `import { a } from "../tools/table.ts";`, "passes"],
  [checkDependencies, "src/server/a.ts", `import { a } from "../tools/scenario_start.ts";`, "refused"],
  [checkDependencies, "src/server/a.ts", `import { a } from "../run/decide.ts";`, "refused"],
  [checkDependencies, "src/cli/a.ts", `import { a } from "../server/a.ts";`, "passes"],
  [checkDependencies, "src/cli/a.ts", `const a = await import(path);`, "refused"],
  [checkDependencies, "src/cli/a.ts", `import { a } from "@/law/a.ts";`, "refused"],
  [checkDependencies, "src/cli/a.ts", `import { a } from "../../tests/a.ts";`, "refused"],
  [checkDependencies, "src/cli/a.ts", `import { a } from "./a_test.ts";`, "refused"],
  [checkDependencies, "src/evidence/host.ts", `new Worker(new URL("./sandbox/worker.ts", import.meta.url));`, "passes"],
  [
    checkDependencies,
    "src/evidence/host.ts",
    `new Worker(new URL("../server/worker.ts", import.meta.url));`,
    "refused",
  ],
  [checkDependencies, "src/law/a_test.ts", `import { a } from "../store/a.ts";`, "passes"],
  [checkDependencies, "main.ts", `import { main } from "./src/cli/main.ts";`, "passes"],
  [checkDependencies, "main.ts", `import { a } from "./src/store/a.ts";`, "refused"],

  [checkPackages, "src/store/sqlite.ts", `import { DatabaseSync } from "node:sqlite";`, "passes"],
  [checkPackages, "src/tools/a.ts", `import { DatabaseSync } from "node:sqlite";`, "refused"],
  [checkPackages, "src/scenario/a.ts", `import { parse } from "yaml";`, "passes"],
  [checkPackages, "src/scenario/a.ts", `import { parse } from "yaml/util";`, "passes"],
  [checkPackages, "src/store/a.ts", `import { parse } from "yaml";`, "refused"],
  [checkPackages, "src/server/a.ts", `import type { Tool } from "@modelcontextprotocol/server";`, "passes"],
  [checkPackages, "src/server/a.ts", `import { Server } from "@modelcontextprotocol/server";`, "refused"],
  [checkPackages, "src/server/a.ts", `const a = await import("@modelcontextprotocol/server");`, "refused"],
  [checkPackages, "src/tools/a.ts", `import type { Tool } from "@modelcontextprotocol/server";`, "refused"],
  [checkPackages, "src/tools/a.ts", `import x from "left-pad";`, "refused"],
  [checkPackages, "src/tools/a.ts", `import x from "yamlish";`, "refused"],
  [checkPackages, "src/law/a.ts", `import { createHash } from "node:crypto";`, "refused"],
  [checkPackages, "src/law/a.ts", `import type { Node } from "yaml";`, "refused"],
  [checkPackages, "src/runpack/verify/verify.ts", `import x from "node:fs";`, "refused"],
  [checkPackages, "src/runpack/host/write.ts", `import x from "node:fs";`, "passes"],
  [checkPackages, "src/tools/a.ts", `import assert from "node:assert/strict";`, "refused"],
  [checkPackages, "src/cli/a.ts", `import { jsonpath } from "json-p3";`, "refused"],
  [checkPackages, "src/law/a_test.ts", `import fc from "fast-check";`, "passes"],
  [checkPackages, "src/cli/a.ts", `const fc = await import("fast-check");`, "refused"],

  [checkPurity, "src/law/a.ts", `export const a = (now: number) => now + 1;`, "passes"],
  [checkPurity, "src/law/a.ts", `// Deno.readTextFile is not for this layer\nconst a = "Date.now()";`, "passes"],
  [checkPurity, "src/law/a.ts", `const a = Deno.env.get("A");`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = Date.now();`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = new Date();`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = new Date( );`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = new Date;`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = Date;`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = new Date(instant).toISOString();`, "passes"],
  [checkPurity, "src/law/a.ts", `const a = new Date( instant);`, "passes"],
  [checkPurity, "src/law/a.ts", `const a = Date.UTC(2026, 0);`, "passes"],
  [checkPurity, "src/law/a.ts", `const a = Math.random();`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = Math.max(1, 2);`, "passes"],
  [checkPurity, "src/law/a.ts", "const a = `${crypto.randomUUID()}`;", "refused"],
  [checkPurity, "src/law/a.ts", `const a = performance.now();`, "refused"],
  [checkPurity, "src/law/a.ts", `setTimeout(run, 1);`, "refused"],
  [checkPurity, "src/law/a.ts", `await fetch(url);`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = store.fetch(1);`, "passes"],
  [checkPurity, "src/law/a.ts", `const a = { performance: 1 };`, "passes"],
  [checkPurity, "src/law/a.ts", `const a = globalThis["Date"];`, "refused"],
  [checkPurity, "src/law/a.ts", `const a = import.meta.url;`, "refused"],
  [checkPurity, "src/law/a.ts", `names.sort((a, b) => a.localeCompare(b));`, "refused"],
  [checkPurity, "src/runpack/verify/verify.ts", `const a = Deno.args;`, "refused"],
  [checkPurity, "src/runpack/host/a.ts", `const a = Deno.args;`, "passes"],
  [checkPurity, "src/law/a_test.ts", `const a = Date.now();`, "passes"],

  [checkNothingImportsCli, "main.ts", `import { main } from "./src/cli/main.ts";`, "passes"],
  [checkNothingImportsCli, "src/cli/a_test.ts", `import { main } from "./main.ts";`, "passes"],
  [checkNothingImportsCli, "tests/e2e/a_test.ts", `import { main } from "@/cli/main.ts";`, "refused"],
  [checkNothingImportsCli, "src/tools/a_test.ts", `import { main } from "../cli/main.ts";`, "refused"],
];

for (const [check, path, text, outcome] of ROWS) {
  Deno.test(`${check.name}() ${path} ${text.replaceAll("\n", " ")} ${outcome}`, () => {
    assert.equal(check([{ path, text }]).length > 0 ? "refused" : "passes", outcome);
  });
}

Deno.test("checkCycles() reports a cycle once", () => {
  const violations = checkCycles([
    { path: "src/law/a.ts", text: `import { b } from "./b.ts";` },
    { path: "src/law/b.ts", text: `import { c } from "./c.ts";` },
    { path: "src/law/c.ts", text: `const a = await import("./a.ts");` },
  ]);
  assert.deepEqual(violations.map((entry) => entry.message), [
    "Cannot import in a cycle: src/law/a.ts -> src/law/b.ts -> src/law/c.ts -> src/law/a.ts",
  ]);
});

Deno.test("checkCycles() accepts a cycle of type imports, and a file that is reached twice", () => {
  const violations = checkCycles([
    { path: "src/law/a.ts", text: `import { b } from "./b.ts";\nimport { c } from "./c.ts";` },
    { path: "src/law/b.ts", text: `import type { A } from "./a.ts";\nimport { c } from "./c.ts";` },
    { path: "src/law/c.ts", text: "" },
  ]);
  assert.deepEqual(violations, []);
});

Deno.test("checkDependencies() reports line and reason", () => {
  const violations = checkDependencies([{ path: "src/law/a.ts", text: `\nimport { a } from "../run/a.ts";` }]);
  assert.equal(
    formatViolations(violations),
    `src/law/a.ts:2: dependencies: Cannot import "../run/a.ts": layer "law" may not use layer "run", hand it in as an argument`,
  );
});
