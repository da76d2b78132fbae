/**
 * The JSON Schema of a runtime profile, version 1. It is the shape that the check reads; the check also compares the members
 * with each other and with the contract.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { HTTP_METHODS, PARAMETER_STYLES, PROFILE_LIMITS as L, PROFILE_PATTERNS as P } from "./runtime_profile.ts";

function text(pattern: string, description: string, maxLength: number = L.nameCharacters): JsonObject {
  return { type: "string", pattern, maxLength, description };
}

function closed(properties: JsonObject): JsonObject {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function orNull(schema: JsonObject, description: string): JsonObject {
  return { anyOf: [schema, { type: "null" }], description };
}

function list(items: JsonObject, maxItems: number, description: string): JsonObject {
  return { type: "array", items, maxItems, description };
}

const NAME: JsonObject = { type: "string", minLength: 1, maxLength: L.nameCharacters };
const LOCATOR = { $ref: "#/$defs/locator" };

const SOURCE = {
  ...closed({
    operation: { type: "string", minLength: 1, maxLength: L.pointerBytes },
    pointer: { type: "string", pattern: P.pointer, maxLength: L.pointerBytes },
  }),
  description: "Where in the imported document the operation comes from; for readers.",
};

function operations(operation: JsonObject): JsonObject {
  return {
    type: "object",
    additionalProperties: operation,
    minProperties: 1,
    maxProperties: L.operations,
    description: "One operation for each check of the contract, by check_id.",
  };
}

const PARAMETER: JsonObject = {
  type: "object",
  oneOf: Object.entries(PARAMETER_STYLES).map(([place, styles]) =>
    closed({
      name: place === "header"
        ? text(P.headerName, "Name of the header.")
        : { ...NAME, description: "Name in the request." },
      in: { const: place },
      param: { ...NAME, description: "The member of the check's params." },
      style: { enum: [...styles], description: "How an array or object is written." },
      explode: { type: "boolean", description: "Whether each item or member is written by itself." },
    })
  ),
};

const HTTP_OPERATION = closed({
  method: { enum: [...HTTP_METHODS] },
  path_template: text(P.pathTemplate, "Path with {name} for each path parameter.", L.pathCharacters),
  parameters: list(PARAMETER, L.parameters, "Parts of the request that follow from params."),
  body: orNull(
    closed({ param: NAME, content_type: { const: "application/json" } }),
    "The member of params to send as the body; null without a body.",
  ),
  accept: text(P.headerValue, "Value of the header Accept."),
  expected_status: {
    ...list({ type: "integer", minimum: 200, maximum: 599 }, 400, "Statuses that have a result; each once."),
    minItems: 1,
  },
  result_pointer: orNull(
    { type: "string", pattern: P.pointer, maxLength: L.pointerBytes },
    "JSON pointer to the result in the response; null for the whole response.",
  ),
  source: SOURCE,
});

const GRPC_OPERATION = closed({
  service: text(P.serviceName, "Full name of the service."),
  method: text(P.methodName, "Name of the unary method."),
  result_path: orNull(
    { type: "array", items: NAME, minItems: 1, maxItems: L.resultPathItems },
    "Members from the JSON form of the response to the result; null for the whole response.",
  ),
  source: SOURCE,
});

function credentials(own: JsonObject): JsonObject {
  const common = closed({ kind: { enum: ["bearer", "basic"] }, locator: LOCATOR });
  return list({ oneOf: [common, own] }, L.credentials, "Credentials to send; basic is user:password.");
}

const BASE: JsonObject = {
  profile_version: { const: "1" },
  tls: closed({
    ca: orNull(LOCATOR, "PEM certificates to trust in place of those of the system."),
    client: orNull(closed({ certificate: LOCATOR, key: LOCATOR }), "PEM certificate and key of this client."),
  }),
  limits: closed({
    timeout_ms: { type: "integer", minimum: 1, maximum: L.timeoutMillis, description: "Milliseconds of one check." },
    max_response_bytes: {
      type: "integer",
      minimum: 1,
      maximum: L.responseBytes,
      description: "Bytes of the body of one response.",
    },
  }),
};

const HTTP = closed({
  ...BASE,
  typed_protocol: { const: "openapi_http" },
  base_url: text(P.baseUrl, "Address of the service; no user information, query or fragment.", L.urlCharacters),
  credentials: credentials(
    closed({ kind: { const: "api_key" }, header: text(P.headerName, "Header of the key."), locator: LOCATOR }),
  ),
  operations: operations(HTTP_OPERATION),
});

const GRPC = closed({
  ...BASE,
  typed_protocol: { const: "grpc" },
  endpoint: text(P.endpoint, "host:port of the service."),
  plaintext: { type: "boolean", description: "Whether to connect without TLS." },
  authority: orNull(text(P.authority, "host or host:port."), "Replaces the endpoint's name; null for the endpoint."),
  credentials: credentials(
    closed({ kind: { const: "metadata" }, name: text(P.metadataName, "Name of the metadata."), locator: LOCATOR }),
  ),
  descriptor_set_base64: {
    type: "string",
    pattern: P.base64,
    maxLength: L.bytes,
    description: "FileDescriptorSet with the files that the operations need.",
  },
  operations: operations(GRPC_OPERATION),
});

/** The JSON Schema (2020-12) of a runtime profile. */
export const PROFILE_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "gate runtime profile",
  description: "Runtime profile of a typed provider, version 1.",
  type: "object",
  oneOf: [HTTP, GRPC],
  $defs: { locator: text(P.locator, "file://NAME or env://NAME; never the credential itself.") },
};
