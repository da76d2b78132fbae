/**
 * The peers of the benchmarks. They are named here, not in `deno.json`, since the runtime downloads what its lock names,
 * whatever is started; `tests/deno.lock` has them.
 *
 * @module
 */

export { preparsePolicySet, statefulIsAuthorized } from "npm:@cedar-policy/cedar-wasm@4.13.0/nodejs";
export { parse as parseCel } from "npm:@marcbachmann/cel-js@8.0.0";
export { default as jsonLogic } from "npm:json-logic-js@2.0.5";
export { Engine } from "npm:json-rules-engine@7.3.1";
export { default as MiniSearch } from "npm:minisearch@7.2.0";
