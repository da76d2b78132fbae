import assert from "node:assert/strict";
import { forge, type Parts } from "../../../tests/simulation/forged_packs/forge.ts";
import {
  examineWhole,
  type MemoryPack,
  memorySource,
  packOf,
  PRIMITIVES,
} from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { playWaiting } from "../../../tests/simulation/forged_packs/waiting.ts";
import { type PackView, viewPack } from "../material_view.ts";
import { policyHash, renderDocument } from "./page.ts";
import { STYLE } from "./style.ts";
import { renderTimeline } from "./timeline.ts";

const { sha256 } = PRIMITIVES;
const RUN = playGoldenRun();

async function viewOf(pack: MemoryPack): Promise<PackView> {
  const view = await viewPack(memorySource(pack), PRIMITIVES);
  assert.ok(!("reason" in view));
  return view;
}

async function pageOf(pack: MemoryPack, records?: number): Promise<string> {
  const shown = records === undefined ? {} : { records };
  return renderDocument(sha256, { examination: await examineWhole(pack), view: await viewOf(pack), ...shown });
}

Deno.test("renderDocument() shows every stage, record, decision, item and claim of a run", async () => {
  const page = await pageOf(await packOf(RUN));
  for (const { revision } of RUN.records) assert.ok(page.includes(`id="r${revision}"`), `revision ${revision}`);
  for (const stage of ["build", "review", "ship"]) assert.ok(page.includes(`>${stage}</text>`), stage);
  assert.equal(page.match(/class="stage good is-complete"/g)?.length, 3);
  assert.equal(page.match(/class="edge"/g)?.length, 5);
  for (
    const said of [
      "env / region-env",
      "&quot;north&quot;",
      "kept as a digest alone",
      "no evidence",
      "#ops",
      "run complete",
    ]
  ) {
    assert.ok(page.includes(said), said);
  }
  assert.equal(page.match(/class="marked status (satisfied|unavailable) /g)?.length, 29);
  assert.ok(page.includes("Nothing contradicts this runpack."));
});

/** Text of the answer in order, without markup. */
async function answerOf(pack: MemoryPack): Promise<string> {
  const [answer = ""] = /<section id="answer".*?<\/section>/s.exec(await pageOf(pack)) ?? [];
  return answer.replaceAll(/<\/(?:p|h2|li|ul)>/g, "\n").replaceAll(/<[^>]*>/g, "").replaceAll(/\n+/g, "\n");
}

Deno.test("renderDocument() begins with the answer: complete or not, closed where and why, verified or not and how", async () => {
  const rules = "Rules: profile full_replay_v1 by gate-verifier-2.\n";
  const derived =
    `Every decision was derived again. Nothing contradicts this runpack. 22 satisfied, 0 violated, 7 not settled. ${rules}`;
  const LOG = "log.contains(&quot;0 errors&quot;) unknown, nothing known yet";
  const waiting = playWaiting();
  const rows: readonly (readonly [MemoryPack, string])[] = [
    [
      await packOf(RUN),
      "Complete as recorded, not verified\nNot every decision was derived again. Nothing contradicts this runpack. " +
      `Because of: value_not_retained. 18 satisfied, 0 violated, 11 not settled. ${rules}Complete, as recorded`,
    ],
    [
      await packOf(RUN, 3),
      `Not complete, verified\nClosed at build: held, attempt 1 was falsebuilt not met, found false\n${LOG}\n${derived}`,
    ],
    [
      await packOf(RUN, 4),
      `Not complete, verified\nClosed at build: open, attempt 2 was unknown${LOG}\n${derived}`,
    ],
    [
      await packOf(RUN, 7),
      `Not complete, verified\nClosed at review: openapproved not judged\npresent(ticket) not judged\n${derived}`,
    ],
    [await packOf(waiting, 2), `Not complete, verified\nClosed at s: waitingc &lt; 5 waiting\n`],
    [
      await packOf(waiting, waiting.records.length, { withheld_conditions: ["c"] }),
      "Not complete as recorded, not verified\nClosed at t: ready to be opened\nNot every decision was derived again. " +
      "Nothing contradicts this runpack. Because of: value_withheld.",
    ],
    [
      forge(RUN, (parts) => parts.records[5].attribution.principal = "mallory"),
      `Not verified: do not believe this page\n2 claims violated: do not believe what this page shows. 17 satisfied, 2 violated`,
    ],
  ];
  for (const [pack, text] of rows) {
    const answer = await answerOf(pack);
    assert.ok(answer.startsWith(text), answer);
  }
  const sections = [...(await pageOf(await packOf(RUN))).matchAll(/<section id="([a-z]+)"/g)].map(([, id]) => id);
  assert.deepEqual(sections, ["answer", "stages", "evidence", "records", "claims", "names"]);
});

Deno.test("renderDocument() shows the evidence of the last attempt of a stage once, and links to it", async () => {
  const page = await pageOf(await packOf(RUN));
  for (const [revision, links] of [[3, 0], [4, 0], [5, 1], [8, 1]] as const) {
    assert.equal(page.split(`href="#e${revision}"`).length - 1, links, `${revision}`);
    assert.equal(page.split(`id="e${revision}"`).length - 1, links, `${revision}`);
  }
  // Without a section of evidence each decision has its own.
  const alone = renderTimeline(await viewOf(await packOf(RUN)), 100).markup;
  assert.equal(alone.split('aria-label="Evidence of attempt').length - 1, 5);
  assert.ok(!alone.includes('href="#'));
});

Deno.test("renderDocument() shows statements, refusals and withdrawals in words", async () => {
  const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, "");
  const text = textOf(await pageOf(await packOf(playWaiting())));
  for (
    const said of [
      "ci-1 stated a value that satisfies c &lt; 5: 1",
      "ci-1 withdrew its statement on c &lt; 5",
      "Too early",
      "Now it is fine",
      "ci-2 refused c &lt; 5: 9",
      "signed at revision 8, observed 2025-10-09T08:53:20.009Z",
      "valid until 2025-10-09T08:54:20.000Z",
      "submission of revision 7, signed by ci-2",
    ]
  ) {
    assert.ok(text.includes(said), said);
  }
  const run = playWaiting();
  const hidden = textOf(await pageOf(await packOf(run, run.records.length, { withheld_conditions: ["c"] })));
  assert.ok(hidden.includes("ci-2 stated a value that is not shown for c"));
  assert.ok(hidden.includes("comment not shown"));
  assert.ok(!hidden.includes("Too early") && !hidden.includes("refused c"));
});

Deno.test("renderDocument() loads nothing and runs nothing: its policy allows its own style and no more", async () => {
  const page = await pageOf(await packOf(RUN));
  const policy = /content="(default-src[^"]*)"/.exec(page)?.[1]?.replaceAll("&#39;", "'");
  const style = policyHash(sha256, STYLE);
  assert.equal(policy, `default-src 'none'; style-src ${style}; base-uri 'none'; form-action 'none'`);
  assert.ok(page.includes(`<style>${STYLE}</style>`));
  assert.doesNotMatch(page, /<script|<link|<img|<iframe|<form|\son\w+=|\sstyle=|https?:|url\((?!#)/);
});

Deno.test("renderDocument() returns the same bytes for the same pack", async () => {
  assert.equal(await pageOf(await packOf(RUN)), await pageOf(await packOf(playGoldenRun())));
});

Deno.test("renderDocument() escapes every name of a pack", async () => {
  const hostile = `</p><script>alert("1")</script>\u202e<!--`;
  const rename = (parts: Parts): void => {
    parts.law.scenario_id = hostile;
    for (const record of parts.records) record.attribution.principal = hostile;
    parts.records[0].body.scenario_id = hostile;
  };
  const page = await pageOf(forge(RUN, rename));
  assert.doesNotMatch(page, /<script|<!--|\u202e/);
  assert.equal(
    page.match(/&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt;\\u\{202e\}/g)?.length,
    4 + RUN.records.length,
  );
});

Deno.test("renderDocument() warns of a pack with a violated claim", async () => {
  const page = await pageOf(forge(RUN, (parts) => parts.records[5].attribution.principal = "mallory"));
  assert.ok(page.includes("2 claims violated: do not believe what this page shows."));
  assert.ok(page.includes("provenance_mismatch: revision 6"));
});

Deno.test("renderDocument() omits the earliest records beyond a number, and counts them", async () => {
  const page = await pageOf(await packOf(RUN), 10);
  assert.ok(page.includes("1 earlier record not shown."));
  assert.ok(!page.includes('id="r1"') && page.includes('id="r2"'));
});

async function pageOfPart(pack: MemoryPack): Promise<string> {
  const view = await viewPack(memorySource(pack), PRIMITIVES);
  assert.ok("reason" in view);
  return renderDocument(sha256, { examination: await examineWhole(pack), view });
}

Deno.test("renderDocument() of an incomplete pack shows the readable part, and the claims", async () => {
  const long = await packOf(playGoldenRun(300));
  const { law, segments } = JSON.parse(new TextDecoder().decode(long.manifest));
  const node = long.objects.get(segments.object);
  const second: string = JSON.parse(new TextDecoder().decode(node)).segments[1].records.object;
  const without = (name: string): MemoryPack => ({
    ...long,
    objects: new Map([...long.objects].filter(([identity]) => identity !== name)),
  });
  const cut = await pageOfPart(without(second));
  assert.ok(
    cut.includes("Only 256 of 311 records can be shown: it is not whole (object_missing: segments/1/records)."),
  );
  assert.ok(cut.includes('id="r256"') && cut.includes("Records</h2>") && cut.includes("claim violated"));

  const lawless = await pageOfPart(without(law.object));
  assert.ok(lawless.includes("Its law cannot be read (object_missing: law)") && lawless.includes("<b>release</b>"));
  assert.ok(!lawless.includes("Records</h2>"));

  const nameless = await pageOfPart({ ...long, manifest: new Uint8Array() });
  assert.ok(nameless.includes("There is no manifest to go by (manifest_not_canonical)"));
  for (const page of [cut, lawless, nameless]) assert.ok(page.includes('<section id="claims">'));
});
