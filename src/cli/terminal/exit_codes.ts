/** The exit codes and their meanings; scripts rely on them. */

/** The exit codes by name. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  evaluatedFalse: 3,
  unknown: 4,
  stale: 5,
  verificationFailed: 6,
  denied: 7,
  unreachable: 8,
} as const;

/** One of {@link EXIT}. */
export type ExitCode = typeof EXIT[keyof typeof EXIT];

/** The meaning of each exit code, in order. */
export const EXIT_CODE_MEANINGS: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: EXIT.ok, meaning: "done, or the answer is True" },
  { code: EXIT.unexpected, meaning: "an unexpected failure" },
  { code: EXIT.usage, meaning: "the command line, the configuration, a file or a call is invalid" },
  { code: EXIT.evaluatedFalse, meaning: "the answer is False, or a case did not have the expected outcome" },
  { code: EXIT.unknown, meaning: "the answer is Unknown: evidence, or material to verify, is missing" },
  { code: EXIT.stale, meaning: "stale head: the run has moved on since the named head" },
  { code: EXIT.verificationFailed, meaning: "verification failed: the data differs from what was recorded" },
  { code: EXIT.denied, meaning: "permission denied" },
  { code: EXIT.unreachable, meaning: "unavailable: a server, a store, a provider or another dependency" },
];
