/**
 * Keywords as the library has them, but for what it finds by names that every object inherits: a value with a member named
 * `constructor` or `toString` would be compared with the wrong thing, and `{"$ref": "#/$defs/constructor"}` would be found where
 * there is no such definition, and take every value.
 *
 * @module
 */

import {
  _,
  type Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  type FuncKeywordDefinition,
  type KeywordCxt,
  type KeywordDefinition,
  Name,
} from "ajv/dist/2020.js";
import { and, not } from "ajv/dist/compile/codegen/index.js";
import { resolveRef, SchemaEnv } from "ajv/dist/compile/index.js";
import { Type } from "ajv/dist/compile/util.js";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonArray, JsonValue } from "../../canonical/json.ts";
import { jsonEqual } from "../../law/value/json_equality.ts";

/** A test of a value: null where it holds, else what is wrong. */
type Test = (value: JsonValue) => Pick<ErrorObject, "message" | "params"> | null;

/** A keyword whose value alone says what to test. */
function testing(
  keyword: string,
  prepare: (schema: JsonValue) => Test,
  type?: "array" | "number",
): FuncKeywordDefinition {
  return {
    keyword,
    ...type === undefined ? {} : { type },
    errors: true,
    compile: (schema: JsonValue) => {
      const test = prepare(schema);
      const validate: ReturnType<NonNullable<FuncKeywordDefinition["compile"]>> = (value: JsonValue) => {
        const wrong = test(value);
        validate.errors = wrong === null ? [] : [{ keyword, ...wrong }];
        return wrong === null;
      };
      return validate;
    },
  };
}

function constTest(allowedValue: JsonValue): Test {
  const wrong = { message: "must be equal to constant", params: { allowedValue } };
  return (value) => jsonEqual(value, allowedValue) ? null : wrong;
}

function enumTest(allowed: JsonValue): Test {
  const allowedValues = allowed as JsonArray;
  const scalars = new Set(allowedValues.filter((value) => !isContainer(value)));
  const containers = allowedValues.filter(isContainer);
  const wrong = { message: "must be equal to one of the allowed values", params: { allowedValues } };
  return (value) => {
    const found = isContainer(value) ? containers.some((one) => jsonEqual(one, value)) : scalars.has(value);
    return found ? null : wrong;
  };
}

function uniqueTest(unique: JsonValue): Test {
  if (unique !== true) return () => null;
  return (value) => {
    const scalars = new Map<JsonValue, number>();
    const containers = new Map<JsonValue, number>();
    for (const [j, item] of (value as JsonArray).entries()) {
      const [seen, key] = isContainer(item) ? [containers, canonicalize(item)] : [scalars, item];
      const i = seen.get(key);
      if (i !== undefined) return { message: `must NOT have duplicate items (${i} and ${j})`, params: { i, j } };
      seen.set(key, j);
    }
    return null;
  };
}

/** Numbers count as what they are written as: 19.99 is a multiple of 0.01, which no division of doubles says. */
function multipleTest(schema: JsonValue): Test {
  const divisor = decimalParts(schema as number);
  const wrong = { message: `must be multiple of ${schema}`, params: { multipleOf: schema } };
  return (value) => {
    const dividend = decimalParts(value as number);
    const shift = BigInt(dividend.exponent - divisor.exponent);
    const rest = shift >= 0n
      ? dividend.digits * 10n ** shift % divisor.digits
      : dividend.digits % (divisor.digits * 10n ** -shift);
    return rest === 0n ? null : wrong;
  };
}

/** A finite number as `digits * 10 ** exponent`. The exponents of two doubles differ by less than 700. */
function decimalParts(number: number): { readonly digits: bigint; readonly exponent: number } {
  const [significand = "", exponent = ""] = number.toExponential().split("e");
  const [whole = "", fraction = ""] = significand.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

function isContainer(value: JsonValue): boolean {
  return typeof value === "object" && value !== null;
}

/**
 * What a reference leads to has to be a schema of the document, or another document as a whole: the library takes a text, a list
 * or an inherited function for a schema that allows all, and what stands below an unknown keyword was not reviewed.
 */
function referenceTo(library: CodeKeywordDefinition, schemas: ReadonlySet<unknown>): CodeKeywordDefinition {
  const code = (context: KeywordCxt): void => {
    const { schema, it: { baseId, schemaEnv: { root }, self } } = context;
    // Within the metaschema, which the library brings along, it is at home.
    if (!schemas.has(root.schema)) return library.code(context);
    const target: unknown = schema === "#" ? root : resolveRef.call(self, root, baseId, schema);
    const found: unknown = target instanceof SchemaEnv ? target.schema : target;
    const isElsewhere = target instanceof SchemaEnv && target.root !== root && target.schema === target.root.schema;
    // The library reads "#/", the member without a name, as the whole document.
    const isSchema = schema !== "#/" && (isElsewhere || typeof found === "boolean" || schemas.has(found));
    if (found !== undefined && !isSchema) throw new Error(`can't resolve reference ${schema} to a schema`);
    library.code(context);
  };
  return { ...library, code };
}

/** Which members are evaluated is looked up among own names, so that one named `constructor` does not count as evaluated. */
const UNEVALUATED_PROPERTIES: CodeKeywordDefinition = {
  keyword: "unevaluatedProperties",
  type: "object",
  schemaType: ["boolean", "object"],
  trackErrors: true,
  error: {
    message: "must NOT have unevaluated properties",
    params: ({ params }) => _`{unevaluatedProperty: ${params["unevaluatedProperty"]}}`,
  },
  code: unevaluatedCode,
};

function unevaluatedCode(context: KeywordCxt): void {
  const { gen, data, it } = context;
  const { props } = it;
  const judge = (key: Name): void => judgeUnevaluated(context, key);
  if (props instanceof Name) {
    const unseen = (key: Name) => _`!${props} || !Object.hasOwn(${props}, ${key})`;
    gen.if(_`${props} !== true`, () => gen.forIn("key", data, (key) => gen.if(unseen(key), () => judge(key))));
  } else if (props !== true) {
    const names = props === undefined ? [] : Object.keys(props).filter((name) => props[name] === true);
    const unnamed = (key: Name) => names.length === 0 ? _`true` : and(...names.map((name) => _`${key} !== ${name}`));
    gen.forIn("key", data, (key) => gen.if(unnamed(key), () => judge(key)));
  }
  it.props = true;
  context.ok(_`${context.errsCount as Name} === ${new Name("errors")}`);
}

function judgeUnevaluated(context: KeywordCxt, key: Name): void {
  const { gen, schema } = context;
  if (schema === false) {
    context.setParams({ unevaluatedProperty: key });
    context.error();
    gen.break();
    return;
  }
  const valid = gen.name("valid");
  context.subschema({ keyword: "unevaluatedProperties", dataProp: key, dataPropType: Type.Str }, valid);
  gen.if(not(valid), () => gen.break());
}

/**
 * The keywords that take the place of the library's.
 *
 * @param schemas The schemas of the document that were reviewed
 */
export function ownKeywords(library: Ajv2020, schemas: ReadonlySet<unknown>): readonly KeywordDefinition[] {
  return [
    referenceTo(library.getKeyword("$ref") as unknown as CodeKeywordDefinition, schemas),
    testing("const", constTest),
    testing("enum", enumTest),
    testing("multipleOf", multipleTest, "number"),
    testing("uniqueItems", uniqueTest, "array"),
    UNEVALUATED_PROPERTIES,
  ];
}
