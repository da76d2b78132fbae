/** Each bound and each choice, set alone: beside it stand only the members that a rule requires. */

import assert from "node:assert/strict";
import { configJsonSchema } from "./json_schema.ts";
import { isTable } from "./toml_tree.ts";
import { CHOICES, linesOf, NUMBERS, put, type Tree } from "./documents_test.ts";

/** Choices that other tests cover: the names of tools, and the protocol of typed providers. */
const ELSEWHERE = /^server\.(?:tools\.(?:allow|deny)list|auth\.allowed_tools)\[0\]$|^providers\[0\]\.typed_protocol$/;

Deno.test("each number is accepted alone at its bounds, and rejected beyond them", async (test) => {
  for (const [path, base, least, most] of NUMBERS) {
    await test.step(path, async () => {
      for (const value of [least, most ?? Number.MAX_SAFE_INTEGER]) {
        assert.deepEqual(await linesOf(put(base, path, value)), [], `${value}`);
      }
      assert.deepEqual(await linesOf(put(base, path, least - 1)), [`${path}: must be >= ${least}, got ${least - 1}`]);
      if (most === undefined) return;
      assert.deepEqual(await linesOf(put(base, path, most + 1)), [`${path}: must be <= ${most}, got ${most + 1}`]);
    });
  }
});

Deno.test("each choice is accepted alone, and an unknown choice is rejected", async (test) => {
  for (const [path, values] of CHOICES) {
    await test.step(path, async () => {
      for (const [value, base] of Object.entries(values)) {
        assert.deepEqual(await linesOf(put(base, path, value)), [], value);
      }
      const [base = {}] = Object.values(values);
      const [line = "", ...more] = await linesOf(put(base, path, "no_such_choice"));
      assert.ok(line.startsWith(`${path}: must be `) && more.length === 0, [line, ...more].join("\n"));
    });
  }
});

/** The paths at which a schema has bounds on numbers or a closed list of words. */
function bounded(schema: unknown, path: string, found: Set<string>): void {
  if (!isTable(schema)) return;
  if (schema["minimum"] !== undefined && schema["type"] === "integer") found.add(path);
  if (schema["const"] !== undefined || schema["enum"] !== undefined) found.add(path);
  const variants = [schema["anyOf"], schema["oneOf"]].flat();
  for (const variant of variants) bounded(variant, path, found);
  bounded(schema["items"], `${path}[0]`, found);
  for (const [name, member] of Object.entries(schema["properties"] ?? {})) {
    bounded(member, path === "" ? name : `${path}.${name}`, found);
  }
  const conditions = path === "providers[0]" ? schema["allOf"] as readonly Tree[] | undefined : [];
  for (const { then } of conditions ?? []) bounded(then, path, found);
}

Deno.test("both tables have every number with bounds and every choice that the published schema has", async () => {
  const found = new Set<string>();
  bounded(await configJsonSchema(), "", found);
  const tried = new Set([...NUMBERS, ...CHOICES].map(([path]) => path));
  assert.ok(found.size > 70, `${found.size}`);
  assert.deepEqual([...found].filter((path) => !tried.has(path) && !ELSEWHERE.test(path)), []);
});
