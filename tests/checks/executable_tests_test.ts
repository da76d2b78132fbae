/** Which end-to-end tests can run against an executable: those that start gate by the one module that reads `GATE_BINARY`. */
import assert from "node:assert/strict";
import { posix } from "node:path";
import { readTree } from "./tree.ts";

const TREE = await readTree();
const TEXTS = new Map(TREE.map(({ path, text }) => [path, text]));
const STARTER = "tests/e2e/gate_command.ts";
/** What starts a process of gate. */
const STARTING = ["gate", "processOf"];

/** The names that a module imports at run time, each with the file of its relative specifier. */
function importsOf(path: string): readonly { readonly names: readonly string[]; readonly file: string }[] {
  const text = TEXTS.get(path) ?? "";
  return [...text.matchAll(/^(?:import|export) (?!type )\{?([^"]*?)\}? from "(\.[^"]+)";$/gms)].map((match) => ({
    names: (match[1] ?? "").split(",").map((name) => name.trim().split(" as ")[0] ?? ""),
    file: posix.join(posix.dirname(path), match[2] ?? ""),
  }));
}

function startsGate(path: string, seen: Set<string>): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  return importsOf(path).some(({ names, file }) =>
    file === STARTER
      ? names.some((name) => STARTING.includes(name))
      : file.startsWith("tests/") && startsGate(file, seen)
  );
}

Deno.test("the end-to-end tests that never start gate as a process are those that the page on contributing lists", () => {
  const tests = [...TEXTS.keys()].filter((path) => /^tests\/e2e\/.+_test\.ts$/.test(path));
  const without = tests.filter((path) => !startsGate(path, new Set()))
    .map((path) => path.slice("tests/e2e/".length, -"_test.ts".length));
  const page = TEXTS.get("docs/CONTRIBUTING.md") ?? "";
  const [, listed = ""] = /^- These start no gate:([^]*?)\n- /m.exec(page) ?? [];
  assert.deepEqual([...listed.matchAll(/`([\w/]+)`/g)].map(([, name]) => name).sort(), without.sort());
  assert.ok(tests.length > 100 && without.length < tests.length / 4);
});
