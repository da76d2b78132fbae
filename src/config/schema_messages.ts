/** Reports the faults of a value as messages about the configuration: `must be >= 1, got 0`. */

import type { JsonValue } from "../canonical/json.ts";
import { nearest } from "../canonical/nearest.ts";
import { stepsTo } from "../canonical/path.ts";
import type { Reader, ShapeFault } from "../canonical/shape.ts";
import { expectation } from "../canonical/table_shape.ts";
import { describeValue, quoteShort, type Report, type SettingPath } from "./problems.ts";

/** A closed list of at most this many choices is shown in full. */
const MAXIMUM_CHOICES_SHOWN = 8;

/**
 * Reads a tree, and reports each fault.
 *
 * @param base The path of the tree in the file
 * @returns The value, undefined where it has a fault
 */
export function readSettings<T>(schema: Reader<T>, tree: unknown, base: SettingPath, report: Report): T | undefined {
  const add = (fault: ShapeFault, path: Parameters<typeof stepsTo>[0]): void => {
    const at = [...base, ...stepsTo(path)];
    const isMember = fault.kind === "unknown" || fault.kind === "missing";
    report(isMember ? [...at, fault.name] : at, faultMessage(fault));
  };
  return schema({ add }, tree as JsonValue, null);
}

function faultMessage(fault: ShapeFault): string {
  const expected = expectation(fault);
  switch (fault.kind) {
    case "missing":
      return "is required";
    case "unknown":
      return `unknown member${nearestHint(fault.name, fault.known)}`;
    case "items":
      return fault.text === ""
        ? "must not be empty"
        : `must have ${expected}, got ${fault.text?.length ?? fault.count}`;
    case "bytes":
    case "duplicate":
      return `must be ${expected}`;
  }
  const { value } = fault;
  if (value === undefined) return "is required";
  switch (fault.kind) {
    case "choice": {
      const known = fault.known.map(String);
      if (known.length <= MAXIMUM_CHOICES_SHOWN) return `must be ${expected}, got ${quoteShort(value)}`;
      return `must be a known name, got ${quoteShort(value)}${nearestHint(value, known)}`;
    }
    case "form":
      return `${expected}, got ${describeValue(value)}`;
    case "object":
      return `must be a table, got ${describeValue(value)}`;
    case "integer": {
      const { minimum, maximum } = fault;
      if (Number.isInteger(value)) {
        return `must be ${Number(value) < minimum ? `>= ${minimum}` : `<= ${maximum}`}, got ${describeValue(value)}`;
      }
    }
  }
  return `must be ${expected}, got ${describeValue(value)}`;
}

function nearestHint(value: unknown, known: readonly string[]): string {
  const meant = typeof value === "string" ? nearest(value, known) : null;
  return meant === null ? "" : `, did you mean ${quoteShort(meant)}?`;
}
