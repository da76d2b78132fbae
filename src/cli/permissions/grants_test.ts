import assert from "node:assert/strict";
import { compareGrants, describeWider, grantFlags, isGranted, revokeOthers } from "./grants.ts";
import type { PermissionPlan } from "./plan.ts";

const NOTHING: PermissionPlan = {
  read: [],
  write: [],
  env: [],
  net: [],
  deny_net: [],
  run: [],
  sys: [],
  notes: [],
};
const SOME = { ...NOTHING, read: ["/a"], net: ["127.0.0.1", "192.0.2.1"] };

const OTHERS = ["--deny-run"];

/** A plan; what this test lacks of it, and in whose place it has a whole class. */
const ROWS: readonly (readonly [string, PermissionPlan, missing: readonly string[], narrower: readonly string[]])[] = [
  ["nothing", NOTHING, [], ["--deny-read", ...OTHERS]],
  ["lists", SOME, ["--allow-net=192.0.2.1"], ["--allow-read=/a", ...OTHERS]],
  ["every host", { ...NOTHING, net: "all", deny_net: ["[::1]"] }, ["--allow-net"], [
    "--deny-read",
    ...OTHERS,
    "--deny-net=[::1]",
  ]],
  ["every variable", { ...NOTHING, env: "all" }, ["--allow-env"], ["--deny-read", ...OTHERS]],
  ["the authorities of the system", { ...NOTHING, sys: ["ca", "statfs"] }, ["--allow-sys"], ["--deny-read", ...OTHERS]],
];

for (const [what, plan, missing, narrower] of ROWS) {
  Deno.test({
    name: `compareGrants() of a process that may read, run and reach 127.0.0.1: ${what}`,
    permissions: { read: true, run: true, net: ["127.0.0.1", "[::1]"] },
    fn: () => {
      const comparison = compareGrants(plan);
      assert.deepEqual(comparison, { missing, narrower });
      const wider = narrower.length === 0
        ? null
        : `permissions are wider than the configuration needs: narrower are ${narrower.join(" ")}`;
      assert.equal(describeWider(comparison), wider);
    },
  });
}

Deno.test({
  name: "compareGrants() takes the authorities of the system from a named set, which no flag can name",
  permissions: { sys: ["ca", "statfs"] as unknown as "statfs"[] },
  fn: () => assert.deepEqual(compareGrants({ ...NOTHING, sys: ["ca", "statfs"] }), { missing: [], narrower: [] }),
});

Deno.test({
  name: "revokeOthers() gives up each class that a plan does not need",
  permissions: { read: true, run: true, net: ["127.0.0.1"] },
  fn: () => {
    assert.deepEqual(compareGrants(SOME).narrower, ["--allow-read=/a", "--deny-run"]);
    revokeOthers(SOME);
    assert.deepEqual(compareGrants(SOME).narrower, ["--allow-read=/a"]);
    const left = (["read", "run", "net"] as const).map((name) =>
      isGranted(name === "net" ? { name, host: "127.0.0.1" } : { name })
    );
    assert.deepEqual(left, [true, false, true]);
  },
});

Deno.test({
  name: "revokeOthers() keeps what it is told to keep",
  permissions: { read: true, run: true },
  fn: () => {
    revokeOthers(NOTHING, ["run"]);
    assert.deepEqual((["read", "run"] as const).map((name) => isGranted({ name })), [false, true]);
    assert.deepEqual(compareGrants(NOTHING).narrower, ["--deny-run"]);
  },
});

Deno.test("grantFlags() names each class that a plan needs", () => {
  const plan = { ...SOME, sys: ["ca", "statfs"], deny_net: ["10.0.0.0/8"] } as const;
  assert.deepEqual(grantFlags(plan), [
    "--allow-read=/a",
    "--allow-net=127.0.0.1,192.0.2.1",
    "--allow-sys",
    "--deny-net=10.0.0.0/8",
  ]);
});
