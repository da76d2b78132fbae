import { VERSION } from "../../config/product_version.ts";

/** `serverInfo` of `initialize`, and of each result's `_meta` from 2026-07-28 on. */
export const SERVER_INFO: { readonly name: string; readonly title: string; readonly version: string } = {
  name: "gate",
  title: "gate: may this work move on?",
  version: VERSION,
};

/** The stateless revision: a `_meta` envelope on every request, `server/discover` in place of `initialize`. */
export const MODERN_VERSION = "2026-07-28";

/** The revisions that `initialize` negotiates, newest first; any other is answered with the first of these. */
export const LEGACY_VERSIONS: readonly [newest: string, ...older: string[]] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/** How long clients may cache `tools/list`, `server/discover` and documents. None changes while the process runs. */
export const LIST_CACHE: { readonly ttlMs: number; readonly cacheScope: "private" } = {
  ttlMs: 300_000,
  cacheScope: "private",
};
