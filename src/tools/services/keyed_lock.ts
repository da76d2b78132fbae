/** A lock per key: at most one execution of an operation identity at a time in this process. */

/** Locks by key. A waiter gets the lock in the order of its call. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>();

  /** Whether the lock of a key is held or waited for now. */
  isHeld(key: string): boolean {
    return this.#tails.has(key);
  }

  /**
   * Waits until every earlier holder of the key has released it.
   *
   * @returns The held lock; disposing of it releases it
   */
  async acquire(key: string): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#tails.get(key);
    this.#tails.set(key, promise);
    if (before !== undefined) await before;
    return {
      [Symbol.dispose]: () => {
        if (this.#tails.get(key) === promise) this.#tails.delete(key);
        resolve();
      },
    };
  }
}

/**
 * A function whose executions follow each other. Callers that wait for the same execution share it, and none shares one
 * that began before its call.
 */
export function inTurn(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () =>
    next ??= last = last.catch(() => {}).then(() => {
      next = null;
      return work();
    });
}

/** Lock key of a mutation. */
export function mutationKey(namespaceId: number, runId: string, family: string, identity: string): string {
  return `${namespaceId}/${runId}/${family}/${identity}`;
}

/** Lock key of a run creation. */
export function creationKey(namespaceId: number, creationRequestId: string): string {
  return `${namespaceId}/create/${creationRequestId}`;
}
