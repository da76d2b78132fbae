/**
 * The lock of an audit file. A process that writes alone keeps it for a while, which saves asking for it at each write;
 * processes that share a file take it for one write each.
 *
 * @module
 */

/** How long the lock is kept by a process that writes alone, and how long it then is not, in milliseconds. */
const KEEP_MILLISECONDS = 20;
const PAUSE_MILLISECONDS = 4;

/** How long nobody keeps the lock after somebody else has written, in milliseconds. */
const SHARED_MILLISECONDS = 1000;

/** The lock of one open file. */
export interface FileLock {
  /** `kept`: nobody else can have written since the last use; `taken`: somebody can; null: another process has it. */
  readonly take: () => "kept" | "taken" | null;
  /**
   * Ends a use.
   *
   * @param shared Whether somebody else had written
   */
  readonly give: (shared: boolean) => void;
  /** Lets go of a lock that is kept. */
  readonly release: () => void;
}

/** Makes the lock of a file. */
export function createFileLock(file: Deno.FsFile): FileLock {
  let isKept = false;
  let mayKeepFrom = 0;
  const release = (): void => {
    if (!isKept) return;
    isKept = false;
    mayKeepFrom = performance.now() + PAUSE_MILLISECONDS;
    file.unlockSync();
  };
  return {
    release,
    take: () => {
      if (isKept) return "kept";
      return file.tryLockSync(true) ? "taken" : null;
    },
    give: (shared) => {
      if (isKept) return;
      const now = performance.now();
      if (shared) mayKeepFrom = now + SHARED_MILLISECONDS;
      if (now < mayKeepFrom) return file.unlockSync();
      isKept = true;
      Deno.unrefTimer(setTimeout(release, KEEP_MILLISECONDS));
    },
  };
}
