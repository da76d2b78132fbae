/**
 * Decisions about requests, audited as far as a flood of them leaves room. The first of a kind from one source is told
 * whole and at once, those that follow it within a minute by one line together.
 *
 * @module
 */

import type { CallOrigin } from "../../tools/framework/types.ts";
import type { Audit, AuditEvent } from "./types.ts";

/** A decision about a request. */
export interface Decided extends Pick<AuditEvent, "kind" | "reason" | "subject" | "details"> {
  readonly origin: CallOrigin;
  /** Whether nobody was let in under the name in `subject`, so that there may be any number of such names. */
  readonly isStranger?: true;
}

/** Takes decisions. */
export interface AlikeDecisions {
  /** Tells the audit log of one, at once or later. */
  readonly tell: (decided: Decided) => void;
  /** Tells the audit log of all that was counted since, now. */
  readonly flush: () => void;
}

/** What is needed to tell of them. */
export interface AlikeOptions {
  readonly audit: Audit;
  /** What was decided, of all of them. */
  readonly outcome: AuditEvent["outcome"];
  /** What counts as one source. */
  readonly sourceOf: (decided: Decided) => string;
  /** Calls a function once, after so many milliseconds. */
  readonly after?: ((milliseconds: number, run: () => void) => void) | undefined;
}

/** For how long decisions that are like the first are counted before they are told, in milliseconds. */
const COUNTED_MILLISECONDS = 60_000;

/** Pairs of a source and a word that are told apart in that time, of strangers and again of known callers. */
export const TOLD_APART = 256;

interface Counted {
  /** Decisions since the last line. */
  count: number;
  last: Decided;
}

/** Makes the counter. Known callers have a table of their own: strangers who fill theirs blur nothing else. */
export function createAlikeDecisions(options: AlikeOptions): AlikeDecisions {
  const { audit, outcome, sourceOf, after = afterwards } = options;
  const tables = { strangers: new Map<string, Counted>(), callers: new Map<string, Counted>() };
  /** By the word, and the caller where it is known: those whose sources there is no more room to tell apart. */
  const others = new Map<string, Counted>();
  let isCounting = false;

  const write = ({ isStranger: _, ...decided }: Decided, count: number | null): void => {
    const details = count === null ? decided.details : { ...decided.details, count };
    const event: AuditEvent = { ...decided, outcome, ...(details === undefined ? {} : { details }) };
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
  const tell = (decided: Decided): void => {
    if (!isCounting) {
      isCounting = true;
      after(COUNTED_MILLISECONDS, () => {
        isCounting = false;
        flush();
      });
    }
    const isStranger = decided.isStranger === true || decided.subject === null;
    const table = isStranger ? tables.strangers : tables.callers;
    const word = `${decided.kind} ${decided.reason}`;
    const key = `${word} ${sourceOf(decided)}`;
    const known = table.get(key);
    if (known === undefined && table.size < TOLD_APART) {
      table.set(key, { count: 0, last: decided });
      return write(decided, null);
    }
    if (known !== undefined) count(table, key, decided);
    else if (isStranger) count(others, `${word} `, { ...decided, subject: null });
    // Callers that are known are those of the configuration, so these are few.
    else count(others, `${word} ${decided.subject}`, decided);
  };
  return { tell, flush };
}

function count(table: Map<string, Counted>, key: string, decided: Decided): void {
  const counted = table.get(key);
  if (counted === undefined) return void table.set(key, { count: 1, last: decided });
  counted.count++;
  counted.last = decided;
}

function afterwards(milliseconds: number, run: () => void): void {
  Deno.unrefTimer(setTimeout(run, milliseconds));
}
