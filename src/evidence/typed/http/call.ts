/** One check of an HTTP service: the request, and what its response shows. It runs in the worker of the provider. */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { isJsonContentType } from "../../../law/content_type.ts";
import { readJsonDocument } from "../../builtin/json_document.ts";
import { baseHeaders, headerValue, refuseEncoding } from "../../builtin/response.ts";
import { type Finding, observed } from "../../builtin/result.ts";
import { checkDestination, type Destination } from "../../egress/destination.ts";
import { type PinnedQuestion, type PinnedResponse, requestPinned } from "../../egress/pinned_request.ts";
import { sha256 } from "../../host_primitives.ts";
import { selectWhole } from "../../json_path/json_path.ts";
import type { CallQuestion, CallReply } from "../call.ts";
import type { HttpOperation, OpenApiHttpProfile } from "../runtime_profile.ts";
import { credentialRepeated, hide, repeats, repeatsInJson, secretsOf } from "../repeated_credentials.ts";
import { type RequestParts, serialiseParams } from "./serialise.ts";

const USER_AGENT = "gate/0.1";

/** The host has checked the destination already; here it is only parsed. */
const PARSED_ONLY = { allowHttp: true, allowPrivateNetworks: true, allowedHosts: null };

/** Runs one check. Never rejects. */
export async function callHttp(
  profile: OpenApiHttpProfile,
  question: CallQuestion,
  signal: AbortSignal,
): Promise<CallReply> {
  const operation = profile.operations[question.check_id];
  if (operation === undefined) throw new Error(`Cannot call: the profile has no operation "${question.check_id}"`);
  const parts = serialiseParams(operation, question.params);
  if ("error" in parts) return { ok: true, response: { finding: parts, anchor: null } };
  const destination = destinationOf(profile, parts);
  if (destination === null) {
    const finding = observed("params_invalid", "Expected params that make a URL of at most 8192 characters");
    return { ok: true, response: { finding, anchor: null } };
  }
  const answer = await requestPinned(requestOf(profile, operation, question, parts, destination), signal);
  if (!answer.ok) return answer;
  const { response } = answer;
  const secrets = secretsOf(question);
  const isRepeated = repeats(response.body, secrets);
  const isRead = operation.expected_status.includes(response.status) && !isRepeated;
  const anchor: JsonObject = {
    method: operation.method,
    url_template: `${baseOf(profile)}${operation.path_template}`,
    parameters_hash: sha256(canonicalize(question.params)),
    status: response.status,
    content_type: contentTypeOf(response, secrets)?.slice(0, 256) ?? null,
    body_hash: isRead ? sha256(response.body) : null,
  };
  const finding = isRepeated ? credentialRepeated() : withoutSecrets(findingOf(operation, response, secrets), secrets);
  return { ok: true, response: { finding, anchor } };
}

/** The finding, unless it contains a secret: JSON can escape characters, so the body alone does not show it. */
function withoutSecrets(finding: Finding, secrets: readonly string[]): Finding {
  const text = "found" in finding ? finding.found ?? "" : canonicalize(finding.error as JsonValue);
  return repeatsInJson(text, secrets) ? credentialRepeated() : finding;
}

function contentTypeOf(response: PinnedResponse, secrets: readonly string[]): string | null {
  const contentType = headerValue(response, "content-type");
  return contentType === null ? null : hide(contentType, secrets);
}

/** The base URL without a slash at its end. */
function baseOf({ base_url }: OpenApiHttpProfile): string {
  return base_url.replace(/\/$/, "");
}

function destinationOf(profile: OpenApiHttpProfile, { path, query }: RequestParts): Destination | null {
  const url = `${baseOf(profile)}${path}${query === "" ? "" : `?${query}`}`;
  const destination = checkDestination(url, PARSED_ONLY);
  return destination === null || "code" in destination ? null : destination;
}

function requestOf(
  profile: OpenApiHttpProfile,
  operation: HttpOperation,
  question: CallQuestion,
  { headers, body }: RequestParts,
  { secure, host, authority, port, target }: Destination,
): PinnedQuestion {
  const bytes = body === null ? null : new TextEncoder().encode(body);
  const framing: PinnedQuestion["headers"] = bytes === null
    ? (operation.method === "GET" ? [] : [["Content-Length", "0"]])
    : [["Content-Type", "application/json"], ["Content-Length", String(bytes.length)]];
  const { address, connectMillis, authorities, client, credentials } = question;
  return {
    secure,
    host,
    authority,
    port,
    method: operation.method,
    target,
    address,
    headers: [...baseHeaders(USER_AGENT, operation.accept), ...framing, ...headers, ...credentials],
    body: bytes,
    wantsBody: operation.expected_status,
    maximumBytes: profile.limits.max_response_bytes,
    connectMillis,
    authorities,
    client,
  };
}

function findingOf(operation: HttpOperation, response: PinnedResponse, secrets: readonly string[]): Finding {
  const { status } = response;
  if (!operation.expected_status.includes(status)) {
    return observed("status_unexpected", `Expected another status, got ${status}`, { status });
  }
  const contentType = contentTypeOf(response, secrets);
  if (contentType === null || !isJsonContentType(contentType)) {
    const message = "Expected content type application/json or one that ends in +json";
    return observed("content_type_invalid", message, { content_type: contentType?.slice(0, 256) ?? null });
  }
  const encoded = refuseEncoding(response);
  if (encoded !== null) return encoded;
  const read = readJsonDocument(response.body, {});
  if ("error" in read) return read;
  const value = resultAt(read.document, operation.result_pointer);
  if (value === undefined) {
    const pointer = operation.result_pointer;
    return observed("result_pointer_not_found", "The response has no value at the result pointer", { pointer });
  }
  const selected = selectWhole(value);
  return "error" in selected ? selected : { ...selected, content_type: "application/json" };
}

/** The value at a JSON pointer (RFC 6901); undefined without one. */
function resultAt(document: JsonValue, pointer: string | null): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const token of (pointer ?? "").split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (isJsonArray(value)) value = /^(?:0|[1-9][0-9]{0,8})$/.test(name) ? value[Number(name)] : undefined;
    else value = value !== undefined && isJsonObject(value) ? member(value, name) : undefined;
  }
  return value;
}
