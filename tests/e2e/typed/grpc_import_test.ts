/** Hostile descriptions of gRPC services, in the worker that reads them: each ends with its own code. */

import assert from "node:assert/strict";
import { importInSandbox, type ImportSource } from "../../../src/evidence/typed/import_sandbox.ts";
import { join } from "./grpc_peers.ts";

const OPTIONS = { provider_id: "p", server_url: "grpc.example.test:443" };
const HEAD = 'syntax = "proto3"; package a; message In {} message Out {} ';

function text(...parts: readonly string[]): ImportSource {
  return { kind: "grpc", proto: [{ path: "a.proto", text: HEAD + parts.join("") }] };
}

function set(bytes: Uint8Array): ImportSource {
  return { kind: "grpc", descriptor_set: new Uint8Array(bytes) };
}

/** A field of a message with its length before it. */
function field(tag: number, body: Uint8Array): Uint8Array {
  const length: number[] = [];
  let rest = body.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push((rest & 127) | 128);
  return join([new Uint8Array([tag, ...length, rest]), body]);
}

/** So many empty fields. */
function empty(tag: number, count: number): Uint8Array {
  const bytes = new Uint8Array(2 * count);
  for (let at = 0; at < bytes.length; at += 2) bytes[at] = tag;
  return bytes;
}

function repeat(count: number, part: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => part(index)).join("");
}

const SERVICE = "service S { rpc M(In) returns (Out); }";

/** What a description has, the description, outcome. */
const ROWS: readonly (readonly [what: string, source: () => ImportSource, outcome: string])[] = [
  ["a service", () => text(SERVICE), "S.M"],
  [
    "names of prototypes",
    () =>
      text(
        "message X { string constructor = 1; X toString = 2; } service hasOwnProperty { rpc valueOf(X) returns (X); }",
      ),
    "hasOwnProperty.valueOf",
  ],
  ["four million empty files", () => set(empty(0x0a, 4_000_000)), "document_invalid"],
  ["400,000 empty messages", () => set(field(0x0a, empty(0x22, 400_000))), "document_invalid"],
  ["64 MiB of zeros", () => set(new Uint8Array(67_108_864)), "document_invalid"],
  ["a name of 60 MB", () => set(field(0x0a, field(0x0a, new Uint8Array(60_000_000).fill(97)))), "no_usable_operation"],
  [
    "60 million packed numbers",
    () => set(field(0x0a, field(0x52, new Uint8Array(60_000_000).fill(1)))),
    "document_invalid",
  ],
  [
    "20,001 methods",
    () => text("service S {", repeat(20_001, (at) => `rpc M${at}(In) returns (Out);`), "}"),
    "document_too_complex",
  ],
  ["100,000 nested messages", () => text("message A {".repeat(100_000)), "document_invalid"],
  ["200,000 nested options", () => text("option x = {", "a: {".repeat(200_000)), "document_invalid"],
  ["a comment of 2 MB without an end", () => text("/*", "x".repeat(2_000_000)), "document_invalid"],
  ["a string of 2 MB without an end", () => text('option x = "', "x".repeat(2_000_000)), "document_invalid"],
  ["2 MB of text", () => text("\n".repeat(2_000_000)), "no_usable_operation"],
  [
    "a name of a million parts",
    () => text("message X {", "a.".repeat(1_000_000), "B f = 1; } service S { rpc M(X) returns (Out); }"),
    "document_invalid",
  ],
  ["1,024 files in a circle", () => ({
    kind: "grpc",
    proto: Array.from({ length: 1024 }, (_, at) => {
      const next = (at + 1) % 1024;
      const service = at === 0 ? "message In {} service S { rpc M(M) returns (In); }" : "";
      const declared =
        `syntax = "proto3"; package p${at}; import "${next}"; message M { p${next}.M m = 1; } ${service}`;
      return { path: `${at}`, text: declared };
    }),
  }), "no_usable_operation"],
];

for (const [what, source, outcome] of ROWS) {
  Deno.test(`the import of a gRPC service with ${what}: ${outcome}`, async () => {
    const result = await importInSandbox(source(), OPTIONS, { milliseconds: 60_000 });
    assert.equal(result.ok ? result.contract.checks.map(({ check_id }) => check_id).join(" ") : result.code, outcome);
  });
}

Deno.test("the import of a text ends at its time", async () => {
  const circle = repeat(2_000, (at) => `message X${at} { X${(at + 1) % 2_000} next = 1; }`);
  const source = text(circle, "service S { rpc Get(X0) returns (X1); }");
  const result = await importInSandbox(source, OPTIONS, { milliseconds: 0 });
  assert.equal(result.ok ? "ok" : result.code, "import_timeout");
});
