import assert from "node:assert/strict";
import { KEY_1, KEY_2, profileWith, SHA256, trusting } from "../../tests/simulation/kernel/fixture.ts";
import { minimumLane, profileIdentity, trustedKeys } from "./profile.ts";

Deno.test("minimumLane() is the operator's, relaxed in permissive mode except for exempt providers", () => {
  const rows: readonly ["verified" | "asserted", boolean, string | null, string][] = [
    ["verified", false, null, "verified"],
    ["verified", false, "env", "verified"],
    ["asserted", false, "ledger", "asserted"],
    ["verified", true, null, "asserted"],
    ["verified", true, "env", "asserted"],
    ["verified", true, "ledger", "verified"],
  ];
  for (const [min_lane, enabled, provider, lane] of rows) {
    const profile = profileWith({
      trust: { min_lane, default_policy: "audit", providers: [] },
      permissive: { enabled, exempt_providers: ["ledger"] },
    });
    assert.equal(minimumLane(profile, provider), lane);
  }
});

Deno.test("trustedKeys() has the keys of every policy; of several with one id the first counts", () => {
  const twin = { ...KEY_2, key_id: KEY_1.key_id };
  const profile = profileWith({
    trust: {
      min_lane: "verified",
      default_policy: trusting(KEY_1),
      providers: [
        { provider_id: "a", policy: trusting(twin, KEY_2) },
        { provider_id: "b", policy: "audit" },
      ],
    },
  });
  const keys = trustedKeys(profile);
  assert.deepEqual([...keys.keys()], ["ci-1", "ci-2"]);
  assert.equal(keys.get("ci-1")?.public_key, KEY_1.public_key);
  assert.equal(trustedKeys(profileWith()).size, 0);
});

Deno.test("profileIdentity() depends on every setting", () => {
  const identities = [
    profileWith(),
    profileWith({ policy: { engine: "deny_all" } }),
    profileWith({ permissive: { enabled: true, exempt_providers: [] } }),
    profileWith({ proof_budget: 1 }),
  ].map((profile) => profileIdentity(SHA256, profile));
  assert.equal(new Set(identities).size, 4);
});
