/**
 * Coalesces audit events of decisions about requests. The first decision of a kind from one source is written at once
 * and whole. Later equal ones within a minute are written as one event with their count.
 */

import type { CallOrigin } from "../../tools/framework/types.ts";
import { afterwards } from "../process/warnings.ts";
import type { Audit, AuditEvent } from "./types.ts";

/** A decision about a request. */
export interface RequestDecision extends Pick<AuditEvent, "kind" | "reason" | "subject" | "details"> {
  readonly origin: CallOrigin;
  /** Whether `subject` was not admitted. The number of such names has no limit. */
  readonly isStranger?: true;
}

/** Writes decisions to the audit log. */
export interface EventCoalescer {
  /** Writes a decision, or counts it for a later event. */
  readonly record: (decision: RequestDecision) => void;
  /** Writes all counted decisions now. */
  readonly flush: () => void;
}

/** The options of a coalescer. */
export interface CoalescerOptions {
  readonly audit: Audit;
  /** The outcome of every decision. */
  readonly outcome: AuditEvent["outcome"];
  /** The source of a decision. */
  readonly sourceOf: (decision: RequestDecision) => string;
  /** Calls a function once, after a number of milliseconds. */
  readonly after?: ((milliseconds: number, run: () => void) => void) | undefined;
}

/** How long equal decisions are counted before they are written, in milliseconds. */
const COUNTED_MILLISECONDS = 60_000;

/** Pairs of source and reason that are counted apart in that time: for strangers, and again for known callers. */
export const DISTINCT_SOURCES = 256;

interface Counted {
  /** Decisions since the last event. */
  count: number;
  last: RequestDecision;
}

/** Makes a coalescer. Known callers have their own table, so strangers cannot exhaust it. */
export function createEventCoalescer(options: CoalescerOptions): EventCoalescer {
  const { audit, outcome, sourceOf, after = afterwards } = options;
  const tables = { strangers: new Map<string, Counted>(), callers: new Map<string, Counted>() };
  /** Decisions beyond {@link DISTINCT_SOURCES}, by reason and, for known callers, by caller. */
  const others = new Map<string, Counted>();
  let isCounting = false;

  const write = ({ isStranger: _, ...decision }: RequestDecision, count: number | null): void => {
    const details = count === null ? decision.details : { ...decision.details, count };
    const event: AuditEvent = { ...decision, outcome, ...(details === undefined ? {} : { details }) };
    audit.record(event).catch(() => undefined);
  };
  const flush = (): void => {
    for (const table of [tables.strangers, tables.callers]) {
      for (const { count, last } of table.values()) if (count > 0) write(last, count);
      table.clear();
    }
    for (const { count, last } of others.values()) {
      write({ ...last, origin: { ...last.origin, peer_address: null } }, count);
    }
    others.clear();
  };
  const record = (decision: RequestDecision): void => {
    if (!isCounting) {
      isCounting = true;
      after(COUNTED_MILLISECONDS, () => {
        isCounting = false;
        flush();
      });
    }
    const isStranger = decision.isStranger === true || decision.subject === null;
    const table = isStranger ? tables.strangers : tables.callers;
    const word = `${decision.kind} ${decision.reason}`;
    const key = `${word} ${sourceOf(decision)}`;
    const known = table.get(key);
    if (known === undefined && table.size < DISTINCT_SOURCES) {
      table.set(key, { count: 0, last: decision });
      return write(decision, null);
    }
    if (known !== undefined) count(table, key, decision);
    else if (isStranger) count(others, `${word} `, { ...decision, subject: null });
    // Known callers are those of the configuration, so their number is small.
    else count(others, `${word} ${decision.subject}`, decision);
  };
  return { record, flush };
}

function count(table: Map<string, Counted>, key: string, decision: RequestDecision): void {
  const counted = table.get(key);
  if (counted === undefined) return void table.set(key, { count: 1, last: decision });
  counted.count++;
  counted.last = decision;
}
