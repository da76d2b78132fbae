/**
 * Hostile `.proto` texts: each tries to take time or memory, or to break the reader.
 *
 * @module
 */

import { GRPC_LIMITS } from "../../../src/evidence/typed/grpc/limits.ts";
import type { HostileRow } from "./import_hostile_documents.ts";

const LARGEST = GRPC_LIMITS.textBytes;

const encoder = new TextEncoder();

const HEAD = 'syntax = "proto3"; package a; message In {} message Out {} ';
const SERVICE = "service S { rpc M(In) returns (Out); } ";

/** A text with a service, and others after it. */
function text(...parts: readonly string[]): () => Uint8Array<ArrayBuffer> {
  return () => encoder.encode(HEAD + SERVICE + parts.join(""));
}

/** A text of exactly so many bytes: a service, and `unit` again and again between two parts. */
function filled(bytes: number, before: string, unit: string, after: string): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(HEAD + SERVICE + before);
  const tail = encoder.encode(after);
  const body = encoder.encode(unit);
  const all = new Uint8Array(bytes).fill(0x20);
  all.set(head);
  for (let at = head.length; at + body.length + tail.length <= bytes; at += body.length) all.set(body, at);
  all.set(tail, bytes - tail.length);
  return all;
}

function repeat(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join("");
}

function values(count: number): string {
  return repeat(count, (index) => `V${index} = ${index};`);
}

/** Messages of as many fields as one may have, so many that they fill the bytes. */
function wide(bytes: number): Uint8Array<ArrayBuffer> {
  const size = encoder.encode(`message W00 {${fields(GRPC_LIMITS.fields)}}`).length;
  const all = repeat(Math.floor((bytes - 1024) / size), (index) => `message W${index} {${fields(GRPC_LIMITS.fields)}}`);
  return filled(bytes, all, " ", "");
}

function fields(count: number): string {
  return repeat(count, (index) => `int32 f${index} = ${index + 1 < 19_000 ? index + 1 : index + 1001};`);
}

/** Messages of four fields, so many that they fill the bytes. */
function messages(bytes: number): Uint8Array<ArrayBuffer> {
  const one = (index: number): string =>
    `// The comment of message ${index}, which says what it is for and who sends it. Its fields are below, each on a line.\n` +
    `message M${index} {\n  string name = 1;\n  repeated int64 numbers = 2;\n  optional bool is_ready = 3;\n` +
    `  M${Math.max(0, index - 1)} before = 4 [deprecated = true];\n}\n`;
  const size = encoder.encode(one(200_000)).length;
  return filled(bytes, repeat(Math.floor((bytes - 1024) / size), one), " ", "");
}

/** Every message refers to the next one, in a circle, and every method to one of them. */
function circle(count: number): string {
  return repeat(count, (index) => `message C${index} { C${(index + 1) % count} next = 1; }`) +
    `service T { ${repeat(count, (index) => `rpc M${index}(C${index}) returns (C${index});`)} }`;
}

/** `.proto` texts that fit into every limit of size. */
export const SMALL_PROTO_ROWS: readonly HostileRow[] = [
  ["messages nested 33 deep", text(nested(33)), "document_invalid"],
  ["messages nested 100,000 deep", text("message A {".repeat(100_000)), "document_invalid"],
  [
    "braces of an option nested 200,000 deep",
    text("option x = ", "{a:".repeat(200_000), "}".repeat(200_000), ";"),
    "document_invalid",
  ],
  ["braces of an option without an end", text("option x = ", "{a:".repeat(200_000)), "document_invalid"],
  ["a comment without an end", text("/*", "x".repeat(2_000_000)), "document_invalid"],
  ["a text without an end", text('option x = "', "x".repeat(2_000_000)), "document_invalid"],
  ["a name of 1,024 characters", text(`message ${"x".repeat(1024)} {}`), "checks 1"],
  ["a name of 1,025 characters", text(`message ${"x".repeat(1025)} {}`), "document_invalid"],
  ["a name of a million parts", text("message X {", "a.".repeat(1_000_000), "B f = 1; }"), "document_invalid"],
  ["a message of 999 fields", text("message X {", fields(999), "}"), "checks 1"],
  ["a message of 1,000 fields", text("message X {", fields(1_000), "}"), "checks 1"],
  ["a message of 1,001 fields", text("message X {", fields(1_001), "}"), "document_invalid"],
  [
    "a message of 1,001 fields in a oneof",
    text("message X { message Y {} oneof o {", fields(1_001), "} }"),
    "document_invalid",
  ],
  ["an enum of 1,001 values", text("enum E {", values(1_001), "}"), "checks 1"],
  ["a message in itself", text("message X { X x = 1; } service T { rpc M(X) returns (X); }"), "checks 2"],
  ["an extension of itself", text("extend a.In { In x = 1; }"), "checks 1"],
  ["bytes that are not text", () => new Uint8Array(1000).fill(0xff), "document_invalid"],
  [
    "names of prototypes",
    text("message valueOf { int32 hasOwnProperty = 1; } service constructor { rpc toString(valueOf) returns (In); }"),
    "checks 2",
  ],
];

function nested(depth: number): string {
  return "message N { ".repeat(depth) + "}".repeat(depth);
}

/** `.proto` texts that take time or memory. */
export const LARGE_PROTO_ROWS: readonly HostileRow[] = [
  ["2 MiB of .proto in one comment", () => filled(LARGEST, "/*", "*", "*/"), "checks 1"],
  ["2 MiB of .proto in messages of four fields", () => messages(LARGEST), "checks 1"],
  ["2 MiB of .proto in imports", () => filled(LARGEST, "", 'import "b";', ""), "document_invalid"],
  ["a byte more than 2 MiB of .proto", () => filled(LARGEST + 1, "", " ", ""), "document_too_large"],
  ["2 MiB of .proto in fields of one message", text("message X {", fields(99_000), "}"), "document_invalid"],
  ["2 MiB of .proto in messages of 1,000 fields", () => wide(LARGEST), "checks 1"],
  ["300 messages in a circle, each with a method", text(circle(300)), "selection_required"],
  ["5,000 messages in a circle, each with a method", text(circle(5_000)), "document_too_complex"],
];
