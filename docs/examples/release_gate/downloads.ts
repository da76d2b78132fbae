/**
 * The first line of the commands with which a newcomer begins: what they download, and how long they take. This module
 * imports no package, so the line is shown before any download.
 *
 * @module
 */

/** What a command downloads from npm at its first run, at most. */
export interface Downloads {
  readonly packages: number;
  /** Megabytes of the packages, as they are on disk. */
  readonly megabytes: number;
}

/** The demo. */
export const OF_THE_DEMO: Downloads = { packages: 30, megabytes: 30 };

/** `test`: the packages of the program, with those that its tests alone use. */
export const OF_THE_TESTS: Downloads = { packages: 100, megabytes: 60 };

/** Every plan of tests: also the packages that long tests and benchmarks alone use. */
export const OF_ALL_TESTS: Downloads = { packages: 200, megabytes: 140 };

/** The first line. `work` says what follows the download, and for how long. */
export function downloadsLine({ packages, megabytes }: Downloads, work: string): string {
  return `Downloads at most ${packages} packages from npm (${megabytes} MB) where they are not cached; then ${work}`;
}

/**
 * The store of certificates for downloads: where nothing is set, the runtime's own authorities and those of the machine.
 * A proxy that reads the traffic signs with one of the machine's.
 */
export function trustedStores(): Readonly<Record<string, string>> {
  return { DENO_TLS_CA_STORE: Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system" };
}
