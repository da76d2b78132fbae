import assert from "node:assert/strict";
import { EDGE_CODES, type EdgeErrorKind, errorResponse, isRetryable, jsonRpcError } from "./edge_error.ts";

const KINDS: readonly (readonly [kind: EdgeErrorKind, code: number, retryable: boolean])[] = [
  ["parse_error", -32700, false],
  ["invalid_request", -32600, false],
  ["method_not_found", -32601, false],
  ["invalid_params", -32602, false],
  ["internal", -32603, false],
  ["unauthenticated", -32001, false],
  ["unauthorized", -32003, false],
  ["header_mismatch", -32020, false],
  ["missing_capability", -32021, false],
  ["unsupported_protocol_version", -32022, false],
  ["request_too_large", -32070, false],
  ["rate_limited", -32071, true],
  ["inflight_limit", -32072, true],
  ["invalid_correlation_id", -32073, false],
  ["unavailable", -32074, false],
];

Deno.test("jsonRpcError() gives each kind its code, and marks retryable kinds", () => {
  assert.deepEqual(KINDS.map(([kind]) => kind), Object.keys(EDGE_CODES));
  for (const [kind, code, retryable] of KINDS) {
    const error = jsonRpcError({ kind, message: "m" }, "a");
    assert.deepEqual(error, { code, message: "m", data: { kind, retryable, request_id: "a" } });
    assert.equal(isRetryable(kind), retryable);
  }
});

Deno.test("errorResponse() carries what is known about the failure", () => {
  const versions = { supported: ["2026-07-28"], requested: "1999-01-01" };
  const error = {
    kind: "invalid_request",
    message: "m",
    path: "$.a",
    fault: "f",
    correlationId: "c",
    versions,
  } as const;
  assert.deepEqual(JSON.parse(errorResponse(error, null)), {
    jsonrpc: "2.0",
    id: null,
    error: {
      code: -32600,
      message: "m",
      data: {
        kind: "invalid_request",
        retryable: false,
        request_id: null,
        path: "$.a",
        fault: "f",
        correlation_id: "c",
        supported: ["2026-07-28"],
        requested: "1999-01-01",
      },
    },
  });
});
