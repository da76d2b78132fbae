import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { type StateKeys, stateKeys } from "../../tools/services/state_keys.ts";
import { readSessionId, SESSION_ID_CHARACTERS, writeSessionId } from "./client_questions.ts";

const KEYS = stateKeys([new Uint8Array(32).fill(1)]);
const OTHERS = stateKeys([new Uint8Array(32).fill(2)]);
const ROTATED = stateKeys([new Uint8Array(32).fill(2), new Uint8Array(32).fill(1)]);

const PAGES: JsonObject = { elicitation: { url: {} } };
const ID = writeSessionId(KEYS, "alice", PAGES) ?? "";
const NONE_DECLARED = writeSessionId(KEYS, "alice", {}) ?? "";
const [CLAIM = "", KEY = "", CODE = ""] = ID.split(".");

/** Ids, the keys and the caller that they are read with, and whether their capabilities count. */
const IDS: readonly (readonly [what: string, id: string, keys: StateKeys, subject: string, counts: boolean])[] = [
  ["as it was written", ID, KEYS, "alice", true],
  ["after a rotation of the keys", ID, ROTATED, "alice", true],
  ["at a server with other keys", ID, OTHERS, "alice", false],
  ["of another caller", ID, KEYS, "bob", false],
  [
    "with the capabilities of another session",
    `${CLAIM}.${NONE_DECLARED.slice(CLAIM.length + 1)}`,
    KEYS,
    "alice",
    false,
  ],
  [
    "with another signature",
    `${CLAIM}.${KEY}.${CODE.replace(/^./, (first) => first === "A" ? "B" : "A")}`,
    KEYS,
    "alice",
    false,
  ],
  ["without its signature", CLAIM, KEYS, "alice", false],
  ["signed for another purpose", KEYS.sign("request_state", CLAIM), KEYS, "alice", false],
  ["signed, but no JSON", KEYS.sign("http_session", "AAAA"), KEYS, "alice", false],
  ["signed, but another value", KEYS.sign("http_session", "W10"), KEYS, "alice", false],
  ["empty", "", KEYS, "alice", false],
];

for (const [what, id, keys, subject, counts] of IDS) {
  Deno.test(`a session id ${what}: ${counts ? "counts" : "counts for nothing"}`, () =>
    assert.deepEqual(readSessionId(keys, subject, id), counts ? PAGES : null));
}

Deno.test("session ids are unique, and have characters of header fields alone", () => {
  assert.match(ID, /^[\x21-\x7e]+$/);
  assert.notEqual(writeSessionId(KEYS, "alice", PAGES), ID);
  assert.ok(!atob(CLAIM.replaceAll("-", "+").replaceAll("_", "/")).includes("alice"));
});

Deno.test("capabilities that would make the id too long get no session", () => {
  const lengths = Array.from({ length: 8 }, (_, more) => {
    const id = writeSessionId(KEYS, "alice", { elicitation: { text: "x".repeat(1354 + more) } });
    if (id !== null) assert.notEqual(readSessionId(KEYS, "alice", id), null);
    return id?.length ?? null;
  });
  assert.equal(Math.max(...lengths.filter((length) => length !== null)), SESSION_ID_CHARACTERS);
  assert.equal(lengths.at(-1), null);
});
