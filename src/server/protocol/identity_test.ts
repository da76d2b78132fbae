import assert from "node:assert/strict";
import configuration from "../../../deno.json" with { type: "json" };
import { USER_AGENT, VERSION } from "../../config/product_version.ts";
import { HTTP_SETTINGS, REST_SETTINGS } from "../../evidence/contract/builtin_settings.ts";

Deno.test("VERSION is that of deno.json", () => assert.equal(VERSION, configuration.version));

Deno.test("USER_AGENT names the product and its version, as the published contracts do", () => {
  assert.equal(USER_AGENT, `gate/${configuration.version.split(".").slice(0, 2).join(".")}`);
  // Contracts are written out because runs are bound to their identity: another version needs new contracts.
  const defaults = [HTTP_SETTINGS, REST_SETTINGS].map((settings) => JSON.stringify(settings).match(/gate\/[0-9.]+/g));
  assert.deepEqual(defaults, [[USER_AGENT], [USER_AGENT]]);
});
