/**
 * The lock of an audit file. A process that writes alone keeps the lock between writes, which saves a system call each
 * time. Processes that share a file lock it for each write.
 */

/**
 * How long a single writer keeps the lock, and how long it then must not, in milliseconds. Without the lock each write
 * compares the file with its path. On Linux since 6.13 that also makes the next flush of the store take longer.
 */
const KEEP_MILLISECONDS = 50;
const PAUSE_MILLISECONDS = 4;

/** How long the lock is not kept after a write of another process, in milliseconds. */
const SHARED_MILLISECONDS = 2500;

/** The lock of one open file. */
export interface FileLock {
  /**
   * Acquires the lock. `kept`: no other process can have written since the last use; `acquired`: another process may
   * have; null: another process has the lock.
   */
  readonly acquire: () => "kept" | "acquired" | null;
  /**
   * Ends a use.
   *
   * @param shared Whether another process had written
   */
  readonly finish: (shared: boolean) => void;
  /** Releases a lock that was kept. */
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
    acquire: () => {
      if (isKept) return "kept";
      return file.tryLockSync(true) ? "acquired" : null;
    },
    finish: (shared) => {
      if (isKept) return;
      const now = performance.now();
      if (shared) mayKeepFrom = now + SHARED_MILLISECONDS;
      if (now < mayKeepFrom) return file.unlockSync();
      isKept = true;
      Deno.unrefTimer(setTimeout(release, KEEP_MILLISECONDS));
    },
  };
}
