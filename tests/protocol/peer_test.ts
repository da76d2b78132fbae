/** gate's protocol answers as the SDK's server does: 10,000 mutated messages for both. */

import assert from "node:assert/strict";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { LEGACY_VERSIONS } from "@/server/protocol/identity.ts";
import { compareOnConnections, compareOverHttp } from "./comparison.ts";

/** Messages of each kind. */
const MESSAGES = 5000;

Deno.test("the versions of the older era are those of the SDK, newest first", () => {
  assert.deepEqual(LEGACY_VERSIONS, SUPPORTED_PROTOCOL_VERSIONS);
});

Deno.test("gate and the SDK's server answer alike over HTTP", () => compareOverHttp(20_261_122, MESSAGES));

Deno.test("gate and the SDK's server answer alike on connections", () => compareOnConnections(20_261_123, MESSAGES));
