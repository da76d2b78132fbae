/**
 * What the host and a provider's worker say to each other.
 *
 * @module
 */

/** What a worker is told: first how it is set up, then what to do; several things may be under way. */
export type ProviderOrder =
  | { readonly kind: "setup"; readonly setup: unknown }
  | { readonly kind: "ask"; readonly id: number; readonly question: unknown }
  | { readonly kind: "cancel"; readonly id: number };

/** What a worker says. */
export type ProviderReport =
  /** It can take questions. */
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  /** The question could not be worked on; a fault of the worker's code. */
  | { readonly kind: "failed"; readonly id: number; readonly message: string };
