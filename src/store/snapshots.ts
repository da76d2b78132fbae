/**
 * How many derived snapshots a run keeps.
 *
 * @module
 */

/**
 * Snapshots kept for a run where `max_versions` is null. The newest serves a cold read; the one before it is there for a reader that asks
 * for a revision just below. More would be bytes that a fold of the records gives anyway.
 */
export const SNAPSHOTS_KEPT = 2;
