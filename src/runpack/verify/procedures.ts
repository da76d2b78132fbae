/**
 * Every procedure by which records were ever made, by the name that they carry. A record is judged by its own
 * procedure, however old.
 *
 * @module
 */

import { GATE_KERNEL_1, type Procedure } from "./procedure_kernel_1.ts";

const PROCEDURES: ReadonlyMap<string, Procedure> = new Map([["gate-kernel-1", GATE_KERNEL_1]]);

/** The procedure of a name; undefined where this program does not know it. */
export function procedureOf(name: string): Procedure | undefined {
  return PROCEDURES.get(name);
}
