/** The messages between the host and its worker. */

/** A message to the worker: first the setup, then questions, several of which may run at a time. */
export type WorkerOrder =
  | { readonly kind: "setup"; readonly setup: unknown }
  | { readonly kind: "ask"; readonly id: number; readonly question: unknown }
  | { readonly kind: "cancel"; readonly id: number };

/** A message of the worker. */
export type WorkerReport =
  /** The worker accepts questions. */
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly id: number; readonly answer: unknown }
  /** The worker's code threw an error. */
  | { readonly kind: "failed"; readonly id: number; readonly message: string };
