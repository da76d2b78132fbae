/**
 * The namespace authority: who is asked whether a namespace exists and may be used, where the operator named somebody.
 *
 * @module
 */

import type { NamespaceConfig } from "../config/types.ts";

/** What an authority says of a namespace. `reason` is one word for the audit log; the caller is told nothing of it. */
export interface NamespaceAnswer {
  /** `unavailable`: no answer that counts was had; the same question may be answered later. */
  readonly verdict: "granted" | "refused" | "unavailable";
  readonly reason: string;
}

/** Answers for namespaces. */
export interface NamespaceAuthority {
  /**
   * Asks for a namespace; never rejects.
   *
   * @param namespaceId The namespace, an integer of at least 1
   * @param correlationId What the request is called, for the authority's own log; null for nothing
   */
  readonly ask: (namespaceId: number, correlationId: string | null) => Promise<NamespaceAnswer>;
  /** Ends every connection. */
  readonly close: () => void;
}

/**
 * The authority that a configuration names; null where it names none. What speaks to it is loaded at the first question.
 *
 * @param config `namespace`
 */
export function namespaceAuthorityOf(config: Pick<NamespaceConfig, "authority">): NamespaceAuthority | null {
  const { ledger } = config.authority;
  if (ledger === null) return null;
  let loading: Promise<NamespaceAuthority> | null = null;
  let closed = false;
  return {
    ask: async (namespaceId, correlationId) => {
      if (closed) return { verdict: "unavailable", reason: "authority_closed" };
      loading ??= import("./ledger.ts").then(({ askLedger }) => askLedger(ledger));
      return await (await loading).ask(namespaceId, correlationId);
    },
    close: () => {
      closed = true;
      loading?.then((authority) => authority.close(), () => undefined);
    },
  };
}
