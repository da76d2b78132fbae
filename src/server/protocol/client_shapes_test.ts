import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { CLIENT_INFO, LEGACY_CAPABILITIES, LOG_LEVEL, MODERN_CAPABILITIES } from "./client_shapes.ts";
import type { Check } from "./wire_check.ts";

const CLIENT = { name: "a", version: "1" };
const ICON = { src: "https://example.com/a.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" };

/** A value, and the path and expectation of its misfit; empty for none. */
const ROWS: readonly (readonly [name: string, check: Check, value: JsonValue, misfit: string])[] = [
  ["clientInfo", CLIENT_INFO, CLIENT, ""],
  [
    "clientInfo",
    CLIENT_INFO,
    { ...CLIENT, title: "A", description: "b", websiteUrl: "c", icons: [ICON], other: 1 },
    "",
  ],
  ["clientInfo", CLIENT_INFO, { name: "a" }, "version a string"],
  ["clientInfo", CLIENT_INFO, { ...CLIENT, title: null }, "title a string"],
  ["clientInfo", CLIENT_INFO, { ...CLIENT, icons: {} }, "icons an array"],
  ["clientInfo", CLIENT_INFO, { ...CLIENT, icons: [ICON, {}] }, "icons.1.src a string"],
  ["clientInfo", CLIENT_INFO, { ...CLIENT, icons: [{ ...ICON, sizes: [1] }] }, "icons.0.sizes.0 a string"],
  [
    "clientInfo",
    CLIENT_INFO,
    { ...CLIENT, icons: [{ ...ICON, theme: "red" }] },
    'icons.0.theme one of "light", "dark"',
  ],
  ["clientInfo", CLIENT_INFO, null, " an object"],
  ["capabilities", LEGACY_CAPABILITIES, {}, ""],
  ["capabilities", LEGACY_CAPABILITIES, { roots: { listChanged: true }, sampling: {}, elicitation: {} }, ""],
  ["capabilities", LEGACY_CAPABILITIES, { elicitation: { form: { applyDefaults: true }, url: {} }, other: 1 }, ""],
  ["capabilities", LEGACY_CAPABILITIES, { experimental: { a: {} }, extensions: { "com.example/a": { b: [1] } } }, ""],
  ["capabilities", LEGACY_CAPABILITIES, { roots: { listChanged: "yes" } }, "roots.listChanged true or false"],
  ["capabilities", LEGACY_CAPABILITIES, { sampling: { tools: 1 } }, "sampling.tools an object"],
  ["capabilities", LEGACY_CAPABILITIES, { elicitation: { url: null } }, "elicitation.url an object"],
  ["capabilities", LEGACY_CAPABILITIES, { experimental: { a: 1 } }, "experimental.a an object"],
  ["capabilities", LEGACY_CAPABILITIES, { tasks: { list: true } }, "tasks.list an object"],
  ["capabilities", LEGACY_CAPABILITIES, { tasks: { requests: { sampling: 1 } } }, "tasks.requests.sampling an object"],
  ["capabilities", LEGACY_CAPABILITIES, [], " an object"],
  ["capabilities of 2026-07-28", MODERN_CAPABILITIES, { tasks: 1 }, ""],
  ["capabilities of 2026-07-28", MODERN_CAPABILITIES, { roots: 1 }, "roots an object"],
  ["a log level", LOG_LEVEL, "debug", ""],
];

for (const [name, check, value, expected] of ROWS) {
  Deno.test(`${name} ${JSON.stringify(value)}: ${expected === "" ? "accepted" : expected}`, () => {
    const misfit = check(value);
    assert.equal(misfit === null ? "" : `${misfit.steps.join(".")} ${misfit.expected}`, expected);
  });
}
