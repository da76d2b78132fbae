/**
 * JSON Schemas of the `config` of the built-in providers: the `config_schema` of their contracts. They are not derived
 * from the configuration's schemas, because runs are bound to the identity of a contract, which follows from this text.
 */

import type { JsonObject } from "../../canonical/json.ts";

const MEBIBYTE = 1_048_576;

/** A closed object of a contract, with its members in the order of the published text. */
export function contractObject(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", additionalProperties: false, properties, required };
}

const TEXTS: JsonObject = { type: "array", items: { type: "string" } };
const TEXT_MAP: JsonObject = { type: "object", additionalProperties: { type: "string" } };

/** `config` of `time`. */
export const TIME_SETTINGS: JsonObject = contractObject({
  allow_logical: { type: "boolean", default: true, description: "Accept logical trigger times." },
});

/** `config` of `calendar`, which has no settings. */
export const CALENDAR_SETTINGS: JsonObject = contractObject({});

/** `config` of `env`. */
export const ENV_SETTINGS: JsonObject = contractObject({
  allowlist: { ...TEXTS, description: "Names that may be read; left out for any." },
  denylist: { ...TEXTS, default: [], description: "Names that may not be read; wins." },
  overrides: { ...TEXT_MAP, description: "Values to answer with in place of the environment." },
  max_key_bytes: { type: "integer", minimum: 0, default: 255, description: "Bytes of a name." },
  max_value_bytes: { type: "integer", minimum: 0, default: 65_536, description: "Bytes of a value." },
});

/** `config` of `json`. */
export const JSON_SETTINGS: JsonObject = contractObject({
  root: { type: "string", minLength: 1, description: "Folder that files are read from." },
  root_id: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]{0,63}$", description: "Name of the root in evidence." },
  allow_yaml: { type: "boolean", default: true, description: "Read .yaml and .yml files as YAML." },
  max_bytes: { type: "integer", minimum: 0, default: MEBIBYTE, description: "Bytes of one file." },
}, ["root", "root_id"]);

const REQUEST: JsonObject = {
  allow_http: { type: "boolean", default: false, description: "Allow http:// addresses." },
  allow_private_networks: {
    type: "boolean",
    default: false,
    description: "Allow private, link-local and loopback addresses.",
  },
  allowed_hosts: { ...TEXTS, description: "Hosts that may be asked; left out for any public one." },
  hash_algorithm: { enum: ["sha256"], default: "sha256", description: "Algorithm of body hashes." },
  user_agent: { type: "string", default: "gate/0.1", description: "User-Agent header." },
  max_response_bytes: { type: "integer", minimum: 0, default: MEBIBYTE, description: "Bytes of one response." },
  timeout_ms: { type: "integer", minimum: 0, default: 5000, description: "Milliseconds of one request." },
};

/** `config` of `http`. */
export const HTTP_SETTINGS: JsonObject = contractObject(REQUEST);

const CREDENTIAL: JsonObject = { type: "string", minLength: 1 };

/** `config` of `rest`. */
export const REST_SETTINGS: JsonObject = contractObject({
  ...REQUEST,
  default_headers: { ...TEXT_MAP, default: {}, description: "Headers of every request." },
  auth: {
    ...contractObject({
      api_key_header: { ...CREDENTIAL, description: "Header that carries the API key." },
      api_key_value: { ...CREDENTIAL, description: "API key: a literal or env:NAME." },
      basic_username: { ...CREDENTIAL, description: "User name: a literal or env:NAME." },
      basic_password: { ...CREDENTIAL, description: "Password: a literal or env:NAME." },
      bearer_token: { ...CREDENTIAL, description: "Bearer token: a literal or env:NAME." },
    }),
    type: ["object", "null"],
    default: null,
    description: "Credentials of every request.",
  },
});
