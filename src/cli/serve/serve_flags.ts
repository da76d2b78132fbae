/** The flags of `gate serve`: settings that are not in the configuration. */

import { parseArgs } from "node:util";
import { nearest } from "../../canonical/nearest.ts";
import type { LogLevel } from "../../server/process/log.ts";
import { CliError, emptyValue, secondValue } from "../terminal/cli_error.ts";

/** One flag. */
export interface ServeFlag {
  readonly name: string;
  /** The name of its value in help; null for a switch. */
  readonly value: string | null;
  readonly description: string;
  /** Whether it may be given more than once. */
  readonly repeatable?: boolean;
}

/** Every flag, in the order that help shows them. */
export const SERVE_FLAGS: readonly ServeFlag[] = [
  { name: "config", value: "PATH", description: "configuration file (default: GATE_CONFIG, then ./gate.toml)" },
  {
    name: "data-dir",
    value: "DIR",
    description:
      "folder for runpacks (default: of run_state_store.path, else .gate); without a configuration, for runs too",
  },
  { name: "log-level", value: "LEVEL", description: "error, warn, info or debug (default: info)" },
  { name: "allow-non-loopback", value: null, description: "listen beyond this machine (or GATE_ALLOW_NON_LOOPBACK=1)" },
  {
    name: "trusted-proxy",
    value: "CIDR",
    description: "trust x-gate-client-subject from these peers (repeatable)",
    repeatable: true,
  },
  {
    name: "allowed-host",
    value: "HOST",
    description: "accept this Host in addition to the machine's own names (repeatable)",
    repeatable: true,
  },
  {
    name: "allowed-origin",
    value: "ORIGIN",
    description: "accept calls from pages of this origin (repeatable)",
    repeatable: true,
  },
  {
    name: "typed-host",
    value: "HOST",
    description: "HOST[:PORT][=CREDENTIAL,...] that registered typed providers may reach (repeatable; port 443)",
    repeatable: true,
  },
  { name: "typed-private", value: null, description: "let them reach private and loopback addresses of these hosts" },
  { name: "credentials-dir", value: "DIR", description: "folder with the files of credentials file://NAME" },
  {
    name: "evidence-keys",
    value: "DIR",
    description: "folder with public keys of people: NAME.pub is key NAME (default: trust.evidence_keys)",
  },
  {
    name: "public-url",
    value: "URL",
    description: "where people reach the console of this store, for clients that can show a page (https, or loopback)",
  },
  { name: "signing-key", value: "PATH", description: "Ed25519 private key that signs runpacks" },
  {
    name: "otlp-endpoint",
    value: "URL",
    description: "send traces, metrics and logs to this collector over OTLP/HTTP (https, or loopback)",
  },
  {
    name: "otlp-header",
    value: "NAME=env:VAR",
    description: "header for the collector, with its value from the environment (repeatable)",
    repeatable: true,
  },
  { name: "console", value: null, description: "serve the console for people at /console (http only)" },
  {
    name: "notify",
    value: "URL",
    description: "send events of runs to this receiver as signed webhooks (https, or loopback)",
  },
  { name: "notify-secret", value: "env:VAR", description: "secret that signs the events, from the environment" },
  {
    name: "oauth-issuer",
    value: "URL",
    description: "accept access tokens of this issuer (http only; repeatable; https, or loopback)",
    repeatable: true,
  },
  {
    name: "oauth-audience",
    value: "URL",
    description: "what its tokens name as their audience, one for each issuer; the first is this server's own URL",
    repeatable: true,
  },
  {
    name: "oauth-principals",
    value: "FILE",
    description: "TOML that maps access tokens to principals and their roles",
  },
  { name: "oauth-ca", value: "FILE", description: "PEM authorities of issuers, in place of the system's" },
  { name: "oauth-private", value: null, description: "let issuers have private and loopback addresses" },
  { name: "json", value: null, description: "report errors as JSON" },
];

/** The parsed flags of `gate serve`. */
export interface ServeArguments {
  readonly config: string | undefined;
  readonly dataDir: string | undefined;
  readonly logLevel: LogLevel;
  readonly signingKey: string | undefined;
  /** Whether `--allow-non-loopback` was given. */
  readonly allowNonLoopback: boolean;
  readonly trustedProxies: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly typedHosts: readonly string[];
  /** Whether `--typed-private` was given. */
  readonly typedPrivate: boolean;
  readonly credentialsDir: string | undefined;
  readonly evidenceKeys: string | undefined;
  readonly publicUrl: string | undefined;
  readonly otlpEndpoint: string | undefined;
  readonly otlpHeaders: readonly string[];
  /** Whether `--console` was given. */
  readonly console: boolean;
  readonly notify: string | undefined;
  readonly notifySecret: string | undefined;
  readonly oauthIssuers: readonly string[];
  readonly oauthAudiences: readonly string[];
  readonly oauthPrincipals: string | undefined;
  readonly oauthCa: string | undefined;
  /** Whether `--oauth-private` was given. */
  readonly oauthPrivate: boolean;
}

/** The flags about issuers of access tokens. */
export type OAuthFlags = Pick<ServeArguments, `oauth${"Issuers" | "Audiences" | "Principals" | "Ca" | "Private"}`>;

/** Whether a flag about issuers is given. */
export function hasOAuth(
  { oauthIssuers, oauthAudiences, oauthPrincipals, oauthCa, oauthPrivate }: OAuthFlags,
): boolean {
  return [...oauthIssuers, ...oauthAudiences, oauthPrincipals ?? oauthCa ?? []].flat().length > 0 || oauthPrivate;
}

const LOG_LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];

/**
 * Reads the flags of `gate serve`.
 *
 * @throws {CliError} If a flag is unknown, has no value, or is given twice and not repeatable
 */
export function parseServeArguments(argv: readonly string[]): ServeArguments {
  const values = parseFlags(argv);
  const texts = (name: string): readonly string[] => {
    const given = values[name];
    if (!Array.isArray(given)) return [];
    if (given.includes("")) throw emptyValue(`--${name}`);
    return given.filter((item) => typeof item === "string");
  };
  const text = (name: string): string | undefined => {
    const [value, ...more] = texts(name);
    if (more.length > 0) throw secondValue(`--${name}`);
    return value;
  };
  const level = text("log-level") ?? "info";
  const logLevel = LOG_LEVELS.find((known) => known === level);
  if (logLevel === undefined) {
    throw new CliError("usage", `Cannot use --log-level "${level}": must be one of ${LOG_LEVELS.join(", ")}`);
  }
  return {
    config: text("config"),
    dataDir: text("data-dir"),
    logLevel,
    signingKey: text("signing-key"),
    allowNonLoopback: values["allow-non-loopback"] === true,
    trustedProxies: texts("trusted-proxy"),
    allowedHosts: texts("allowed-host"),
    allowedOrigins: texts("allowed-origin"),
    typedHosts: texts("typed-host"),
    typedPrivate: values["typed-private"] === true,
    credentialsDir: text("credentials-dir"),
    evidenceKeys: text("evidence-keys"),
    publicUrl: text("public-url"),
    otlpEndpoint: text("otlp-endpoint"),
    otlpHeaders: texts("otlp-header"),
    console: values["console"] === true,
    notify: text("notify"),
    notifySecret: text("notify-secret"),
    oauthIssuers: texts("oauth-issuer"),
    oauthAudiences: texts("oauth-audience"),
    oauthPrincipals: text("oauth-principals"),
    oauthCa: text("oauth-ca"),
    oauthPrivate: values["oauth-private"] === true,
  };
}

type FlagValue = string | boolean | (string | boolean)[] | undefined;

function parseFlags(argv: readonly string[]): Record<string, FlagValue> {
  const options = Object.fromEntries(
    SERVE_FLAGS.map((flag) => [flag.name, {
      type: flag.value === null ? "boolean" as const : "string" as const,
      multiple: flag.value !== null,
    }]),
  );
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
    const unknown = /^Unknown option '--([^']*)'/.exec(reason)?.[1];
    const meant = unknown === undefined ? null : nearest(unknown, SERVE_FLAGS.map(({ name }) => name));
    throw new CliError(
      "usage",
      `Cannot read the flags of serve: ${reason.replaceAll("'", '"')}`,
      `${meant === null ? "" : `did you mean --${meant}? `}see gate serve --help`,
    );
  }
}
