/** Where each part of a compiled spec stands in its law file. */

import type { Steps } from "../source_position.ts";
import type { Span } from "./expression.ts";

/** A place in the file: a value, or a part of its text. */
export interface OriginPlace {
  readonly steps: Steps;
  readonly span?: Span;
}

/** The origin of a value of the spec, with those of the values in it. */
export interface Origin extends OriginPlace {
  /** The value is the same in the file, so its inner values have the same steps. */
  readonly isSame?: boolean;
  readonly below?: Readonly<Record<string, Origin>> | readonly Origin[];
}

/** The place in the file of a value of the spec, or of the nearest value around it. */
export function originOf(root: Origin, steps: Steps): OriginPlace {
  let at: Origin = root;
  for (const [index, step] of steps.entries()) {
    const inside = at.below as Readonly<Record<string | number, Origin>> | undefined;
    const inner = inside !== undefined && Object.hasOwn(inside, step) ? inside[step] : undefined;
    if (inner === undefined) return at.isSame === true ? { steps: [...at.steps, ...steps.slice(index)] } : at;
    at = inner;
  }
  return at;
}
