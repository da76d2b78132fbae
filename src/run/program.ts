/**
 * Compiles a requirement tree to postfix code over flat arrays, and runs it with strong Kleene logic. A run visits
 * every leaf, so the trace is whole and its order does not depend on values (docs/format/records.md, "Judgement").
 */

import type { Requirement } from "../law/types.ts";
import { FALSE, type Tri, TRUE, UNKNOWN } from "../law/value/truth.ts";

const LEAF = 0;
const AND = 1;
const OR = 2;
const NOT = 3;
const GROUP = 4;
const OPERATION_BITS = 3;
const OPERATION_MASK = (1 << OPERATION_BITS) - 1;

/** A compiled requirement. Slots number the distinct leaf names in order of first appearance. */
export interface Program {
  /** Postfix code. Each word is `operand << 3 | operation`; the minimum of a group is the next word. */
  readonly code: Int32Array;
  /** Distinct leaf names, by slot. */
  readonly slots: readonly string[];
  /** Slot of each leaf visit, left to right, depth first. */
  readonly visits: Int32Array;
  /** JSON path of each leaf visit inside the requirement. */
  readonly paths: readonly string[];
  /** Work space of {@link runProgram}. It is written before it is read. */
  readonly stack: Uint8Array;
}

interface Assembly {
  readonly code: number[];
  readonly slotOf: Map<string, number>;
  readonly visits: number[];
  readonly paths: string[];
  height: number;
  highest: number;
}

function push(assembly: Assembly, operands: number): void {
  assembly.height += 1 - operands;
  if (assembly.height > assembly.highest) assembly.highest = assembly.height;
}

function assembleLeaf(assembly: Assembly, name: string, path: string): void {
  let slot = assembly.slotOf.get(name);
  if (slot === undefined) {
    slot = assembly.slotOf.size;
    assembly.slotOf.set(name, slot);
  }
  assembly.visits.push(slot);
  assembly.paths.push(path);
  assembly.code.push(slot << OPERATION_BITS | LEAF);
  push(assembly, 0);
}

function assembleNot(assembly: Assembly, operand: Requirement, path: string): void {
  assemble(assembly, operand, path);
  assembly.code.push(1 << OPERATION_BITS | NOT);
  push(assembly, 1);
}

function assembleAll(
  assembly: Assembly,
  operation: number,
  operands: readonly Requirement[],
  path: string,
): void {
  operands.forEach((operand, index) => assemble(assembly, operand, `${path}[${index}]`));
  assembly.code.push(operands.length << OPERATION_BITS | operation);
  push(assembly, operands.length);
}

// Paths share their beginnings as strings: a deep requirement has one long path for each leaf.
function assemble(assembly: Assembly, requirement: Requirement, path: string): void {
  if ("Condition" in requirement) return assembleLeaf(assembly, requirement.Condition, path);
  if ("And" in requirement) return assembleAll(assembly, AND, requirement.And, `${path}.And`);
  if ("Or" in requirement) return assembleAll(assembly, OR, requirement.Or, `${path}.Or`);
  if ("Not" in requirement) return assembleNot(assembly, requirement.Not, `${path}.Not`);
  const { min, reqs } = requirement.RequireGroup;
  assembleAll(assembly, GROUP, reqs, `${path}.RequireGroup.reqs`);
  assembly.code.push(min);
}

/**
 * Compiles a proved requirement. The proofs of the law bound its depth and size.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compileProgram, runProgram } from "@/run/program.ts";
 * import { TRUE, UNKNOWN } from "@/law/value/truth.ts";
 *
 * const program = compileProgram({ Or: [{ Condition: "a" }, { Condition: "b" }] });
 * assert.deepEqual(program.slots, ["a", "b"]);
 * assert.equal(runProgram(program, Uint8Array.of(UNKNOWN, TRUE)), TRUE);
 * ```
 */
export function compileProgram(requirement: Requirement): Program {
  const assembly: Assembly = { code: [], slotOf: new Map(), visits: [], paths: [], height: 0, highest: 0 };
  assemble(assembly, requirement, "$");
  return {
    code: Int32Array.from(assembly.code),
    slots: [...assembly.slotOf.keys()],
    visits: Int32Array.from(assembly.visits),
    paths: assembly.paths,
    stack: new Uint8Array(assembly.highest),
  };
}

function group(stack: Uint8Array, base: number, top: number, minimum: number): Tri {
  let trues = 0;
  let unknowns = 0;
  for (let at = base; at < top; at++) {
    const value = stack[at];
    if (value === TRUE) trues++;
    else if (value === UNKNOWN) unknowns++;
  }
  if (trues >= minimum) return TRUE;
  return trues + unknowns < minimum ? FALSE : UNKNOWN;
}

/**
 * The truth value of a program with the given values by slot. `FALSE` < `UNKNOWN` < `TRUE`, so And is min and Or is
 * max.
 */
export function runProgram(program: Program, values: Uint8Array): Tri {
  const { code, stack } = program;
  let top = 0;
  for (let at = 0; at < code.length; at++) {
    const word = code[at] ?? 0;
    const operand = word >> OPERATION_BITS;
    const operation = word & OPERATION_MASK;
    if (operation === LEAF) {
      stack[top++] = values[operand] ?? UNKNOWN;
      continue;
    }
    if (operation === NOT) {
      stack[top - 1] = TRUE - (stack[top - 1] ?? UNKNOWN);
      continue;
    }
    const base = top - operand;
    let result: number;
    if (operation === GROUP) {
      result = group(stack, base, top, code[++at] ?? 0);
    } else {
      result = stack[base] ?? UNKNOWN;
      for (let operandAt = base + 1; operandAt < top; operandAt++) {
        const value = stack[operandAt] ?? UNKNOWN;
        if (operation === AND ? value < result : value > result) result = value;
      }
    }
    stack[base] = result;
    top = base + 1;
  }
  return stack[0] as Tri;
}
