import assert from "node:assert/strict";
import { ConfigError } from "../../config/problems.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig } from "../../config/types.ts";
import { decodeCursor, encodeCursor } from "../framework/pagination.ts";
import { readStateKeys, type StateKeys, stateKeys } from "./state_keys.ts";

const [OLD, NEW, OTHER] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

// Keys of the server that signs, keys of the one that opens, and what it finds.
const ROTATION: readonly (readonly [readonly Uint8Array[], readonly Uint8Array[], string | null])[] = [
  [[OLD], [OLD], "text"],
  [[OLD], [OLD, NEW], "text"],
  [[OLD, NEW], [NEW, OLD], "text"],
  [[NEW, OLD], [OLD, NEW], "text"],
  [[NEW], [NEW, OLD], "text"],
  [[OLD], [NEW], null],
  [[OTHER], [NEW, OLD], null],
];

for (const [index, [signs, opens, found]] of ROTATION.entries()) {
  Deno.test(`state keys, rotation ${index + 1}: ${found}`, () =>
    assert.equal(stateKeys(opens).open("cursor", stateKeys(signs).sign("cursor", "text")), found));
}

Deno.test("a signed text opens unchanged and for its purpose alone", () => {
  const keys = stateKeys([OLD]);
  const signed = keys.sign("cursor", "a.b\nc");
  assert.equal(keys.open("cursor", signed), "a.b\nc");
  assert.equal(keys.open("request", signed), null);
  for (let at = 0; at < signed.length; at++) {
    const changed = `${signed.slice(0, at)}${signed[at] === "A" ? "B" : "A"}${signed.slice(at + 1)}`;
    assert.equal(keys.open("cursor", changed), null, changed);
    assert.equal(keys.open("cursor", signed.slice(0, at)), null);
  }
  for (const other of ["", "a.b", `${signed}A`, `A${signed}`, "."]) assert.equal(keys.open("cursor", other), null);
});

for (const [index, [signs, opens, found]] of ROTATION.entries()) {
  Deno.test(`state keys that seal, rotation ${index + 1}: ${found}`, () =>
    assert.equal(stateKeys(opens).unseal("task", stateKeys(signs).seal("task", "text")), found));
}

Deno.test("a sealed text shows nothing, and opens unchanged and for its purpose alone", () => {
  const keys = stateKeys([OLD]);
  for (const text of ["", "a.b\nc", "é".repeat(100)]) assert.equal(keys.unseal("task", keys.seal("task", text)), text);
  const sealed = keys.seal("task", "a.b\nc");
  assert.notEqual(sealed, keys.seal("task", "a.b\nc"), "no two seals are equal");
  assert.equal(keys.unseal("request", sealed), null);
  assert.equal(keys.unseal("task", keys.sign("task", "text")), null);
  for (let at = 0; at < sealed.length; at++) {
    const changed = `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
    assert.equal(keys.unseal("task", changed), null, changed);
    assert.equal(keys.unseal("task", sealed.slice(0, at)), null);
  }
  const [, keyId = ""] = sealed.split(".");
  for (const other of ["", `.${keyId}`, `AAAA.${keyId}`, `${"A".repeat(38)}.${keyId}`, `${sealed}0`]) {
    assert.equal(keys.unseal("task", other), null, other);
  }
});

const QUERY = { tool: "scenarios_list", namespaceId: 2 };

/** Keys of the server that made the cursor, keys of the one that continues, and the key that it continues after. */
const CURSORS: readonly (readonly [StateKeys | null, StateKeys | null, readonly string[] | null])[] = [
  [null, null, ["a"]],
  [stateKeys([OLD]), stateKeys([NEW, OLD]), ["a"]],
  [stateKeys([OLD]), null, null],
  [null, stateKeys([OLD]), null],
  [stateKeys([OLD]), stateKeys([NEW]), null],
];

for (const [index, [made, continued, after]] of CURSORS.entries()) {
  Deno.test(`a cursor under keys, row ${index + 1}: ${after}`, () => {
    const cursor = encodeCursor({ ...QUERY, keys: made }, ["a"]);
    assert.deepEqual(decodeCursor({ ...QUERY, keys: continued }, cursor, 1), after);
  });
}

// Content of the file, and whether it is a key.
const FILES: readonly (readonly [string, Uint8Array, boolean])[] = [
  ["31 bytes", new Uint8Array(31), false],
  ["32 bytes", new Uint8Array(32), true],
  ["33 bytes", new Uint8Array(33), false],
  ["base64", new TextEncoder().encode(`${NEW.toBase64()}\n`), true],
  ["base64 of 31 bytes", new TextEncoder().encode(new Uint8Array(31).toBase64()), false],
  ["nothing", new Uint8Array(0), false],
  ["a long file", new Uint8Array(100_000).fill(65), false],
];

for (const [what, content, isKey] of FILES) {
  Deno.test(`readStateKeys() of ${what}: ${isKey ? "a key" : "refused"}`, async () => {
    const path = await Deno.makeTempFile();
    await Deno.writeFile(path, content);
    const config = {
      ...DEFAULT_SETTINGS,
      config_path: null,
      server: { ...DEFAULT_SETTINGS.server, state_keys: [path] },
    };
    const reading = readStateKeys(config as unknown as GateConfig);
    if (isKey) assert.notEqual(await reading, null);
    else {await assert.rejects(reading, (error) =>
        error instanceof ConfigError && /state_keys\[0\]/.test(error.message));}
    await Deno.remove(path);
  });
}
