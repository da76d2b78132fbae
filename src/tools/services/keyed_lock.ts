/**
 * One execution an operation identity at a time.
 *
 * @module
 */

/** The operations that are being executed in this process, by name. */
export class InFlight {
  readonly #tails = new Map<string, Promise<void>>();

  /** Whether an operation is being executed now. */
  has(name: string): boolean {
    return this.#tails.has(name);
  }

  /** Runs `work` once every earlier execution of the same name has ended. */
  async run<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#tails.get(name);
    this.#tails.set(name, promise);
    try {
      if (before !== undefined) await before;
      return await work();
    } finally {
      if (this.#tails.get(name) === promise) this.#tails.delete(name);
      resolve();
    }
  }
}

/** Name of a mutation for {@link InFlight}. */
export function mutationName(namespaceId: number, runId: string, family: string, identity: string): string {
  return `${namespaceId}/${runId}/${family}/${identity}`;
}

/** Name of a run creation for {@link InFlight}. */
export function creationName(namespaceId: number, creationRequestId: string): string {
  return `${namespaceId}/create/${creationRequestId}`;
}
