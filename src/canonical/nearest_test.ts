import assert from "node:assert/strict";
import { nearest, nearestNames } from "./nearest.ts";

Deno.test("nearestNames() accepts edits up to a third of the name's length, or two", () => {
  const rows: readonly [name: string, candidate: string, isNear: boolean][] = [
    ["abc", "abz", true],
    ["abc", "azz", true],
    ["abc", "zzz", false],
    ["abcdefghi", "abcdefzzz", true],
    ["abcdefghi", "abcdezzzz", false],
    ["ab", "az", true],
    ["ab", "zz", false],
    ["a", "A", true],
    ["a", "b", false],
    ["", "", false],
    ["open-stage", "OPEN_STAGE", true],
    ["a".repeat(64), "a".repeat(64), true],
    ["a".repeat(65), "a".repeat(64), false],
    ["a".repeat(64), "a".repeat(65), false],
  ];
  for (const [name, candidate, isNear] of rows) {
    assert.deepEqual(nearestNames(name, [candidate]), isNear ? [candidate] : [], `${name} ${candidate}`);
  }
});

Deno.test("nearestNames() returns all equally near names, at most three, for any order of the candidates", () => {
  assert.deepEqual(nearestNames("stage_9", ["stage_2", "stage_1"]), ["stage_1", "stage_2"]);
  assert.deepEqual(nearestNames("stage_9", ["stage_22", "stage_1"]), ["stage_1"]);
  const many = ["stage_4", "stage_3", "stage_1", "stage_2"];
  assert.deepEqual(nearestNames("stage_9", many), ["stage_1", "stage_2", "stage_3"]);
  assert.equal(nearest("stage_9", many), "stage_1");
  assert.equal(nearest("release", many), null);
});

Deno.test("nearestNames() falls back to names that contain the given one, from four characters on", () => {
  const tools = ["scenario_open_stage", "scenario_submit"];
  assert.deepEqual(nearestNames("open_stage", tools), ["scenario_open_stage"]);
  assert.deepEqual(nearestNames("open", tools), ["scenario_open_stage"]);
  assert.deepEqual(nearestNames("ope", tools), []);
});
