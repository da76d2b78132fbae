/**
 * The JSON Schema (2020-12) that is published for a schema of `schema_builder.ts`.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { AnySchema, Check } from "./schema_builder.ts";

type Published = Record<string, JsonValue>;

/** Changes the published form of one schema, after that of the schemas inside it. */
export type Change = (published: Published, schema: AnySchema) => void;

/** The JSON Schema of a schema, with the metadata of each schema in it. */
export function publish(schema: AnySchema, change: Change = () => {}): Published {
  const published = withMetadata(schema, change);
  change(published, schema);
  const types = published["anyOf"] === undefined ? null : bareTypes(published["anyOf"] as readonly JsonObject[]);
  if (types !== null) {
    delete published["anyOf"];
    published["type"] = types;
  }
  return published;
}

/** The schema of a wrapper has its own members, then those of the schema inside it. */
function withMetadata(schema: AnySchema, change: Change): Published {
  const { form, metadata } = schema;
  if (form.kind === "optional") return outside({ ...metadata }, publish(form.inner, change));
  if (form.kind !== "default") return { ...published(schema, change), ...metadata };
  const inner = publish(form.inner, change);
  if (isTransformed(form.inner)) return outside({ ...metadata }, inner);
  const value = structuredClone(form.value) as JsonValue;
  return outside(form.isRead ? { ...metadata, default: value } : { default: value, ...metadata }, inner);
}

function outside(own: Published, inner: Published): Published {
  for (const [name, value] of Object.entries(inner)) {
    if (!Object.hasOwn(own, name)) own[name] = value;
  }
  return own;
}

/** Whether a reader makes the value: its default is no input. */
function isTransformed({ form }: AnySchema): boolean {
  return form.kind === "custom" || form.kind === "nullable" && isTransformed(form.inner);
}

function published({ form, checks }: AnySchema, change: Change): Published {
  switch (form.kind) {
    case "string":
      return { type: "string", ...bounds("minLength", "maxLength", checks), ...patterns(checks) };
    case "integer":
      return {
        type: "integer",
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
        ...bounds("minimum", "maximum", checks),
      };
    case "array":
      return {
        ...bounds("minItems", "maxItems", checks),
        type: "array",
        items: publish(form.item, change),
      };
    case "boolean":
      return { type: "boolean" };
    case "enum":
      return { type: "string", enum: form.values };
    case "literal":
      return { type: "string", const: form.value };
    case "object":
      return publishedObject(form.members, change);
    case "union":
      return { anyOf: form.options.map((option) => publish(option, change)) };
    case "variants":
      return { oneOf: [...form.options.values()].map((option) => publish(option, change)) };
    case "nullable":
      return { anyOf: [publish(form.inner, change), { type: "null" }] };
    default:
      return {};
  }
}

function publishedObject(members: readonly (readonly [string, AnySchema])[], change: Change): Published {
  const required = members.filter(([, { form }]) => form.kind !== "optional" && form.kind !== "default");
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, schema]) => [name, publish(schema, change)])),
    ...required.length === 0 ? {} : { required: required.map(([name]) => name) },
    additionalProperties: false,
  };
}

/** The narrowest bounds of the checks. */
function bounds(minimum: string, maximum: string, checks: readonly Check[]): Published {
  const least = checks.filter((one) => one.kind === "minimum").map(({ bound }) => bound);
  const most = checks.filter((one) => one.kind === "maximum").map(({ bound }) => bound);
  return {
    ...least.length === 0 ? {} : { [minimum]: Math.max(...least) },
    ...most.length === 0 ? {} : { [maximum]: Math.min(...most) },
  };
}

function patterns(checks: readonly Check[]): Published {
  const found = checks.filter((one) => one.kind === "pattern").map(({ pattern }) => ({ pattern: pattern.source }));
  return found.length > 1 ? { allOf: found } : found[0] ?? {};
}

/** The types of alternatives that are nothing but a type; null where one is more. */
function bareTypes(options: readonly JsonObject[]): JsonValue | null {
  const isBare = options.every((option) => Object.keys(option).length === 1 && option["type"] !== undefined);
  return isBare ? [...new Set(options.flatMap((option) => option["type"] as string | string[]))] : null;
}
