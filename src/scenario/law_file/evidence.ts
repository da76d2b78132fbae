/** Reads the evidence of a law file: each name with its type, its sources and its policy. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { isBuiltinProviderName } from "../../config/builtin_names.ts";
import { plainPolicy } from "../../law/expand_policies.ts";
import { quote } from "../../law/suggest.ts";
import type { AcquisitionBinding, Channel } from "../../law/types.ts";
import type { ObservationDomain } from "../../law/value/types.ts";
import { DURATION_EXPECTED, durationMillis, type Span } from "./expression.ts";
import { contractType, type Line, readLine, type Source, withPlaceholders } from "./line.ts";
import type { Place, Report } from "./report.ts";
import { readType } from "./type.ts";

/** Evidence of a law file. */
export interface Evidence {
  readonly name: string;
  readonly place: Place;
  readonly id?: string;
  readonly bindings?: readonly string[];
  /** Undefined where the comparisons decide it. */
  readonly domain: ObservationDomain | undefined;
  readonly sources: readonly (Source & { readonly place: Place })[];
  readonly policy: JsonValue;
}

/** The groups of people: their names, and their public keys where the file has them. */
export type People = ReadonlyMap<string, Signers>;

/** The names that evidence may refer to. */
export interface Names {
  readonly people: People;
  readonly idOfParameter: ReadonlyMap<string, string>;
}

const MEMBERS = ["type", "id", "bindings", "from", "within", "signed_by", "waits", "quorum", "any", "policy"];

/** Reads `people`. */
export function readPeople(report: Report, value: JsonValue | undefined, place: Place): People {
  const people = new Map<string, Signers>();
  for (const [group, given] of report.members(value, place, "groups of people, as GROUP: [alice, bob]")) {
    const at = place.below(group);
    const keys = isJsonObject(given) ? given : null;
    const names = report.texts(keys === null ? given : Object.keys(keys), at, "a list of key names");
    if (names !== undefined) people.set(group, { names, keys });
  }
  return people;
}

/** Reads one piece of evidence. */
export function readEvidence(report: Report, name: string, value: JsonValue, place: Place, names: Names): Evidence {
  const object = isJsonObject(value) ? value : {};
  if (typeof value !== "string") report.closed(value, place, MEMBERS, "a line or an object");
  const lines = typeof value === "string" ? [readOwnLine(report, value, place)] : readFrom(report, object, place);
  const found = lines.flatMap((line) => line ?? []);
  const written = member(object, "type");
  const type = written === undefined ? undefined : report.text(written, place.below("type"));
  const domain = type === undefined
    ? found.find((line) => line.domain !== undefined)?.domain
    : readType(type, { start: 0, end: type.length }, report.inside(place.below("type")));
  const sources = found.flatMap(({ source, place: at, text }) =>
    source === undefined ? [] : [{ ...resolved(report, source, at, names, text), place: at }]
  );
  const id = report.optional(object, place, "id", (one, at) => report.text(one, at));
  const bindings = report.optional(object, place, "bindings", (one, at) => report.texts(one, at, "a list of ids"));
  const [only] = sources;
  const contract = sources.length === 1 && only !== undefined ? contractType(only.provider, only.check) : undefined;
  const own = contract === undefined ? undefined : readType(contract, { start: 0, end: 0 }, () => {});
  return {
    name,
    place,
    ...id === undefined ? {} : { id },
    ...bindings === undefined ? {} : { bindings },
    domain: domain ?? (written === undefined ? own : undefined),
    sources,
    policy: readPolicy(report, object, found, sources, place, names),
  };
}

/** A source with its place, and its text where it is written as a line. */
type PlacedLine = Line & { readonly place: Place; readonly text?: string };

function readOwnLine(report: Report, text: string, place: Place): PlacedLine | undefined {
  const line = readLine(text, report.inside(place));
  return line && { ...line, place, text };
}

/** The sources of `from`: a line, `{PROVIDER.CHECK: PARAMS}`, or a list of these. */
function readFrom(report: Report, object: JsonObject, place: Place): readonly (PlacedLine | undefined)[] {
  const from = member(object, "from");
  if (from === undefined) return [];
  const at = place.below("from");
  if (!isJsonArray(from)) return [readOne(report, from, at)];
  if (from.length === 0) report.fault("too_few", "Expected at least one source", at);
  return from.map((one, index) => readOne(report, one, at.below(index)));
}

function readOne(report: Report, value: JsonValue, place: Place): PlacedLine | undefined {
  if (typeof value === "string") return readOwnLine(report, value, place);
  const expected = "a line, or {PROVIDER.CHECK: PARAMS}";
  const [only, ...more] = report.members(value, place, expected);
  if (only === undefined) return undefined;
  const [, provider, check] = /^(.+)\.([^.]+)$/.exec(only[0]) ?? [];
  if (more.length > 0 || provider === undefined || check === undefined) {
    report.fault("value_invalid", `Expected ${expected}`, place);
    return undefined;
  }
  const [, params] = only;
  return { source: { provider, check, ...params === null ? {} : { params } }, place: place.below(only[0]) };
}

function resolved(report: Report, source: Source, place: Place, { idOfParameter }: Names, line?: string): Source {
  if (source.params === undefined) return source;
  const params = withPlaceholders(source.params, (name, { text, at, steps }) => {
    const id = idOfParameter.get(name);
    if (id !== undefined) return id;
    const message = `Parameter ${quote(name)} is not declared${report.hint(name, idOfParameter.keys())}`;
    const start = (line === undefined ? 0 : argumentAt(line, text)) + at + 1;
    const span = { start, end: start + name.length };
    return report.fault("name_unknown", message, line === undefined ? place.below(...steps) : place, { span });
  });
  return { ...source, params };
}

/** Where an argument stands in a line: at its beginning, or behind a blank or a quote. */
function argumentAt(line: string, argument: string): number {
  let at = line.indexOf(argument);
  while (at > 0 && !/[\s"']/.test(line.charAt(at - 1))) at = line.indexOf(argument, at + 1);
  return Math.max(at, 0);
}

/** The channel on which a provider acquires. The names of built-in providers are reserved for them. */
export function channelOf(provider: string): AcquisitionBinding["channel"] {
  return isBuiltinProviderName(provider) ? "local_acquisition" : "provider_acquisition";
}

function readPolicy(
  report: Report,
  object: JsonObject,
  lines: readonly PlacedLine[],
  sources: readonly Source[],
  place: Place,
  { people }: Names,
): JsonValue {
  const policy = member(object, "policy");
  const given = MEMBERS.slice(4, 9).filter((name) => Object.hasOwn(object, name));
  if (typeof policy === "string") {
    const [extra] = given;
    if (extra !== undefined) {
      report.fault(
        "policy_conflict",
        `Member "${extra}" has no effect: "policy" names a whole one`,
        place.below(extra),
      );
    }
    return { policy_id: policy };
  }
  const line: Partial<PlacedLine> = lines[0] ?? {};
  const read = <T>(name: string, reader: (value: JsonValue, at: Place) => T | undefined): T | undefined =>
    report.optional(object, place, name, reader);
  const within = read("within", (one, at) => readDuration(report, one, at)) ?? line.within;
  const signers = read("signed_by", (one, at) => readSigners(report, one, at, people)) ??
    (line.signers === undefined
      ? undefined
      : readSigners(report, line.signers as JsonValue, line.place ?? place, people, line.signersAt));
  const waits = read("waits", (one, at) => report.boolean(one, at)) ?? line.quorum !== undefined;
  const quorum = read("quorum", (one, at) => report.integer(one, at)) ?? line.quorum;
  const any = read("any", (one, at) => report.boolean(one, at)) ?? false;
  const acquired = [...new Set(sources.map(({ provider }) => channelOf(provider)))];
  const words = policyOfWords({ acquired, within, signers, waits, quorum, any });
  if (any && quorum !== undefined) {
    report.fault("policy_conflict", 'Expected "any" or "quorum", not both', place.below("any"));
  }
  if (policy === undefined) return words;
  if (isJsonObject(policy)) return { ...words, ...policy };
  report.fault("type_invalid", 'Expected members of a policy, or the id of one of "policies"', place.below("policy"));
  return words;
}

/** A policy on evidence in the words of a law file. */
export interface PolicyWords {
  /** The channels of the sources. */
  readonly acquired: readonly Channel[];
  readonly within: number | undefined;
  readonly signers: Signers | undefined;
  readonly waits: boolean;
  readonly quorum: number | undefined;
  readonly any: boolean;
}

/** The people who sign: their keys by name, and the keys themselves where the law pins them. */
export interface Signers {
  readonly names: readonly string[];
  readonly keys: JsonObject | null;
}

/** The whole policy of the words. */
export function policyOfWords({ acquired, within, signers, waits, quorum, any }: PolicyWords): JsonObject {
  const { requires_all_bindings: _, ...partial } = plainPolicy(acquired);
  const base = any ? partial : plainPolicy(acquired);
  const own = waits && acquired.length === 0 ? [] : base.allowed_channels;
  const words = {
    ...base,
    allowed_channels: waits ? [...own, "accepted_submission"] : own,
    ...within === undefined ? {} : { freshness: { freshness: "MaximumAge", maximum_age_millis: within } },
    ...quorum === undefined ? {} : { combination: { combination: "Quorum", minimum: quorum } },
    ...any ? { combination: { combination: "AnyQualifying" } } : {},
    ...signers === undefined && !waits ? {} : {
      authorization: "signature",
      integrity: "signed_content",
      required_assurance: [...base.required_assurance, "source_signature"],
    },
    ...signers === undefined ? {} : { authorized_key_ids: signers.names },
    ...(signers?.keys ?? null) === null ? {} : { authorized_public_keys: signers?.keys },
  };
  return words as unknown as JsonObject;
}

function readDuration(report: Report, value: JsonValue, place: Place): number | undefined {
  const millis = typeof value === "string" ? durationMillis(value) : null;
  if (millis !== null && millis > 0) return millis;
  report.fault("duration_invalid", `Expected a duration ${DURATION_EXPECTED}`, place);
  return undefined;
}

function readSigners(
  report: Report,
  value: JsonValue,
  place: Place,
  people: People,
  span?: Span,
): Signers | undefined {
  if (typeof value !== "string") {
    const names = report.texts(value, place, "key names, or the name of a group");
    return names && { names, keys: null };
  }
  const group = people.get(value);
  if (group !== undefined) return group;
  const hint = report.hint(value, people.keys()) || `; write [${value}] for one key`;
  const message = `Group ${quote(value)} is not in "people"${hint}`;
  report.fault("name_unknown", message, place, span === undefined ? {} : { span });
  return undefined;
}
