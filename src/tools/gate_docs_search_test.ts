import assert from "node:assert/strict";
import type { JsonObject } from "../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../config/defaults.ts";
import type { DocsConfig } from "../config/types.ts";
import { withTools } from "./tests/tools_fixture.ts";
import { QUERY_CHARACTERS_MAXIMUM } from "./gate_docs_search.ts";

const { docs } = DEFAULT_SETTINGS;

Deno.test("gate_docs_search answers by its schema, with the same bytes each time", () =>
  withTools(async ({ call }) => {
    for (const query of ["", "stale", "zzyzx", "\u0000 \ud83d\ude00", "__proto__"]) {
      const answer = await call("gate_docs_search", { query });
      assert.deepEqual(await call("gate_docs_search", { query }), answer);
    }
    const { sections } = await call("gate_docs_search", { query: "evidence", max_sections: 99 }) as {
      sections: JsonObject[];
    };
    assert.equal(sections.length, 10);
  }));

Deno.test("gate_docs_search rejects invalid queries", () =>
  withTools(async ({ call, fail }) => {
    const cases: [input: JsonObject, path: string][] = [
      [{}, "$.query"],
      [{ query: 1 }, "$.query"],
      [{ query: "a", max_sections: 1.5 }, "$.max_sections"],
      [{ query: "a", max_sections: null }, "$.max_sections"],
      [{ query: "a", max_sections: 0 }, "$.max_sections"],
      [{ query: "a", max_sections: -1 }, "$.max_sections"],
      [{ query: "a", limit: 1 }, "$.limit"],
      [{ query: "a".repeat(QUERY_CHARACTERS_MAXIMUM + 1) }, "$.query"],
    ];
    for (const [input, path] of cases) {
      const { code, details } = await fail("gate_docs_search", input);
      assert.equal(code, "invalid_input");
      assert.equal((details?.["issues"] as JsonObject[])[0]?.["path"], path, JSON.stringify(input).slice(0, 60));
    }
    for (const characters of [QUERY_CHARACTERS_MAXIMUM - 1, QUERY_CHARACTERS_MAXIMUM]) {
      await call("gate_docs_search", { query: "a".repeat(characters) });
    }
  }));

Deno.test("createTools() offers gate_docs_search where docs.enabled and docs.enable_search are true", async () => {
  const cases: [change: Partial<DocsConfig>, isThere: boolean][] = [
    [{}, true],
    [{ enable_resources: false }, true],
    [{ enabled: false }, false],
    [{ enable_search: false }, false],
  ];
  for (const [change, isThere] of cases) {
    await withTools(({ tools }) => {
      assert.equal(tools.has("gate_docs_search"), isThere, JSON.stringify(change));
      return Promise.resolve();
    }, { config: { docs: { ...docs, ...change } } });
  }
});
