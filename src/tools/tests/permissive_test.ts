import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig } from "../../config/types.ts";
import { withTools } from "./tools_fixture.ts";

const DAY = 86_400_000;

Deno.test("Services.environment is relaxed until permissive mode ends, within one process", async () => {
  const config_path = await Deno.makeTempFile();
  const modified = 1_700_000_000_000;
  await Deno.utime(config_path, modified / 1000, modified / 1000);
  const dev: GateConfig["dev"] = { ...DEFAULT_SETTINGS.dev, permissive: true, permissive_ttl_days: 1 };
  let now: number | null = modified;
  const read = () =>
    now === null ? null : { time_authority_id: "test", authority_revision: "1", reading_unix_millis: now };
  await withTools(({ services }) => {
    const enabled = (): boolean => services.environment.profile.permissive.enabled;
    const rows: readonly [at: number | null, enabled: boolean][] = [
      [modified, true],
      [modified + DAY - 1, true],
      [modified + DAY, false],
      [null, false],
    ];
    for (const [at, expected] of rows) {
      now = at;
      assert.equal(enabled(), expected, `at ${at}`);
    }
    const identities = services.profiles.map(({ profile_identity }) => profile_identity);
    assert.equal(new Set(identities).size, 2);
    assert.ok(identities.includes(services.environment.profile_identity));
    return Promise.resolve();
  }, { config: { dev, config_path }, time: { read } });
  await Deno.remove(config_path);
});

Deno.test("Services.environment is one object without permissive mode", () =>
  withTools(({ services }) => {
    assert.equal(services.profiles.length, 1);
    assert.equal(services.profiles[0], services.environment);
    return Promise.resolve();
  }));
