/** The one layout of law files in YAML: of those that gate writes, and of those that it formats. */

import { Document, isCollection, isMap, isPair, isScalar, isSeq, type Scalar, visit, YAMLMap, YAMLSeq } from "yaml";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { Requirement } from "../../law/types.ts";
import { literalText, partText, predicateText, relativeText } from "../../law/words.ts";
import { parseYaml } from "../../evidence/builtin/yaml_parser.ts";
import { type Comparison, type Expression, type Operand, readExpression } from "./expression.ts";

/** Characters of a map or a list on one line; a longer one takes a line for each item. */
const FLOW_CHARACTERS = 100;

/** The text of a document as a law file in YAML. */
export function lawText(document: JsonObject): string {
  return layOut(new Document(document, { version: "1.2", aliasDuplicateObjects: false }));
}

/** A law file in YAML in the one layout. Comments and the order of members stay. */
export function formatText(text: string): string {
  return layOut(parseYaml(text, { logLevel: "silent", keepSourceTokens: false }) as unknown as Document);
}

function layOut(yaml: Document): string {
  const { contents } = yaml;
  if (!isMap(contents)) return yaml.toString();
  const parameters = contents.get("parameters");
  const names = isMap(parameters) ? parameters.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
  contents.flow = false;
  for (const { key, value } of contents.items) {
    const member = isScalar(key) ? String(key.value) : "";
    // Whether a collection is short depends on the text of its expressions.
    if (["stages", "complete", "unused"].includes(member)) eachExpression(member, value, new Set(names));
    const isList = isSeq(value) && member !== "schemas";
    // The expressions of a list stand below each other, and so do the members of every group.
    if (isCollection(value)) value.flow = isSeq(value) && !isList && isShort(value);
    for (const item of isCollection(value) ? value.items : []) {
      const inner = isPair(item) ? item.value : item;
      if (isCollection(inner)) layOutInner(inner, member === "stages" && isSeq(inner));
    }
  }
  visit(yaml, { Scalar: (_, node) => setStyle(node), Collection: (_, node) => setPadding(node as YAMLMap | YAMLSeq) });
  return yaml.toString({ lineWidth: 0, minContentWidth: 0, flowCollectionPadding: true });
}

type Collection = YAMLMap | YAMLSeq;

function layOutInner(node: Collection, isBlock: boolean): void {
  node.flow = !isBlock && isShort(node);
  if (node.flow) unspace(node);
  for (const item of node.items) {
    const inner = isPair(item) ? item.value : item;
    if (isMap(inner) || isSeq(inner)) layOutInner(inner, false);
  }
}

/** Whether a collection fits into one line: it is short, and has no comments. */
function isShort(node: Collection): boolean {
  if (JSON.stringify(node.toJSON()).length > FLOW_CHARACTERS) return false;
  let isPlain = true;
  visit(node, {
    Node: (_, one) => {
      const hasComment = (one.comment ?? "") !== "" || (one.commentBefore ?? "") !== "";
      if (hasComment || isScalar(one) && String(one.value).includes("\n")) isPlain = false;
    },
  });
  return isPlain;
}

/** Removes the blank lines inside a collection that takes one line. */
function unspace(node: Collection): void {
  visit(node, { Node: (_, one) => void (one.spaceBefore = false) });
}

function setStyle(node: Scalar): void {
  if (typeof node.value === "string" && !node.value.includes("\n")) delete node.type;
}

/** Maps in braces have blanks inside, lists in brackets have none. */
function setPadding(node: Collection): void {
  const padding = isMap(node) ? " " : "";
  const print = (isMap(node) ? YAMLMap : YAMLSeq).prototype.toString;
  node.toString = (context, ...rest) =>
    print.call(node as never, context && { ...context, flowCollectionPadding: padding }, ...rest);
}

/** Writes each expression in one form. One that is invalid, or that has a comment of its own, stays as it is. */
function eachExpression(member: string, value: unknown, parameters: ReadonlySet<string>): void {
  const format = (node: unknown, ofStages: boolean): void => {
    if (isSeq(node)) node.items.forEach((item) => format(item, ofStages));
    if (!isScalar(node) || typeof node.value !== "string" || /\/\/|\n/.test(node.value)) return;
    const calls = new Map([[ofStages ? "stage" : "condition", true]]);
    const read = readExpression(node.value, { ofStages, names: null, parameters, calls }, () => {});
    if (read !== undefined) node.value = expressionOf(read);
  };
  if (member !== "stages") return format(value, member === "complete");
  for (const pair of isMap(value) ? value.items : []) {
    if (!isMap(pair.value)) format(pair.value, false);
    else {
      format(pair.value.get("after", true), true);
      format(pair.value.get("when", true), false);
    }
  }
}

/** The text of an expression. In a list an exact list of operands must stay one. */
function expressionOf(read: Expression): string {
  const inside = (read.kind === "And" || read.kind === "Or") && read.isExact ? read.kind : null;
  return partText(requirementOf(read), (text) => text, inside);
}

/** An expression as a requirement whose leaves are texts. */
function requirementOf(expression: Expression): Requirement {
  switch (expression.kind) {
    case "And":
      return { And: expression.operands.map(requirementOf) };
    case "Or":
      return { Or: expression.operands.map(requirementOf) };
    case "Not":
      return { Not: requirementOf(expression.operand) };
    case "RequireGroup":
      return { RequireGroup: { min: expression.min, reqs: expression.operands.map(requirementOf) } };
    case "stage":
      return { Condition: expression.name };
    case "call":
      return { Condition: `${expression.call.call}(${literalText(expression.call.argument ?? "")})` };
    case "comparison":
      return { Condition: textOf(expression.comparison) };
  }
}

function textOf({ name, predicate, operands }: Comparison): string {
  const [first] = operands;
  if (predicate === "Equals" && first?.kind === "boolean" && first.value) return name;
  return predicateText(name, predicate, operands.map(operandText));
}

function operandText(operand: Operand): string {
  switch (operand.kind) {
    case "number":
      return operand.text;
    case "text":
      return literalText(operand.text);
    case "boolean":
      return String(operand.value);
    case "parameter":
      return operand.name;
    case "time":
      return `timestamp(${literalText(operand.text)})`;
    case "now":
      return relativeText(operand.offset);
    case "json":
      return `json(${literalText(canonicalize(operand.value))})`;
  }
}
