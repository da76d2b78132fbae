/**
 * Who this server says it is, in every protocol revision.
 *
 * @module
 */

/** Version of the build, as in `deno.json`. */
export const VERSION = "0.1.0";

/** `serverInfo` of `initialize`, and of each result's `_meta` from 2026-07-28 on. */
export const SERVER_INFO: { readonly name: string; readonly title: string; readonly version: string } = {
  name: "gate",
  title: "gate: may this work move on?",
  version: VERSION,
};

/** The stateless revision: a `_meta` envelope on every request, `server/discover` in place of `initialize`. */
export const MODERN_VERSION = "2026-07-28";

/** The revisions that `initialize` negotiates, newest first; any other is answered with the first of these. */
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/** How long clients may keep `tools/list` and `server/discover` answers: neither changes while the process lives. */
export const LIST_CACHE: { readonly ttlMs: number; readonly cacheScope: "private" } = {
  ttlMs: 300_000,
  cacheScope: "private",
};

/** Told to clients once: the order of the tools, and how to recover. */
export const INSTRUCTIONS: string = [
  "gate decides from evidence whether work may move on, and records each decision so that it can be checked offline.",
  "Order: scenario_define (the law), scenario_start (a run), then for each stage scenario_open_stage and " +
  "scenario_evaluate_stage with its evidence; scenario_submit records artifacts; runpack_export publishes the record.",
  "Every mutation names expected_head, the exact head that it follows: the accepted_head of the last answer. On `stale`, " +
  "read scenario_status and decide again from the head that it gives.",
  "If an answer was lost, ask scenario_resolve_creation or scenario_resolve_mutation for it before trying anything else; " +
  "repeating an accepted call with the same ids returns its original answer.",
  "`unknown` never opens a gate; answers list what is missing. scenario_precheck_stage tries evidence without recording.",
].join("\n");
