import assert from "node:assert/strict";
import { anchorCounts } from "./anchor.ts";
import type { AnchorRequirement } from "./profile.ts";

const REPORT: AnchorRequirement = { provider_id: "json", anchor_type: "file", required_fields: ["path", "root_id"] };

Deno.test("anchorCounts() needs the type, a JSON object, and every required field as a string or a number", () => {
  const rows: readonly [string, string, boolean][] = [
    ["file", '{"path":"a","root_id":"r"}', true],
    ["file", '{"path":"a","root_id":1,"more":null}', true],
    ["url", '{"path":"a","root_id":"r"}', false],
    ["file", '{"path":"a"}', false],
    ["file", '{"path":"a","root_id":null}', false],
    ["file", '{"path":"a","root_id":true}', false],
    ["file", '{"path":"a","root_id":["r"]}', false],
    ["file", '["path","root_id"]', false],
    ["file", "path root_id", false],
    ["file", "", false],
    ["file", '{"path":"a","path":"b","root_id":"r"}', false],
    ["file", '{"path":"a","root_id":9007199254740993}', false],
  ];
  for (const [anchor_type, anchor_value, meets] of rows) {
    assert.equal(anchorCounts({ anchor_type, anchor_value }, undefined, [REPORT]), meets, anchor_value);
  }
});

Deno.test("anchorCounts() finds own members only", () => {
  const requirement = { ...REPORT, required_fields: ["__proto__"] };
  assert.equal(anchorCounts({ anchor_type: "file", anchor_value: "{}" }, undefined, [requirement]), false);
  assert.equal(
    anchorCounts({ anchor_type: "file", anchor_value: '{"__proto__":"a"}' }, undefined, [requirement]),
    true,
  );
});

Deno.test("anchorCounts() tests the requirement of the provider, and any requirement for a caller", () => {
  const anchor = { anchor_type: "file", anchor_value: '{"path":"a","root_id":"r"}' };
  assert.equal(anchorCounts(anchor, "json", [REPORT]), true);
  assert.equal(anchorCounts(anchor, "env", [REPORT]), false);
  assert.equal(anchorCounts(anchor, undefined, [REPORT]), true);
  assert.equal(anchorCounts(anchor, "json", []), false);
  assert.equal(anchorCounts(undefined, "json", [REPORT]), false);
});
