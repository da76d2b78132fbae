import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { digestOfToken, isLiteralToken } from "./bearer_tokens.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

const VARIABLES: Readonly<Record<string, string>> = {
  A: "hunter2",
  WIDE: "sch\u00fcssel",
  EMPTY: "",
  SPACED: "hunter 2",
  LINE: "hunter2\n",
  N255: "x".repeat(255),
  N256: "x".repeat(256),
  N257: "x".repeat(257),
};

const FORM = "which must hold 1 to 256 characters without white space";

/** An item, whether it is the token itself, and the token whose digest it stands for or the fault. */
const ROWS: readonly (readonly [item: string, literal: boolean, token: string | null, fault?: string])[] = [
  ["hunter2", true, "hunter2"],
  ["sch\u00fcssel", true, "sch\u00fcssel"],
  [`sha256:${sha256("hunter2")}`, false, "hunter2"],
  ["env:A", false, "hunter2"],
  ["env:WIDE", false, "sch\u00fcssel"],
  ["env:N255", false, "x".repeat(255)],
  ["env:N256", false, "x".repeat(256)],
  ["env:N257", false, null, `refers to variable "N257", ${FORM}`],
  ["env:NONE", false, null, 'refers to variable "NONE", which is not set'],
  ["env:EMPTY", false, null, 'refers to variable "EMPTY", which is not set'],
  ["env:SPACED", false, null, `refers to variable "SPACED", ${FORM}`],
  ["env:LINE", false, null, `refers to variable "LINE", ${FORM}`],
];

for (const [item, literal, token, fault] of ROWS) {
  Deno.test(`digestOfToken() of ${item.slice(0, 20)}: ${fault ?? token?.slice(0, 20)}`, () => {
    const digest = digestOfToken(item, (name) => VARIABLES[name], sha256);
    assert.deepEqual(digest, token === null ? { fault } : sha256(token));
    assert.equal(isLiteralToken(item), literal);
  });
}
