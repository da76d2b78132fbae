/**
 * The forms that the suite asks for by the names of their tools: they must reach the client as they are.
 *
 * @module
 */

/** Forms whose members have defaults and enumerations, by tool. */
export const FORMS = {
  test_elicitation_sep1034_defaults: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("value", ["First Option", "Second Option", "Third Option"]) },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
    titledMulti: {
      type: "array",
      items: { anyOf: titled("value", ["First Choice", "Second Choice", "Third Choice"]) },
    },
  },
};

/** The form of the tool `test_elicitation`, whose members are required. */
export const CONTACT = { username: { type: "string" }, email: { type: "string" } };

function titled(prefix: string, titles: readonly string[]): { const: string; title: string }[] {
  return titles.map((title, index) => ({ const: `${prefix}${index + 1}`, title }));
}
