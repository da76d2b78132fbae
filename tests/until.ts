/**
 * Waits for what another process or a timer brings about.
 *
 * @module
 */

/** Milliseconds between two looks. */
const LOOK = 25;

/** Waits until something holds. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!await holds()) {
    if (performance.now() > deadline) throw new Error(`Not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}
