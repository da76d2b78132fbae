import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { CURSOR_CHARACTERS, cutPage, decodeCursor, encodeCursor, PAGE_BYTES, type PageQuery } from "./pagination.ts";

const QUERY: PageQuery = { tool: "schemas_list", namespaceId: 2 };

Deno.test("decodeCursor() returns every encoded key", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()), { maxLength: 3 }),
      (key) => {
        assert.deepEqual(decodeCursor(QUERY, encodeCursor(QUERY, key), key.length), key);
      },
    ),
  );
});

const cursor = encodeCursor(QUERY, ["a", "1"]);
const raw = (value: unknown): string => btoa(JSON.stringify(value)).replace(/=+$/, "");

const REFUSED: readonly (readonly [name: string, query: typeof QUERY, cursor: string, parts: number])[] = [
  ["another tool", { ...QUERY, tool: "scenarios_list" }, cursor, 2],
  ["other filters", { ...QUERY, filters: "a" }, cursor, 2],
  ["no filters", QUERY, encodeCursor({ ...QUERY, filters: "f" }, ["a", "1"]), 2],
  [
    "other filters of a list with filters",
    { ...QUERY, filters: "g" },
    encodeCursor({ ...QUERY, filters: "f" }, ["a", "1"]),
    2,
  ],
  ["another namespace", { ...QUERY, namespaceId: 3 }, cursor, 2],
  ["another number of parts", QUERY, cursor, 1],
  ["empty", QUERY, "", 2],
  ["no base64url", QUERY, "not-json!", 2],
  ["padding", QUERY, `${cursor}=`, 2],
  ["white space", QUERY, ` ${cursor}`, 2],
  ["white space inside the JSON", QUERY, btoa('[1,"schemas_list",2,"a", "1"]').replace(/=+$/, ""), 2],
  ["another version", QUERY, raw([2, "schemas_list", 2, "a", "1"]), 2],
  ["a number in the key", QUERY, raw([1, "schemas_list", 2, "a", 1]), 2],
  ["an object", QUERY, raw({}), 2],
  ["no UTF-8", QUERY, "_w", 2],
  ["too long", QUERY, "A".repeat(CURSOR_CHARACTERS + 1), 2],
];

for (const [name, query, text, parts] of REFUSED) {
  Deno.test(`decodeCursor() refuses ${name}`, () => assert.equal(decodeCursor(query, text, parts), null));
}

/** JSON text of a number of bytes of a page: an answer has each character twice, and two commas. */
function textOf(size: number): string {
  assert.equal(size % 2, 0);
  return "1".repeat((size - 2) / 2);
}

const half = PAGE_BYTES / 2;

/** Bytes of the fetched items, limit, items of the page, whether more follow. */
const PAGES: readonly (readonly [sizes: readonly number[], limit: number, count: number, more: boolean])[] = [
  [[], 1, 0, false],
  [[4], 1, 1, false],
  [[4, 4], 1, 1, true],
  [[4, 4], 2, 2, false],
  [[4, 4, 4], 2, 2, true],
  [[half, half], 5, 2, false],
  [[half, half - 4, 4], 5, 3, false],
  [[half, half, 4], 5, 2, true],
  [[half, half + 2], 5, 1, true],
  [[PAGE_BYTES * 3, 4], 5, 1, true],
  [[PAGE_BYTES * 3], 5, 1, false],
];

for (const [sizes, limit, count, more] of PAGES) {
  Deno.test(`cutPage() of [${sizes}] by ${limit}: ${count} items, ${more ? "more" : "no more"}`, () => {
    const fetched = sizes.map((size, index) => ({ size, index }));
    const page = cutPage(fetched, limit, ({ size }) => textOf(size));
    assert.deepEqual(page.items, fetched.slice(0, count));
    assert.deepEqual(page.last, more ? fetched[count - 1] : null);
  });
}

Deno.test("cutPage() counts bytes, and those of escapes", () => {
  const most = PAGE_BYTES / 8;
  // Three bytes in the JSON and three within the string; a quotation mark takes two and four.
  for (const [unit, bytes] of [["\u20ac", 6], ['\\"', 6]] as const) {
    const text = unit.repeat(most / bytes - 1);
    const page = cutPage(Array.from({ length: 10 }, () => text), 10, (item) => item);
    assert.equal(page.items.length, 8, unit);
  }
});
