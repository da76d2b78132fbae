/** Removes what unfinished work leaves on the disk. */

/**
 * Runs work that makes files or folders. Where it fails, or where the process exits meanwhile, they are removed.
 *
 * @param paths What it makes; nothing else may have made them
 */
export async function removedUnlessDone<Result>(
  paths: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  const remove = (): void => paths.forEach(removeIfThere);
  globalThis.addEventListener("unload", remove);
  try {
    return await work();
  } catch (error) {
    remove();
    throw error;
  } finally {
    globalThis.removeEventListener("unload", remove);
  }
}

/** Removes a file or a folder. What cannot be removed stays: the error that led here says more. */
function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch {
    // It was not made yet, or the file system refuses.
  }
}
