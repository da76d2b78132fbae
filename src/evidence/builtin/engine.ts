/**
 * The common parts of the built-in providers.
 *
 * @module
 */

import { systemResolver } from "../egress/destination.ts";
import type { Resolver } from "../egress/destination.ts";
import type { WorkerLimits } from "../sandbox/worker_host.ts";
import type { EvidenceContext, EvidenceQuery, ProviderAnswer } from "../types.ts";

/** Dependencies of the built-in providers; those of the host by default. */
export interface BuiltinProviderOptions {
  /** Names of variables that gate's own configuration refers to: `env` never reads them. */
  readonly reservedEnvironment?: ReadonlySet<string>;
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly resolver?: Resolver;
  /** Values for `env:NAME` references. */
  readonly environment?: (name: string) => string | undefined;
  /** PEM certificates to trust in place of the system's. */
  readonly authorities?: readonly string[];
  readonly workerLimits?: WorkerLimits;
}

/** The dependencies with defaults filled in. */
export interface ProviderDependencies {
  readonly reservedEnvironment: ReadonlySet<string>;
  readonly now: () => number;
  readonly resolver: Resolver;
  readonly environment: (name: string) => string | undefined;
  readonly authorities: readonly string[] | null;
  readonly workerLimits: WorkerLimits;
}

/** The part of a provider that is specific to it. */
export interface Engine {
  /** Runs a check that the contract has. */
  readonly answer: (query: EvidenceQuery, context: EvidenceContext, signal: AbortSignal) => Promise<ProviderAnswer>;
  readonly close: () => void;
}

/** A fault in a member of a provider's entry. */
export interface SetupFault {
  /** Such as `config.root`. */
  readonly member: string;
  /** `must ...`. */
  readonly message: string;
}

/** The configuration of a provider cannot be used. */
export class ProviderSetupError extends Error {
  override readonly name = "ProviderSetupError";
  readonly faults: readonly SetupFault[];

  /** Builds the error from at least one fault. */
  constructor(faults: readonly SetupFault[]) {
    super(faults.map(({ member, message }) => `${member}: ${message}`).join("; "));
    this.faults = faults;
  }
}

/** Fills in defaults. */
export function dependenciesOf(options: BuiltinProviderOptions): ProviderDependencies {
  return {
    reservedEnvironment: options.reservedEnvironment ?? new Set(),
    now: options.now ?? Date.now,
    resolver: options.resolver ?? systemResolver,
    environment: options.environment ?? ((name) => Deno.env.get(name)),
    authorities: options.authorities ?? null,
    workerLimits: options.workerLimits ?? {},
  };
}
