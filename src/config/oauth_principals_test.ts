import assert from "node:assert/strict";
import { parseOAuthPrincipals, PRINCIPALS, SCOPES_BYTES } from "./oauth_principals.ts";
import { ConfigError, formatProblem } from "./problems.ts";

const ISSUER = "https://issuer.example.com";
const HEAD = `issuer = "${ISSUER}"\nroles = [{ name = "TenantAdmin" }]\n`;
const ENTRY = `[[principal]]\nname = "ada"\n${HEAD}`;

/** The problems of a file, or the names of its principals. */
function outcome(text: string | Uint8Array): string {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  try {
    return parseOAuthPrincipals(bytes, "principals.toml", [ISSUER]).map(({ name }) => name).join(" ");
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems.map(formatProblem).join("; ");
  }
}

const ONE_OF = "must have one of subject, client_id, scope, claim";
const A_NAME = "must be 1 to 64 letters, digits, dots, dashes and underscores";

const FILES: readonly (readonly [what: string, text: string | Uint8Array, outcome: string])[] = [
  ["a subject", `${ENTRY}subject = "ada@example.com"`, "ada"],
  ["a client", `${ENTRY}client_id = "deployer"`, "ada"],
  ["a scope", `${ENTRY}scope = "gate.run"`, "ada"],
  ["a claim", `${ENTRY}claim = { name = "groups", value = "operators" }`, "ada"],
  ["another type of token", `${ENTRY}typ = "JWT"\nsubject = "ada"`, "ada"],
  ["an entry without roles, which refuses", `${ENTRY.replace(/\[\{.*\]/, "[]")}subject = "ada"`, "ada"],
  ["nothing", "", "principal: is required"],
  ["no entry", "principal = []", "principal: must have at least 1 item, got 0"],
  ["another member", `note = 1\n${ENTRY}subject = "ada"`, "note: unknown member"],
  [
    "no TOML",
    "[[principal",
    "principals.toml: line 1, column 3: is not valid TOML: incomplete key-value: cannot find end of key",
  ],
  ["no UTF-8", new Uint8Array([0xff]), "principals.toml: is not valid UTF-8"],
  ["no selector", ENTRY, `principal[0]: ${ONE_OF}, got none`],
  ["two selectors", `${ENTRY}subject = "ada"\nscope = "x"`, `principal[0]: ${ONE_OF}, got subject and scope`],
  ["no name", `[[principal]]\n${HEAD}subject = "ada"`, "principal[0].name: is required"],
  [
    "a name with a space",
    `${ENTRY.replace('"ada"', '"a da"')}subject = "x"`,
    `principal[0].name: ${A_NAME}, got a string of 4 characters`,
  ],
  ["a name of 64 characters", `${ENTRY.replace("ada", "a".repeat(64))}subject = "x"`, "a".repeat(64)],
  [
    "a name of 65 characters",
    `${ENTRY.replace("ada", "a".repeat(65))}subject = "x"`,
    `principal[0].name: ${A_NAME}, got a string of 65 characters`,
  ],
  [
    "a name twice",
    `${ENTRY}subject = "a"\n${ENTRY}subject = "b"`,
    "principal[1].name: must be unique, but principal[0] has the same",
  ],
  ["no roles", `[[principal]]\nname = "ada"\nissuer = "${ISSUER}"\nsubject = "a"`, "principal[0].roles: is required"],
  [
    "a misspelt member of a role",
    `${ENTRY.replace("{ name", "{ nme")}subject = "a"`,
    'principal[0].roles[0].name: is required; principal[0].roles[0].nme: unknown member, did you mean "name"?',
  ],
  ["no issuer", '[[principal]]\nname = "ada"\nroles = []\nsubject = "a"', "principal[0].issuer: is required"],
  [
    "an issuer that no flag names",
    `${ENTRY.replace(".com", ".org")}subject = "a"`,
    "principal[0].issuer: must be an issuer of --oauth-issuer, with the same characters",
  ],
  [
    "an issuer with a slash at its end",
    `${ENTRY.replace(".com", ".com/")}subject = "a"`,
    "principal[0].issuer: must be an issuer of --oauth-issuer, with the same characters",
  ],
  ["an empty subject", `${ENTRY}subject = ""`, "principal[0].subject: must not be empty"],
  [
    "two scopes",
    `${ENTRY}scope = "a b"`,
    "principal[0].scope: must be one scope of at most 256 characters, got a string of 3 characters",
  ],
  ["a scope of 256 characters", `${ENTRY}scope = "${"a".repeat(256)}"`, "ada"],
  [
    "a scope of 257 characters",
    `${ENTRY}scope = "${"a".repeat(257)}"`,
    "principal[0].scope: must be one scope of at most 256 characters, got a string of 257 characters",
  ],
  ["a claim without a value", `${ENTRY}claim = { name = "groups" }`, "principal[0].claim.value: is required"],
  [
    "a claim with a number",
    `${ENTRY}claim = { name = "level", value = 3 }`,
    "principal[0].claim.value: must be a string, got 3",
  ],
  [
    "a type with a space",
    `${ENTRY}typ = "J T"\nsubject = "a"`,
    'principal[0].typ: must be a media type such as "JWT", got a string of 3 characters',
  ],
  ["a policy class", `${ENTRY}policy_class = "scratch"\nsubject = "a"`, "principal[0].policy_class: unknown member"],
];

for (const [what, text, expected] of FILES) {
  Deno.test(`parseOAuthPrincipals() of ${what}: ${expected.slice(0, 80)}`, () => assert.equal(outcome(text), expected));
}

Deno.test(`parseOAuthPrincipals() reads ${PRINCIPALS} entries, and no more`, () => {
  const file = (count: number): string =>
    Array.from({ length: count }, (_, index) => `${ENTRY.replace("ada", `p${index}`)}subject = "s${index}"\n`).join("");
  for (const count of [PRINCIPALS - 1, PRINCIPALS]) assert.equal(outcome(file(count)).split(" ").length, count);
  assert.equal(
    outcome(file(PRINCIPALS + 1)),
    `principal: must have at most ${PRINCIPALS} items, got ${PRINCIPALS + 1}`,
  );
});

Deno.test(`parseOAuthPrincipals() reads scopes of ${SCOPES_BYTES} bytes for an issuer, and no more`, () => {
  /** An entry for the scope of so many characters. */
  const scoped = (characters: number, index: number): string =>
    `${ENTRY.replace("ada", `p${index}`)}scope = "${String(index).padEnd(characters, "x")}"\n`;
  const seven = Array.from({ length: 7 }, () => 255);
  const fileOf = (...characters: readonly number[]): string => characters.map(scoped).join("");
  const full = fileOf(...seven, 256);
  for (const accepted of [fileOf(...seven, 255), full]) assert.equal(outcome(accepted).split(" ").length, 8);
  const refusing = scoped(256, 8).replace(/\[\{.*\]/, "[]");
  assert.equal(outcome(full + refusing).split(" ").length, 9, "no client asks for a scope that refuses");
  const again = scoped(256, 7).replace('"p7"', '"p8"');
  assert.equal(outcome(full + again).split(" ").length, 9, "a scope counts once");
  assert.equal(
    outcome(fileOf(256, ...seven.slice(1), 256)),
    `principal[7].scope: must leave the scopes of its issuer at most ${SCOPES_BYTES} bytes together`,
  );
});
