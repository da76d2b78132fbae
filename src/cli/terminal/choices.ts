/** Allowed values that both help and the commands use. */

/** The shells with completions. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of {@link SHELLS}. */
export type Shell = typeof SHELLS[number];

/** The output formats of `gate scenario graph`. */
export const GRAPH_FORMATS = ["terminal", "mermaid", "svg"] as const;

/** The descriptions of services that `gate provider import` reads. */
export const IMPORT_KINDS = ["openapi", "grpc"] as const;
