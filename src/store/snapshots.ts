/**
 * The number of derived snapshots of a run.
 *
 * @module
 */

/**
 * Snapshots of each run where `max_versions` is null. The newest one serves a cold read, the one before it serves a read just below the
 * newest. More snapshots would only repeat what a fold of the records yields.
 */
export const SNAPSHOTS_KEPT = 2;
