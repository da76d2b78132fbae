/**
 * Claim 7: what was answered when the run was created is what its first record gives.
 *
 * @module
 */

/** The claim and its method; the receipt itself is compared as all others are. */
export const CREATION_RECEIPT = { claim: "creation_receipt_integrity", method: "creation_result_v6" } as const;
