/** The contracts of the built-in providers (docs/reference/providers.md). */

import { words } from "../../canonical/words.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import type { BuiltinProviderName } from "../../config/types.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import type { CheckContract, LoadedContract, ProviderContract } from "../types.ts";
import {
  CALENDAR_SETTINGS,
  contractObject,
  ENV_SETTINGS,
  HTTP_SETTINGS,
  JSON_SETTINGS,
  REST_SETTINGS,
  TIME_SETTINGS,
} from "./builtin_settings.ts";
import { sealContract } from "./seal.ts";

const ALL = COMPARATORS;
const EQUALITY = ["equals", "not_equals", "in_set", "exists", "not_exists"];
const TEXT = ["equals", "not_equals", "contains", "in_set", "exists", "not_exists"];
const ORDER = words(
  "equals not_equals greater_than greater_than_or_equal less_than less_than_or_equal in_set exists",
  "not_exists",
);

/** The result of a check that can be any JSON value. */
const DYNAMIC: JsonObject = { "x-gate": { dynamic_type: true } };
const STRING_MAP: JsonObject = { type: "object", additionalProperties: { type: "string" } };
const URL_PARAM: JsonObject = { type: "string", description: "Absolute URL." };

function example(description: string, given: JsonValue, result: JsonValue): CheckContract["examples"][number] {
  return { description, params: given, result };
}

const TIME_SHARED = {
  determinism: "time_dependent",
  anchor_types: ["trigger_time_unix_millis", "trigger_time_logical"],
  content_types: ["application/json"],
} as const;

const THRESHOLD = contractObject({
  timestamp: {
    type: ["integer", "string"],
    description: "Unix milliseconds, or an RFC 3339 date-time with offset; an integer for logical trigger times.",
  },
}, ["timestamp"]);

function thresholdCheck(check_id: "after" | "before", result: boolean): CheckContract {
  return {
    ...TIME_SHARED,
    check_id,
    description: `Whether the trigger time lies ${check_id} a threshold; equal times do not.`,
    params_required: true,
    params_schema: THRESHOLD,
    result_schema: { type: "boolean" },
    allowed_comparators: EQUALITY,
    examples: [
      example("Trigger time 2024-06-01T12:00:00Z", { timestamp: "2024-06-01T00:00:00Z" }, result),
      example("The same threshold in Unix milliseconds", { timestamp: 1717200000000 }, result),
    ],
  };
}

const TIME: ProviderContract = {
  provider_id: "time",
  name: "Time Provider",
  description: "Compares the trigger time with thresholds. Reads no clock.",
  transport: "builtin",
  config_schema: TIME_SETTINGS,
  checks: [
    {
      ...TIME_SHARED,
      check_id: "now",
      description: "The trigger time as a number: Unix milliseconds, or the logical time.",
      params_required: false,
      params_schema: contractObject({}, []),
      result_schema: { type: "integer" },
      allowed_comparators: ORDER,
      examples: [example("Trigger time 2024-06-01T12:00:00Z", {}, 1717243200000)],
    },
    thresholdCheck("after", true),
    thresholdCheck("before", false),
  ],
  notes: [
    "Answers follow from the trigger time alone: the one the caller gave, else the stamp of the time authority.",
    "Fractions of a second in a threshold count exactly.",
  ],
};

const CALENDAR: ProviderContract = {
  provider_id: "calendar",
  name: "Calendar Provider",
  description: "Compares the trigger time with weekly windows in local time. Reads no clock.",
  transport: "builtin",
  config_schema: CALENDAR_SETTINGS,
  checks: [{
    check_id: "open",
    description: "Whether the trigger time lies in a weekly window.",
    determinism: "time_dependent",
    params_required: true,
    params_schema: contractObject({
      schedule: { type: "string", description: "Days and hours, such as Tue-Thu 22:00-02:00." },
      time_zone: { type: "string", description: "IANA name, such as Europe/Berlin." },
    }, ["schedule", "time_zone"]),
    result_schema: { type: "boolean" },
    allowed_comparators: EQUALITY,
    anchor_types: ["time_zone_data"],
    content_types: ["application/json"],
    examples: [
      example("Trigger time 2024-06-01T12:00:00Z, a Saturday", {
        schedule: "Sat 14:00-15:00",
        time_zone: "Europe/Berlin",
      }, true),
      example("The same in the night from Friday", { schedule: "Fri 22:00-02:00", time_zone: "UTC" }, false),
    ],
  }],
  notes: [
    "A window belongs to the day on which it begins. It ends before its second time.",
    "An hour that a change of clocks skips or repeats is open when its local time is within.",
  ],
};

const ENV: ProviderContract = {
  provider_id: "env",
  name: "Environment Provider",
  description: "Reads environment variables that the configuration allows.",
  transport: "builtin",
  config_schema: ENV_SETTINGS,
  checks: [{
    check_id: "get",
    description: "The value of a variable; null where it is not set, or may not be read.",
    determinism: "external",
    params_required: true,
    params_schema: contractObject({ key: { type: "string", description: "Name of the variable." } }, ["key"]),
    result_schema: { type: ["string", "null"] },
    allowed_comparators: TEXT,
    anchor_types: ["env"],
    content_types: ["text/plain"],
    examples: [
      example("A variable that is set", { key: "CI_BRANCH" }, "main"),
      example("A variable that is not set", { key: "CI_TAG" }, null),
    ],
  }],
  notes: [
    "A variable that is not set is null without an error, so that not_exists holds; one that may not be read is null " +
    "with the error key_blocked, so that no comparator holds.",
    "Names that gate's own configuration refers to are never read, nor those that begin with AWS_ or GATE_.",
  ],
};

const JSON_FILE: ProviderContract = {
  provider_id: "json",
  name: "JSON Provider",
  description: "Reads JSON and YAML files below one folder and takes values out of them by JSONPath (RFC 9535).",
  transport: "builtin",
  config_schema: JSON_SETTINGS,
  checks: [{
    check_id: "path",
    description: "A file, or what a JSONPath query finds in it.",
    determinism: "external",
    params_required: true,
    params_schema: contractObject({
      file: { type: "string", description: "Path from the root, with / between its parts." },
      jsonpath: { type: "string", description: "JSONPath query; left out for the whole file." },
    }, ["file"]),
    result_schema: DYNAMIC,
    allowed_comparators: ALL,
    anchor_types: ["file_path_rooted"],
    content_types: ["application/json", "application/yaml"],
    examples: [
      example("A singular query gives its value", { file: "build.json", jsonpath: "$.tests.failed" }, 0),
      example("Any other query gives an array", { file: "build.json", jsonpath: "$.suites[*].name" }, ["unit", "e2e"]),
    ],
  }],
  notes: [
    "A singular query gives its value; any other an array. No node is the error jsonpath_not_found.",
    "A number that a double does not keep exactly is the error invalid_json or invalid_yaml, with its place.",
  ],
};

const URL_SHARED = {
  determinism: "external",
  params_required: true,
  params_schema: contractObject({ url: URL_PARAM }, ["url"]),
  anchor_types: ["url"],
  content_types: ["application/json"],
} as const;

const HTTP: ProviderContract = {
  provider_id: "http",
  name: "HTTP Provider",
  description: "Sends one bounded GET request and gives the status code or the hash of the body.",
  transport: "builtin",
  config_schema: HTTP_SETTINGS,
  checks: [
    {
      ...URL_SHARED,
      check_id: "status",
      description: "The status code; the body is not read, redirects are not followed.",
      result_schema: { type: "integer" },
      allowed_comparators: ORDER,
      examples: [example("A healthy service", { url: "https://service.example/healthz" }, 200)],
    },
    {
      ...URL_SHARED,
      check_id: "body_hash",
      description: "The SHA-256 of the body's bytes, whatever the status.",
      result_schema: contractObject({
        algorithm: { const: "sha256", type: "string" },
        value: { type: "string", pattern: "^[0-9a-f]{64}$" },
      }, ["algorithm", "value"]),
      allowed_comparators: ["exists", "not_exists"],
      examples: [
        example("An empty body", { url: "https://files.example/empty" }, {
          algorithm: "sha256",
          value: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        }),
      ],
    },
  ],
  notes: [
    "Every address of the host is checked once, and the connection goes to a checked one.",
    "Redirects are answers: their status is the result.",
  ],
};

const REST_SHARED = { determinism: "external", params_required: true, anchor_types: ["rest_request"] } as const;
const HEADERS_PARAM: JsonObject = { ...STRING_MAP, description: "Headers of the request." };

const REST: ProviderContract = {
  provider_id: "rest",
  name: "REST Provider",
  description: "Sends one bounded GET request and takes a value out of its JSON body or its headers.",
  transport: "builtin",
  config_schema: REST_SETTINGS,
  checks: [
    {
      ...REST_SHARED,
      check_id: "json_path",
      description: "What a JSONPath query finds in the JSON body of a 2xx answer.",
      params_schema: contractObject({
        url: URL_PARAM,
        jsonpath: { type: "string", description: "JSONPath query (RFC 9535)." },
        headers: HEADERS_PARAM,
      }, ["url", "jsonpath"]),
      result_schema: DYNAMIC,
      allowed_comparators: ALL,
      content_types: ["application/json"],
      examples: [
        example(
          "The state of a deployment",
          { url: "https://api.example/deployments/7", jsonpath: "$.state" },
          "succeeded",
        ),
      ],
    },
    {
      ...REST_SHARED,
      check_id: "header",
      description: "A header of a 2xx or 3xx answer; null where it has none of that name.",
      params_schema: contractObject({
        url: URL_PARAM,
        header_name: { type: "string", description: "Name of the header, in any case." },
        headers: HEADERS_PARAM,
      }, ["url", "header_name"]),
      result_schema: { type: ["string", "null"] },
      allowed_comparators: TEXT,
      content_types: ["text/plain"],
      examples: [
        example("A header", { url: "https://api.example/version", header_name: "x-release" }, "2024.6"),
        example("No such header", { url: "https://api.example/version", header_name: "x-frozen" }, null),
      ],
    },
  ],
  notes: [
    "GET only. For status codes use the provider http.",
    "Headers that the protocol, the credentials or the configuration decide are refused in headers.",
  ],
};

const CONTRACTS: Readonly<Record<BuiltinProviderName, ProviderContract>> = {
  time: TIME,
  calendar: CALENDAR,
  env: ENV,
  json: JSON_FILE,
  http: HTTP,
  rest: REST,
};

/** The contract of a built-in provider. */
export function builtinContract(name: BuiltinProviderName): LoadedContract {
  return sealContract(CONTRACTS[name], "builtin");
}
