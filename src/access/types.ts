/**
 * Who calls, and how that is known.
 *
 * @module
 */

/** A role binding of a principal; null scopes match everything. */
export interface RoleBinding {
  readonly name: string;
  readonly tenant_id: number | null;
  readonly namespace_id: number | null;
}

/** An authenticated caller. */
export interface Principal {
  /** `stdio`, `loopback`, `token:<sha256>` or the mTLS subject. */
  readonly subject: string;
  readonly authMethod: "local" | "bearer_token" | "mtls";
  readonly policyClass: string | null;
  readonly roles: readonly RoleBinding[];
  /** Tenants the caller acts for; null = every tenant. */
  readonly tenants: readonly number[] | null;
}
