/** Ends the calls of a store when it is closed. */

import { StoreError } from "./types.ts";

/** Runs calls until it is closed. */
export interface Gate {
  <Result>(call: () => Promise<Result>): Promise<Result>;
  /** Closes, calling `release` the first time only. */
  readonly close: (release: () => Promise<void>) => Promise<void>;
}

/** An open {@link Gate} for a file or database that may be shared. */
export function openGate(path: string): Gate {
  let closing: Promise<void> | null = null;
  const use = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (closing !== null) throw new StoreError("closed", `Cannot use store "${path}": it is closed`);
    return await call();
  };
  return Object.assign(use, { close: (release: () => Promise<void>): Promise<void> => closing ??= release() });
}
