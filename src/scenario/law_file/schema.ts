/** The JSON Schema of law files, for editors. What stands in the long form refers to the definitions of a spec. */

import type { JsonObject } from "../../canonical/json.ts";
import { boolean, closed, listOf, object, published, type Reader, schemaOf, text } from "../../canonical/shape.ts";
import { characters, described, optional, table, union } from "../../canonical/table_shape.ts";

type Part = Reader<unknown>;

const TEXT = characters(1);
const TEXTS = listOf(TEXT);

function named(value: Part, description: string): Part {
  const propertyNames = { pattern: "^[A-Za-z_][A-Za-z0-9_]*$" };
  return published(({ of }) => ({ type: "object", description, propertyNames, additionalProperties: of(value) }));
}

function eitherOf(...parts: readonly Part[]): Part {
  return union("another form", ...parts);
}

function definitions(name: string): Part {
  return listOf(published({ $ref: `#/$defs/${name}` }));
}

function line(description: string): Part {
  return described(TEXT, description);
}

const INTEGER = published({ type: "integer" });
const POSITIVE = published({ type: "integer", minimum: 1 });
const EXPRESSION = line("Such as: tests_failed == 0 && approved");
const EXPRESSIONS = listOf(EXPRESSION, undefined, 1);
const STAGES = line("An expression over the names of stages");
const TYPE = line("text, text(7..40), integer, count, decimal, percent, boolean, time, sha256 or json(4096)");
const SOURCE = eitherOf(
  line("json FILE JSONPATH, rest URL JSONPATH, http URL, env KEY, after TIMESTAMP"),
  published({ type: "object", description: "{PROVIDER.CHECK: PARAMS}", minProperties: 1, maxProperties: 1 }),
);
const EVIDENCE = closed({}, {
  type: TYPE,
  id: TEXT,
  bindings: TEXTS,
  from: eitherOf(SOURCE, listOf(SOURCE, undefined, 1)),
  within: published({ type: "string", pattern: "^(0|[1-9][0-9]*)(ms|s|m|h|d)$" }),
  signed_by: eitherOf(TEXT, TEXTS),
  waits: boolean,
  quorum: POSITIVE,
  any: boolean,
  policy: published({ type: ["string", "object"], description: "Members of a policy, or the id of one of policies" }),
});

const LAW_FILE = closed({ law: line("The scenario_id") }, {
  namespace: POSITIVE,
  question: line("For readers of the file; it is no part of the law"),
  parameters: named(eitherOf(TYPE, closed({ type: TYPE }, { id: TEXT, description: text })), "NAME: TYPE"),
  people: named(
    eitherOf(TEXTS, published(({ of }) => ({ type: "object", additionalProperties: of(TEXT) }))),
    "GROUP: [KEY_NAME], or {KEY_NAME: PUBLIC_KEY}",
  ),
  evidence: named(
    eitherOf(line("caller, a type, 2 of GROUP within 24h, TYPE from LINE, or the line of a check"), EVIDENCE),
    "NAME: LINE",
  ),
  stages: named(
    eitherOf(
      EXPRESSION,
      EXPRESSIONS,
      table({
        id: optional(TEXT),
        after: optional(STAGES),
        when: eitherOf(EXPRESSION, EXPRESSIONS),
        packets: optional(definitions("packet")),
      }),
    ),
    "NAME: EXPRESSION",
  ),
  complete: STAGES,
  limits: closed({ value_bytes: INTEGER, payload_bytes: INTEGER }),
  schemas: listOf(eitherOf(line("ID@VERSION"), published({ $ref: "#/$defs/schema" }))),
  policies: listOf(object),
  unused: listOf(EXPRESSION),
  long: closed({}, {
    conditions: definitions("condition"),
    acquisition_bindings: definitions("binding"),
    stages: definitions("stage"),
  }),
});

/** The schema of a law file. Its references are those of the schema of a spec. */
export const LAW_FILE_SCHEMA = schemaOf(LAW_FILE, true).schema as JsonObject;
