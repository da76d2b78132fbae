/**
 * What hostile gRPC servers do, and what a check then answers.
 *
 * @module
 */

import type { Socket } from "node:net";
import {
  data,
  frame,
  headers,
  honest,
  join,
  message,
  OK_HEADERS,
  type Play,
  type Script,
  SETTINGS,
} from "./grpc_peers.ts";
import type { ImportedProvider } from "../../../src/evidence/typed/import_result.ts";
import type { GrpcProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import { importGrpc } from "../../../src/evidence/typed/grpc/import_grpc.ts";

/** Bytes of a response message that the profile of these tests allows. */
export const RESPONSE_BYTES = 65_536;

/** One hostile server: what it does, its script, and the outcome of a check. */
export interface HostileRow {
  readonly what: string;
  readonly script: Script;
  readonly outcome: string;
  /** Milliseconds of the check; long by default, so that only servers that never end reach it. */
  readonly timeoutMillis?: number;
}

const CHECKS = `syntax = "proto3"; package probe.v1;
  message In { string name = 1; }
  message Out { int64 errors = 1; string name = 2; }
  service Checks { rpc Check(In) returns (Out); }`;

/** The provider of the service, whose check `errors` selects one field of the response. */
export async function importChecks(): Promise<ImportedProvider & { readonly profile: GrpcProfile }> {
  const imported = await importGrpc({ proto: [{ path: "checks.proto", text: CHECKS }] }, {
    provider_id: "probe",
    server_url: "grpc.example.test:443",
    selection: [{ operation: "probe.v1.Checks/Check", check_id: "errors", result_pointer: "/errors" }],
  });
  if (!imported.ok || imported.profile.typed_protocol !== "grpc") throw new Error(JSON.stringify(imported));
  return { ...imported, profile: imported.profile };
}

/** A response with 3 errors. */
export const THREE = new Uint8Array([8, 3]);

/** An honest server. */
export const HONEST: Script = { at: "request", play: (socket) => void socket.write(honest(THREE)) };

/** Answers a request with frames, and keeps the connection. */
export function answering(...parts: readonly Uint8Array[]): Script {
  return { at: "request", play: (socket) => void socket.write(join([SETTINGS, ...parts])) };
}

function onConnection(play: Play): Script {
  return { at: "connection", play };
}

/** Repeats bytes until the client ends the connection. */
function repeating(first: Uint8Array, again: Uint8Array, at: Script["at"] = "request"): Script {
  const play = (socket: Socket): void => {
    socket.write(first);
    const timer = setInterval(() => socket.write(again), 2);
    socket.on("close", () => clearInterval(timer));
  };
  return { at, play };
}

const OK = headers(OK_HEADERS);
const DONE = headers([["grpc-status", "0"]], true);
const RESET = frame(3, 0, 1, new Uint8Array([0, 0, 0, 2]));
const GOAWAY = frame(7, 0, 0, new Uint8Array(8));
const OPEN = join([SETTINGS, OK]);
const PING = frame(6, 0, 0, new Uint8Array(8));
/** Read as the head of a message, its first bytes say 1.7 GB. */
const PAGE = new TextEncoder().encode("<html><body>Bad Gateway</body></html>");

function times(count: number, bytes: Uint8Array): Uint8Array {
  return join(Array.from({ length: count }, () => bytes));
}

function status(code: string, text = ""): Uint8Array {
  return headers([...OK_HEADERS, ["grpc-status", code], ["grpc-message", text]], true);
}

/** Servers without TLS. */
export const HOSTILE: readonly HostileRow[] = [
  { what: "is honest", script: HONEST, outcome: "value: 3" },
  {
    what: "sends a field that is not known",
    script: answering(OK, data(message(new Uint8Array([8, 3, 120, 1]))), DONE),
    outcome: "value: 3",
  },
  {
    what: "says the length of its body",
    script: answering(headers([...OK_HEADERS, ["content-length", "7"]]), data(message(THREE)), DONE),
    outcome: "value: 3",
  },
  {
    what: "says that its body is longer",
    script: answering(headers([...OK_HEADERS, ["content-length", "8"]]), data(message(THREE)), DONE),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends an empty message",
    script: answering(OK, data(message(new Uint8Array(0))), DONE),
    outcome: "value: 0",
  },
  {
    what: "is silent after the connection",
    script: onConnection(() => {}),
    outcome: "failed: timeout",
    timeoutMillis: 300,
  },
  { what: "is silent after the request", script: answering(), outcome: "failed: timeout", timeoutMillis: 300 },
  { what: "is silent after the headers", script: answering(OK), outcome: "failed: timeout", timeoutMillis: 300 },
  {
    what: "is silent before the trailers",
    script: answering(OK, data(message(THREE))),
    outcome: "failed: timeout",
    timeoutMillis: 300,
  },
  {
    what: "sends one byte at a time",
    script: repeating(OPEN, data(new Uint8Array(1))),
    outcome: "failed: timeout",
    timeoutMillis: 300,
  },
  {
    what: "sends informational headers for ever",
    script: repeating(SETTINGS, headers([[":status", "103"]])),
    outcome: "failed: timeout",
    timeoutMillis: 300,
  },
  {
    what: "closes at once",
    script: onConnection((socket) => void socket.destroy()),
    outcome: "failed: connection_failed",
  },
  {
    what: "closes after the request",
    script: { at: "request", play: (socket) => void socket.destroy() },
    outcome: "failed: connection_failed",
  },
  {
    what: "closes after the headers",
    script: { at: "request", play: (socket) => void socket.end(OPEN) },
    outcome: "failed: response_truncated",
  },
  {
    what: "closes within the message",
    script: { at: "request", play: (socket) => void socket.end(join([OPEN, data(message(THREE, { length: 9 }))])) },
    outcome: "failed: response_truncated",
  },
  { what: "says GOAWAY", script: answering(GOAWAY), outcome: "failed: connection_failed" },
  { what: "says GOAWAY after the headers", script: answering(OK, GOAWAY), outcome: "failed: connection_failed" },
  { what: "resets the stream", script: answering(RESET), outcome: "failed: connection_failed" },
  { what: "resets the stream after the headers", script: answering(OK, RESET), outcome: "failed: response_truncated" },
  {
    what: "resets the stream after the message",
    script: answering(OK, data(message(THREE)), RESET),
    outcome: "failed: response_truncated",
  },
  {
    what: "speaks HTTP/1",
    script: onConnection((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "speaks no protocol",
    script: onConnection((socket) => void socket.write(new Uint8Array(5000).fill(255))),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends settings for ever",
    script: repeating(SETTINGS, times(2000, SETTINGS), "connection"),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends pings for ever",
    script: repeating(SETTINGS, times(2000, PING), "connection"),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends no trailers",
    script: answering(OK, data(message(THREE), true)),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends trailers without a status",
    script: answering(OK, data(message(THREE)), headers([["x", "y"]], true)),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends a status in its headers and no trailers",
    script: answering(headers([...OK_HEADERS, ["grpc-status", "0"]]), data(message(THREE), true)),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends a status in its headers and trailers without one",
    script: answering(
      headers([...OK_HEADERS, ["grpc-status", "0"]]),
      data(message(THREE)),
      headers([["x", "y"]], true),
    ),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends another status in its headers than in its trailers",
    script: answering(headers([...OK_HEADERS, ["grpc-status", "5"]]), data(message(THREE)), DONE),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends the same status in its headers and its trailers",
    script: answering(headers([...OK_HEADERS, ["grpc-status", "0"]]), data(message(THREE)), DONE),
    outcome: "value: 3",
  },
  {
    what: "sends its content type in the trailers",
    script: answering(
      headers([[":status", "200"], ["content-type", "text/html"]]),
      data(message(THREE)),
      headers([["content-type", "application/grpc"], ["grpc-status", "0"]], true),
    ),
    outcome: "observed: content_type_invalid",
  },
  {
    what: "sends a status that does not exist",
    script: answering(status("99")),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends a status that is no number",
    script: answering(status("OK")),
    outcome: "failed: provider_protocol_error",
  },
  { what: "sends no message", script: answering(OK, DONE), outcome: "failed: provider_protocol_error" },
  {
    what: "sends two messages",
    script: answering(OK, data(message(THREE)), data(message(THREE)), DONE),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends a message with an unknown flag",
    script: answering(OK, data(message(THREE, { flag: 2 })), DONE),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends another type than declared",
    script: answering(OK, data(message(new Uint8Array([10, 1, 97]))), DONE),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "sends text that is not UTF-8",
    script: answering(OK, data(message(new Uint8Array([18, 1, 255]))), DONE),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "says that the message is longer",
    script: answering(OK, data(message(THREE, { length: 3 })), DONE),
    outcome: "failed: response_truncated",
  },
  {
    what: "says that the message is shorter",
    script: answering(OK, data(message(THREE, { length: 1 })), DONE),
    outcome: "failed: provider_protocol_error",
  },
  {
    what: "says that the message has 4 GB",
    script: answering(OK, data(message(THREE, { length: 2 ** 32 - 1 }))),
    outcome: "failed: response_too_large",
  },
  {
    what: "says that the message is one byte too large",
    script: answering(OK, data(message(THREE, { length: RESPONSE_BYTES + 1 }))),
    outcome: "failed: response_too_large",
  },
  {
    what: "sends messages for ever",
    script: repeating(OPEN, times(4, data(message(new Uint8Array(16_000))))),
    outcome: "failed: response_too_large",
  },
  {
    what: "sends data without end for a status",
    script: repeating(join([SETTINGS, headers([[":status", "500"]])]), data(new Uint8Array(16_000))),
    outcome: "failed: response_too_large",
  },
  {
    what: "sends a header of 17 kB",
    script: answering(headers([...OK_HEADERS, ["x", "a".repeat(17_000)]])),
    outcome: "failed: response_too_large",
  },
  {
    what: "sends 100 headers",
    script: answering(headers([...OK_HEADERS, ...Array.from({ length: 100 }, (_, at) => [`x-${at}`, "a"] as const)])),
    outcome: "failed: response_too_large",
  },
  {
    what: "sends a compressed message",
    script: answering(OK, data(message(THREE, { flag: 1 })), DONE),
    outcome: "observed: content_encoding_unsupported",
  },
  {
    what: "sends HTML",
    script: answering(headers([[":status", "200"], ["content-type", "text/html"]]), data(THREE, true)),
    outcome: "observed: content_type_invalid",
  },
  {
    what: "sends a page of HTML",
    script: answering(headers([[":status", "200"], ["content-type", "text/html"]]), data(PAGE, true)),
    outcome: "observed: content_type_invalid",
  },
  {
    what: "sends HTTP status 502 with a page of HTML",
    script: answering(headers([[":status", "502"], ["content-type", "text/html"]]), data(PAGE, true)),
    outcome: "observed: status_unexpected",
  },
  {
    what: "sends gRPC-Web",
    script: answering(headers([[":status", "200"], ["content-type", "application/grpc-web"]], true)),
    outcome: "observed: content_type_invalid",
  },
  {
    what: "sends no content type",
    script: answering(headers([[":status", "200"], ["grpc-status", "0"]], true)),
    outcome: "observed: content_type_invalid",
  },
  {
    what: "sends HTTP status 503",
    script: answering(headers([[":status", "503"]], true)),
    outcome: "observed: status_unexpected",
  },
  {
    what: "redirects",
    script: answering(headers([[":status", "302"], ["location", "https://example.com/"]], true)),
    outcome: "observed: status_unexpected",
  },
  {
    what: "answers NOT_FOUND in its only headers",
    script: answering(status("5", "no%20such")),
    outcome: "observed: grpc_status",
  },
  {
    what: "answers INTERNAL in its trailers",
    script: answering(OK, data(message(THREE)), headers([["grpc-status", "13"]], true)),
    outcome: "observed: grpc_status",
  },
];
