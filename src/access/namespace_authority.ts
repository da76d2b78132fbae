import type { NamespaceConfig } from "../config/types.ts";
import type { NamespaceAuthority } from "./types.ts";

/**
 * The authority that a configuration names, or null. Its client is loaded at the first question.
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
      loading ??= import("./ledger.ts").then(({ connectLedger }) => connectLedger(ledger));
      return await (await loading).ask(namespaceId, correlationId);
    },
    close: () => {
      closed = true;
      loading?.then((authority) => authority.close(), () => undefined);
    },
  };
}
