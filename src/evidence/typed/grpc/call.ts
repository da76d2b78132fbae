/** One check of a gRPC service: the call, and what its response shows. It runs in the worker of the provider. */

import { words } from "../../../canonical/words.ts";
import type { DescMethod } from "@bufbuild/protobuf";
import { decodeBase64 } from "../../../canonical/base64.ts";
import type { JsonObject } from "../../../canonical/json.ts";
import { type Finding, observed } from "../../builtin/result.ts";
import { sha256 } from "../../host_primitives.ts";
import { selectWhole } from "../../json_path/json_path.ts";
import type { CallQuestion, CallReply } from "../call.ts";
import { credentialRepeated, hide, repeats, secretsOf } from "../repeated_credentials.ts";
import type { GrpcOperation, GrpcProfile } from "../runtime_profile.ts";
import { openDescriptors } from "./descriptors.ts";
import { GRPC_LIMITS } from "./limits.ts";
import { decodeResponse, encodeRequest } from "./message_json.ts";
import {
  callUnary,
  declaredLength,
  FRAME_BYTES,
  isGrpcType,
  type UnaryCall,
  type UnaryResponse,
} from "./unary_call.ts";

/** The names of the status codes, by number. */
const STATUS_NAMES = words(
  "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS",
  "UNAUTHENTICATED",
);

/** The name of a status code; null where the text is no code of the protocol. */
function statusName(text: string): string | null {
  return /^(?:0|[1-9][0-9]?)$/.test(text) ? STATUS_NAMES[Number(text)] ?? null : null;
}

/**
 * Decodes `grpc-message`, which is percent-encoded UTF-8. As the protocol asks, an invalid encoding stays as it was
 * sent.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decodeStatusMessage } from "@/evidence/typed/grpc/call.ts";
 *
 * assert.equal(decodeStatusMessage("50%25 of %F0%9F%90%A2"), "50% of 🐢");
 * assert.equal(decodeStatusMessage("100%"), "100%");
 * ```
 */
export function decodeStatusMessage(sent: string): string {
  let text = sent;
  try {
    text = decodeURIComponent(sent);
  } catch {
    // Not percent-encoded UTF-8.
  }
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, " ");
}

/** The first characters of a text, with a mark where it is cut. */
function shortened(text: string, maximum: number): string {
  return text.length <= maximum ? text : `${text.slice(0, maximum).toWellFormed()}...`;
}

/** Runs the checks of one profile. */
export type GrpcCaller = (question: CallQuestion, signal: AbortSignal) => Promise<CallReply>;

/** Opens the descriptors of a profile once, for all of its calls. */
export function createGrpcCaller(profile: GrpcProfile): GrpcCaller {
  const opened = openDescriptors(profile.descriptor_set_base64);
  const descriptorHash = sha256(decodeBase64(profile.descriptor_set_base64) ?? new Uint8Array(0));
  return async (question, signal) => {
    const operation = profile.operations[question.check_id];
    if (operation === undefined) throw new Error(`Cannot call: the profile has no operation "${question.check_id}"`);
    if (!opened.ok) return unusable(`the descriptors cannot be used: ${opened.message}`);
    const method = opened.registry.getService(operation.service)?.methods.find(({ name }) => name === operation.method);
    if (method === undefined) return unusable("the descriptors lack the method");
    if (method.methodKind !== "unary") return unusable("the method is not unary");
    return await callGrpc({ profile, operation, method, descriptorHash }, question, signal);
  };
}

/** The profile came past every check, yet it cannot be used; no request is sent. */
function unusable(reason: string): CallReply {
  return { ok: false, code: "provider_protocol_error", message: `Cannot call the service: ${reason}`, unsent: false };
}

interface Target {
  readonly profile: GrpcProfile;
  readonly operation: GrpcOperation;
  readonly method: DescMethod;
  readonly descriptorHash: string;
}

async function callGrpc(target: Target, question: CallQuestion, signal: AbortSignal): Promise<CallReply> {
  const request = encodeRequest(target.method.input, question.params);
  if (!request.ok) {
    const finding = observed(
      "params_invalid",
      `Expected params that are the JSON form of a request: ${request.message}`,
    );
    return { ok: true, response: { finding, anchor: null } };
  }
  const answer = await callUnary(unaryCall(target, question, request.bytes), signal);
  if (!answer.ok) return answer;
  const judged = judge(target, answer.response, secretsOf(question));
  if ("code" in judged) {
    const { host } = unaryCall(target, question, request.bytes);
    return { ok: false, code: judged.code, message: `Cannot call "${host}": ${judged.reason}`, unsent: false };
  }
  const anchor: JsonObject = {
    service: target.operation.service,
    method: target.operation.method,
    request_hash: sha256(request.bytes),
    status: judged.status,
    response_hash: judged.message === null ? null : sha256(judged.message),
    descriptor_hash: target.descriptorHash,
  };
  return { ok: true, response: { finding: judged.finding, anchor } };
}

function unaryCall({ profile, operation }: Target, question: CallQuestion, message: Uint8Array): UnaryCall {
  const authority = profile.authority ?? profile.endpoint;
  const { address, connectMillis, millis, credentials, authorities, client } = question;
  return {
    address,
    port: Number(profile.endpoint.slice(profile.endpoint.lastIndexOf(":") + 1)),
    // Without port and brackets.
    host: authority.replace(/:[0-9]+$/, "").replace(/^\[(.*)\]$/, "$1"),
    authority,
    tls: profile.plaintext ? null : { authorities, client },
    path: `/${operation.service}/${operation.method}`,
    metadata: credentials,
    message,
    connectMillis: Math.min(connectMillis, millis),
    timeoutMillis: millis,
    maximumBytes: profile.limits.max_response_bytes,
  };
}

/** What a response shows, or why it is not a response of the protocol. */
type Judged =
  | { readonly finding: Finding; readonly status: string | null; readonly message: Uint8Array | null }
  | { readonly code: "provider_protocol_error" | "response_truncated"; readonly reason: string };

function judge(target: Target, response: UnaryResponse, secrets: readonly string[]): Judged {
  const { httpStatus, contentType, status: sent } = response;
  if (httpStatus !== 200) {
    const details = { status: httpStatus };
    return unread(null, observed("status_unexpected", `Expected HTTP status 200, got ${httpStatus}`, details));
  }
  if (!isGrpcType(contentType)) {
    const details = { content_type: hide(contentType, secrets).slice(0, 256) };
    return unread(null, observed("content_type_invalid", "Expected content type application/grpc", details));
  }
  if (sent === null) return { code: "provider_protocol_error", reason: "the response has no grpc-status" };
  const status = statusName(sent);
  if (status === null) return { code: "provider_protocol_error", reason: "the response has an unknown grpc-status" };
  if (status !== "OK") {
    // Secrets are replaced first: the cut may be within one.
    const hidden = hide(decodeStatusMessage(response.statusMessage), secrets);
    const text = shortened(hidden, GRPC_LIMITS.statusMessageCharacters);
    return unread(status, observed("grpc_status", `The service answered ${status}`, { status, message: text }));
  }
  return readMessage(target, response.body, secrets);
}

function unread(status: string | null, finding: Finding): Judged {
  return { finding, status, message: null };
}

function readMessage({ method, operation }: Target, body: Uint8Array, secrets: readonly string[]): Judged {
  if (body.length < FRAME_BYTES) return { code: "provider_protocol_error", reason: "the response has no message" };
  const message = body.subarray(FRAME_BYTES);
  const length = declaredLength(body);
  if (length > message.length) return { code: "response_truncated", reason: "the message is shorter than it says" };
  if (length < message.length) return { code: "provider_protocol_error", reason: "more follows the message" };
  if (body[0] === 1) {
    return unread(
      "OK",
      observed("content_encoding_unsupported", "The message is compressed, although the call allows no compression"),
    );
  }
  if (body[0] !== 0) return { code: "provider_protocol_error", reason: "the message has an unknown flag" };
  if (repeats(message, secrets)) {
    return unread("OK", credentialRepeated());
  }
  const decoded = decodeResponse(method.output, message, operation.result_path);
  if (!decoded.ok) {
    return { code: "provider_protocol_error", reason: `the message does not fit its descriptor: ${decoded.message}` };
  }
  if (decoded.value === undefined) return { finding: { found: null }, status: "OK", message };
  const selected = selectWhole(decoded.value);
  const finding: Finding = "error" in selected ? selected : { ...selected, content_type: "application/json" };
  return { finding, status: "OK", message };
}
