/**
 * What each exit code means; scripts rely on them.
 *
 * @module
 */

/** The exit codes, by meaning. */
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

/** Each exit code with what it means, in order. */
export const EXIT_CODE_MEANINGS: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: EXIT.ok, meaning: "done, or the answer is True" },
  { code: EXIT.unexpected, meaning: "something failed that should not have" },
  { code: EXIT.usage, meaning: "the command line, the configuration, a file or a call is wrong" },
  { code: EXIT.evaluatedFalse, meaning: "the answer is False, or a case does not come out as expected" },
  { code: EXIT.unknown, meaning: "the answer is Unknown: evidence is missing, or material to check" },
  { code: EXIT.stale, meaning: "the run moved on: the head that was named is no longer the accepted one" },
  { code: EXIT.verificationFailed, meaning: "verification failed: something is not as it was recorded" },
  { code: EXIT.denied, meaning: "the caller may not do this" },
  { code: EXIT.unreachable, meaning: "the server, a store, a provider or what a server needs cannot be reached" },
];
