import assert from "node:assert/strict";
import { words } from "./words.ts";

Deno.test("words() lists the words of its lines in order, with their types", () => {
  const list: readonly ("a" | "b_c" | "d-e")[] = words("a b_c", "d-e");
  assert.deepEqual(list, ["a", "b_c", "d-e"]);
  // @ts-expect-error "f" is no word of the list.
  const other: readonly "f"[] = words("a b_c");
  assert.notDeepEqual(other, ["f"]);
});
