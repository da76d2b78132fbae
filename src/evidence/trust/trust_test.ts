import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig } from "../../config/types.ts";
import { trustNotices } from "./notices.ts";
import { isPermissive, modifiedAt, type Permissive, permissiveOf } from "./permissive.ts";

const DAY = 86_400_000;

function configOf(dev: Partial<GateConfig["dev"]>, mode: GateConfig["server"]["mode"] = "strict"): GateConfig {
  const { server } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    dev: { ...DEFAULT_SETTINGS.dev, ...dev },
    server: { ...server, mode },
    config_path: null,
    base_dir: "/",
  };
}

/** Name, configuration, change of the file, now, and whether permissive mode is in force. */
const ROWS: readonly [string, GateConfig, number | null, number | null, boolean][] = [
  ["nothing", configOf({}), 0, 0, false],
  ["a time alone", configOf({ permissive_ttl_days: 9 }), 0, 0, false],
  ["permissive without an end", configOf({ permissive: true }), 0, 1000 * DAY, true],
  ["permissive without an end, file unknown", configOf({ permissive: true }), null, null, true],
  ["dev_permissive", configOf({}, "dev_permissive"), 0, 0, true],
  ["dev_permissive within its time", configOf({ permissive_ttl_days: 1 }, "dev_permissive"), 0, DAY - 1, true],
  ["dev_permissive after it", configOf({ permissive_ttl_days: 1 }, "dev_permissive"), 0, DAY, false],
  ["the last millisecond", configOf({ permissive: true, permissive_ttl_days: 2 }), 5, 2 * DAY + 4, true],
  ["the end", configOf({ permissive: true, permissive_ttl_days: 2 }), 5, 2 * DAY + 5, false],
  ["after the end", configOf({ permissive: true, permissive_ttl_days: 2 }), 5, 2 * DAY + 6, false],
  ["a time that cannot be counted", configOf({ permissive: true, permissive_ttl_days: 2 }), null, 0, false],
  ["an instant that is not known", configOf({ permissive: true, permissive_ttl_days: 2 }), 0, null, false],
];

for (const [name, config, modified, now, expected] of ROWS) {
  Deno.test(`isPermissive() ${name}: ${expected}`, () => {
    assert.equal(isPermissive(permissiveOf(config, modified), now), expected);
  });
}

Deno.test("modifiedAt() is the time of the file, and null without a file", async () => {
  const path = await Deno.makeTempFile();
  await Deno.utime(path, 1000, 1000);
  assert.equal(await modifiedAt({ config_path: path }), 1_000_000);
  await Deno.remove(path);
  assert.equal(await modifiedAt({ config_path: path }), null);
  assert.equal(await modifiedAt({ config_path: null }), null);
});

Deno.test("trustNotices() warns of permissive mode while it is in force and after it expired", () => {
  const lines = (config: GateConfig, permissive: Permissive, now: number): readonly string[] =>
    trustNotices(config, permissive, now).map(({ level, message }) => `${level}: ${message}`);
  const config = configOf({ permissive: true, permissive_ttl_days: 1, permissive_exempt_providers: ["ledger"] });
  const permissive = permissiveOf(config, 0);
  assert.deepEqual(lines(config, permissive, 0), [
    "warn: dev.permissive is in force until 1970-01-02T00:00:00.000Z: asserted evidence qualifies, except from ledger",
  ]);
  assert.deepEqual(lines(config, permissive, DAY), [
    "warn: dev.permissive has expired and is off: change the configuration file to renew it, or remove the setting",
  ]);
  const ends = (permissive_ttl_days: number): string | undefined => {
    const [line] = lines(config, permissiveOf(configOf({ permissive: true, permissive_ttl_days }), 0), 0);
    return /in force (.*):/.exec(line ?? "")?.[1];
  };
  assert.equal(ends(100_000_000), "until +275760-09-13T00:00:00.000Z");
  for (const days of [100_000_001, Number.MAX_SAFE_INTEGER]) assert.equal(ends(days), "without expiry");
  const quiet = configOf({ permissive: true, permissive_warn: false });
  assert.deepEqual(lines(quiet, permissiveOf(quiet, 0), 0), []);
  assert.deepEqual(lines(configOf({}), { requested: false }, 0), []);
});
