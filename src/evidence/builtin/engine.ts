/** The common parts of the built-in providers. */

import type { PinnedResponse } from "../egress/pinned_request.ts";
import { type Resolver, systemResolver } from "../egress/destination.ts";
import type { WorkerLimits } from "../sandbox/worker_host.ts";
import type { EvidenceContext, EvidenceQuery, Provider, ProviderAnswer } from "../types.ts";
import { describeGrant } from "./permissions.ts";
import { answered, failed, observed } from "./result.ts";

/** What cases give in place of the files and the network of the machine. */
export interface GivenSources {
  /** The bytes of a file below the root. */
  readonly file: (path: string) => Uint8Array | undefined;
  /** The response to a request for a URL. */
  readonly answer: (url: string) => PinnedResponse | undefined;
}

/** Dependencies of the built-in providers; those of the host by default. */
export interface BuiltinProviderOptions {
  readonly given?: GivenSources;
  /** Names of variables that gate's own configuration refers to: `env` never reads them. */
  readonly reservedEnvironment?: ReadonlySet<string>;
  readonly resolver?: Resolver;
  /** Values for `env:NAME` references. */
  readonly environment?: (name: string) => string | undefined;
  /** PEM certificates to trust in place of the system's. */
  readonly authorities?: readonly string[];
  readonly workerLimits?: WorkerLimits;
}

/** The dependencies with defaults filled in. */
export interface ProviderDependencies {
  readonly given: GivenSources | null;
  readonly reservedEnvironment: ReadonlySet<string>;
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
    given: options.given ?? null,
    reservedEnvironment: options.reservedEnvironment ?? new Set(),
    resolver: options.resolver ?? systemResolver,
    environment: options.environment ?? ((name) => Deno.env.get(name)),
    authorities: options.authorities ?? null,
    workerLimits: options.workerLimits ?? {},
  };
}

/** A provider that asks an engine. Its queries never reject. */
export function providerOf(own: Omit<Provider, "query" | "close">, engine: Engine): Provider {
  const { provider_id, loaded } = own;
  const checks = new Set(loaded.contract.checks.map((check) => check.check_id));
  return {
    ...own,
    query: async (query, context, signal) => {
      if (!checks.has(query.check_id)) {
        const message = `Provider "${provider_id}" has no check "${query.check_id}"`;
        return answered(observed("check_unknown", message), null, describeGrant({}));
      }
      try {
        return await engine.answer(query, context, signal);
      } catch (error) {
        // The message of an unexpected error can have a path or a value in it.
        const name = error instanceof Error ? error.name : "unknown";
        return failed({ code: "provider_unreachable", message: `Cannot run provider "${provider_id}": ${name}` });
      }
    },
    close: () => Promise.resolve(engine.close()),
  };
}
