/** Collects the faults of a law file with their places, and reads its plain shapes. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { describe, didYouMean, quote, quoteAll } from "../../law/suggest.ts";
import type { Steps } from "../source_position.ts";
import type { ReportFault, Span } from "./expression.ts";

/** Maximum faults of a report. Others are only counted. */
const FAULTS_MAXIMUM = 256;
/** Maximum names that the hints of a report compare. */
const COMPARED_MAXIMUM = 16_384;

/** A place in a law file: the steps to a value. */
export class Place {
  readonly steps: Steps;

  constructor(steps: Steps) {
    this.steps = steps;
  }

  /** A member or an item of the value. */
  below(...steps: Steps): Place {
    return new Place([...this.steps, ...steps]);
  }
}

/** A fault or a warning of a law file. */
export interface LawFault {
  readonly code: string;
  readonly message: string;
  readonly steps: Steps;
  /** Whether the name of the member is at fault, not its value. */
  readonly isName?: boolean;
  /** The part of the text at `steps` that is at fault. */
  readonly span?: Span;
}

/** The faults of one law file. */
export class Report {
  readonly faults: LawFault[] = [];
  #more = 0;
  #compared = 0;

  /** Adds a fault of a value or of the name of a member. */
  fault(code: string, message: string, place: Place, more: Pick<LawFault, "isName" | "span"> = {}): undefined {
    if (this.faults.length < FAULTS_MAXIMUM) this.faults.push({ code, message, steps: place.steps, ...more });
    else this.#more++;
    return undefined;
  }

  /** All faults, the last with the number of those left out. */
  all(): readonly LawFault[] {
    if (this.#more === 0) return this.faults;
    const message = `The file has ${this.#more} more faults; correct the ones above first`;
    return [...this.faults, { code: "more_refusals", message, steps: [] }];
  }

  /** Receives the faults inside the text at a place. */
  inside(place: Place): ReportFault {
    return (code, message, span) => this.fault(code, message, place, { span });
  }

  /** {@link didYouMean}; empty once the report has compared too many names, or is full. */
  hint(name: string, known: Iterable<string>): string {
    if (this.#compared >= COMPARED_MAXIMUM || this.faults.length >= FAULTS_MAXIMUM) return "";
    const names = [...known];
    this.#compared += names.length;
    return didYouMean(name, names);
  }

  /** The members of an object; none of an absent one, or after a fault. */
  members(value: JsonValue | undefined, place: Place, expected: string): readonly (readonly [string, JsonValue])[] {
    if (isJsonObject(value)) return Object.entries(value);
    if (value !== undefined) this.fault("type_invalid", `Expected ${expected}, got ${describe(value)}`, place);
    return [];
  }

  /** Checks that a value is an object with no members but the known ones. */
  closed(value: JsonValue, place: Place, known: readonly string[], expected: string): void {
    for (const [name] of this.members(value, place, expected)) {
      if (known.includes(name)) continue;
      const rest = this.hint(name, known) || `; expected only ${quoteAll(known)}`;
      this.fault("member_unknown", `Member ${quote(name)} is unknown${rest}`, place.below(name), { isName: true });
    }
  }

  /** Reports a member that is not there, unless a misspelt one is reported already. Called after {@link closed}. */
  missing(name: string, place: Place): void {
    const isMisspelt = this.faults.some(({ code, message, steps }) =>
      code === "member_unknown" && steps.length === place.steps.length + 1 &&
      message.split("; did you mean ")[1]?.includes(quote(name)) === true &&
      place.steps.every((step, index) => steps[index] === step)
    );
    if (!isMisspelt) this.fault("member_missing", `Member ${quote(name)} is required`, place);
  }

  /** A member, read; undefined where it is absent or after a fault. */
  optional<T>(
    object: JsonObject,
    place: Place,
    name: string,
    read: (value: JsonValue, place: Place) => T | undefined,
  ): T | undefined {
    const value = member(object, name);
    return value === undefined ? undefined : read(value, place.below(name));
  }

  /** A text; undefined after a fault. */
  text(value: JsonValue, place: Place, expected = "a text"): string | undefined {
    return typeof value === "string" ? value : this.#wrong(value, place, expected);
  }

  /** An integer of at least 1; undefined after a fault. */
  integer(value: JsonValue, place: Place): number | undefined {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
    return this.#wrong(value, place, "an integer of at least 1");
  }

  /** A boolean; undefined after a fault. */
  boolean(value: JsonValue, place: Place): boolean | undefined {
    return typeof value === "boolean" ? value : this.#wrong(value, place, "true or false");
  }

  /** A list of texts; undefined after a fault. */
  texts(value: JsonValue, place: Place, expected: string): readonly string[] | undefined {
    if (!isJsonArray(value)) return this.#wrong(value, place, expected);
    const texts = value.flatMap((one, index) => this.text(one, place.below(index)) ?? []);
    return texts.length === value.length ? texts : undefined;
  }

  #wrong(value: JsonValue, place: Place, expected: string): undefined {
    return this.fault("type_invalid", `Expected ${expected}, got ${describe(value)}`, place);
  }
}
