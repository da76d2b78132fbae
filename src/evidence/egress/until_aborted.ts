/**
 * Waiting that can be called off.
 *
 * @module
 */

/**
 * A promise, or the reason of a signal, whichever is there first.
 *
 * @throws What the promise is rejected with, or the signal's reason
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
