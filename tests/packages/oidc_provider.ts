/**
 * oidc-provider, an identity provider of other people whose access tokens gate accepts.
 *
 * @module
 */

import Provider from "npm:oidc-provider@9.13.3";

/** The part of the provider that the tests use. */
export interface IdentityProvider {
  /** The listener of `node:http`. */
  readonly callback: () => (request: unknown, response: unknown) => void;
}

/** Makes a provider. */
export const createProvider = (issuer: string, settings: object): IdentityProvider => new Provider(issuer, settings);
