/** Callers, how they are authenticated, and the answers of a namespace authority. */

/** A role of a principal; a scope of null matches every tenant or namespace. */
export interface RoleBinding {
  readonly name: string;
  readonly tenant_id: number | null;
  readonly namespace_id: number | null;
}

/** An authenticated caller. */
export interface Principal {
  /** `stdio`, `loopback`, `token:<sha256>`, the mTLS subject, `oauth:<name>`, or `oauth` for an unmapped access token. */
  readonly subject: string;
  readonly authMethod: "local" | "bearer_token" | "mtls" | "oauth";
  readonly policyClass: string | null;
  readonly roles: readonly RoleBinding[];
  /** Tenants that the caller acts for; null for every tenant. */
  readonly tenants: readonly number[] | null;
}

/** The answer of a namespace authority. `reason` is one word for the audit log; the caller does not see it. */
export interface NamespaceAnswer {
  /** `unavailable`: no valid answer arrived, and a later call may receive one. */
  readonly verdict: "granted" | "refused" | "unavailable";
  readonly reason: string;
}

/** A service that knows which namespaces exist and may be used. */
export interface NamespaceAuthority {
  /**
   * Asks for a namespace; never rejects.
   *
   * @param namespaceId The namespace, an integer of at least 1
   * @param correlationId The identifier of the request, for the authority's own log; null for none
   */
  readonly ask: (namespaceId: number, correlationId: string | null) => Promise<NamespaceAnswer>;
  /** Ends every connection. */
  readonly close: () => void;
}
