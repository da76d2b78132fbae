import assert from "node:assert/strict";
import type { ProviderAnswer } from "../../../src/evidence/types.ts";
import { HTTP_CODES, OTHER_CODES, REST_CODES } from "./code_rows.ts";

const PAGE = new URL("../../../docs/reference/providers.md", import.meta.url);
const ROWS: Readonly<Record<string, () => Promise<ProviderAnswer>>> = { ...OTHER_CODES, ...HTTP_CODES, ...REST_CODES };

/** The rows of a table of the page, by their first two columns, with all of their columns. */
async function tableOf(name: string): Promise<Map<string, readonly string[]>> {
  const page = await Deno.readTextFile(PAGE);
  const [, after] = page.split(`<!-- table: ${name} -->\n`);
  assert.ok(after !== undefined, `no table "${name}"`);
  const rows = new Map<string, readonly string[]>();
  for (const line of after.trimStart().split("\n").slice(2)) {
    if (!line.startsWith("|")) break;
    const cells = line.split("|").slice(1, -1).map((cell) => cell.trim().replaceAll("`", ""));
    const key = `${name} ${cells[0]} ${cells[1]}`;
    assert.ok(!rows.has(key), `${key} stands twice`);
    rows.set(key, cells);
  }
  return rows;
}

const observed = await tableOf("observed");
const operational = await tableOf("operational");

Deno.test("docs/reference/providers.md lists exactly the codes that the tests produce", () => {
  assert.deepEqual([...observed.keys(), ...operational.keys()].sort(), Object.keys(ROWS).sort());
});

for (const [row, cells] of [...observed, ...operational]) {
  Deno.test(`docs/reference/providers.md: ${row}`, async () => {
    const answer = await ROWS[row]?.();
    assert.ok(answer !== undefined, "no query produces it");
    const shown = answer.ok
      ? `observed ${cells[0]} ${answer.result.error?.code}`
      : `operational ${cells[0]} ${answer.code}`;
    // A reset of the connection discards an alert that the client has not read.
    if (row.endsWith(" client_certificate_missing") && shown.endsWith(" connection_failed")) return;
    assert.equal(shown, row, JSON.stringify(answer));
    if (!answer.ok) return assert.equal(answer.retryable ? "yes" : "no", cells[2]);
    const { value, evidence_hash, content_type, lane } = answer.result;
    assert.deepEqual([value, evidence_hash, content_type, lane], [null, null, null, "verified"]);
  });
}

Deno.test("no code in the sources of the built-in providers is missing from docs/reference/providers.md", async () => {
  const folder = new URL("../../../src/evidence/builtin/", import.meta.url);
  const known = new Set([...observed.values()].map((cells) => cells[1]));
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".ts") || name.endsWith("_test.ts")) continue;
    const text = await Deno.readTextFile(new URL(name, folder));
    for (const [, code] of text.matchAll(/\bobserved\(\s*"([a-z_]+)"/g)) assert.ok(known.has(code), `${name}: ${code}`);
  }
});
