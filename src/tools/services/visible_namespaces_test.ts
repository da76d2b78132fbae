import assert from "node:assert/strict";
import type { NamespaceAuthority, RoleBinding } from "../../access/types.ts";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../../config/defaults.ts";
import { LOCAL, testConfig } from "../tests/tools_fixture.ts";
import type { Call, NamespaceList } from "../framework/types.ts";
import { QUESTIONS_MAXIMUM, STORED_MAXIMUM, visibleNamespaces } from "./visible_namespaces.ts";

interface World {
  /** Namespaces with laws. */
  readonly stored: readonly number[];
  /** The roles of the caller; null where roles are not in force. */
  readonly roles?: readonly RoleBinding[] | null;
  /** The namespaces that an authority grants; null without an authority. */
  readonly granted?: readonly number[] | null;
  readonly begun?: string;
}

interface Seen extends NamespaceList {
  readonly readings: number;
  readonly questions: number;
}

async function seen({ stored, roles = null, granted = null, begun = "" }: World): Promise<Seen> {
  const { server } = DEFAULT_SETTINGS;
  const principal = { ...LOCAL, roles: roles ?? [] };
  const bound = { subject: "stdio", policy_class: null, roles: [] };
  const auth = { ...AUTH_DEFAULTS, principals: roles === null ? [] : [bound] };
  let readings = 0;
  let questions = 0;
  const namespaces: NamespaceAuthority | null = granted === null ? null : {
    ask: (id) => {
      questions++;
      return Promise.resolve({ verdict: granted.includes(id) ? "granted" : "refused", reason: "listed" });
    },
    close: () => undefined,
  };
  const runs = {
    laws: {
      listNamespaces: (after: number, limit: number) => {
        readings++;
        return Promise.resolve(stored.filter((id) => id > after).slice(0, limit));
      },
    },
  };
  const fail = (): never => assert.fail("completions are not audited");
  const call: Call = {
    principal,
    signal: new AbortController().signal,
    correlationId: null,
    auditor: { decided: fail, acquired: fail, begin: fail },
  };
  const config = testConfig({ server: { ...server, auth } });
  return { ...await visibleNamespaces({ config, namespaces, runs }, begun, call), readings, questions };
}

const READER = (namespace_id: number | null): RoleBinding => ({
  name: "NamespaceReader",
  tenant_id: null,
  namespace_id,
});

/** The namespaces and roles, and the visible namespaces. */
const ROWS: readonly (readonly [what: string, world: World, ids: readonly number[], isWhole: boolean])[] = [
  ["all but the closed one where nothing restricts", { stored: [1, 2, 3] }, [2, 3], true],
  ["those that begin so", { stored: [2, 3, 20, 32], begun: "2" }, [2, 20], true],
  ["none that begins with what is no number", { stored: [2], begun: "x" }, [], true],
  [
    "those that roles name, whether they hold laws or not",
    { stored: [2, 3], roles: [READER(7), READER(2)] },
    [2, 7],
    true,
  ],
  ["all where a role names none", { stored: [2, 3], roles: [READER(null)] }, [2, 3], true],
  ["none where the role grants nothing", { stored: [2], roles: [{ ...READER(2), name: "Nobody" }] }, [], true],
  ["none without a role", { stored: [2], roles: [] }, [], true],
  ["those that the authority grants", { stored: [2, 3, 4], granted: [3] }, [3], false],
];

for (const [what, world, ids, isWhole] of ROWS) {
  Deno.test(`visibleNamespaces() returns ${what}`, async () => {
    const shown = await seen(world);
    assert.deepEqual([shown.ids, shown.isWhole], [ids, isWhole]);
  });
}

Deno.test("visibleNamespaces() does not read the store for a caller confined by its roles", async () => {
  const many = Array.from({ length: STORED_MAXIMUM + 9 }, (_, index) => index + 2);
  assert.deepEqual(await seen({ stored: many, roles: [READER(7)] }), {
    ids: [7],
    isWhole: true,
    readings: 0,
    questions: 0,
  });
});

for (const [beside, isWhole] of [[-1, true], [0, true], [1, false]] as const) {
  const count = STORED_MAXIMUM + beside;
  Deno.test(`visibleNamespaces() of ${count} namespaces is ${isWhole ? "whole" : "cut"}`, async () => {
    const { ids, ...shown } = await seen({ stored: Array.from({ length: count }, (_, index) => index + 2) });
    assert.equal(ids.length, Math.min(count, STORED_MAXIMUM));
    assert.deepEqual(shown, { isWhole, readings: 1, questions: 0 });
  });
}

for (const beside of [-1, 0, 1]) {
  const count = QUESTIONS_MAXIMUM + beside;
  Deno.test(`visibleNamespaces() queries the authority at most ${QUESTIONS_MAXIMUM} times: ${count}`, async () => {
    const stored = Array.from({ length: count }, (_, index) => index + 2);
    const { ids, questions } = await seen({ stored, granted: stored });
    assert.deepEqual([ids.length, questions], [Math.min(count, QUESTIONS_MAXIMUM), Math.min(count, QUESTIONS_MAXIMUM)]);
  });
}
