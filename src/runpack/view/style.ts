/**
 * The style sheet of every page: light or dark by the preference of the reader, and plain in print.
 *
 * @module
 */

/** The style sheet. The policy of a page names its hash. */
export const STYLE = `
:root {
  --ground: #fbfbfa; --card: #ffffff; --ink: #1b1f24; --quiet: #5c6670; --line: #d9dee3; --code: #f0f2f4;
  --good: #14693a; --good-ground: #e2f3e8; --bad: #a3201d; --bad-ground: #fbe6e4; --warning: #7a5200;
  --warning-ground: #fbf0d6; --accent: #2a55b8; --accent-ground: #e6edfb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --card: #1b1f24; --ink: #e6e9ec; --quiet: #9aa5b0; --line: #343b43; --code: #262c33;
    --good: #7fd6a0; --good-ground: #17331f; --bad: #ff9d96; --bad-ground: #421a19; --warning: #f0c365;
    --warning-ground: #3a2d10; --accent: #9dbcff; --accent-ground: #1d2b4a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; font-weight: 600; margin: 0 0 16px; overflow-wrap: anywhere; }
h2 { font-size: 19px; font-weight: 600; margin: 40px 0 12px; }
h3 { font-size: 15px; font-weight: 500; margin: 0; overflow-wrap: anywhere; }
p { margin: 8px 0; }
b { unicode-bidi: isolate; }
code { font: 13px/1.5 ui-monospace, monospace; background: var(--code); border-radius: 4px; padding: 1px 4px;
  overflow-wrap: anywhere; unicode-bidi: isolate; }
.quiet, .by, .note, footer { color: var(--quiet); }
.by, .quiet { font-size: 13px; margin: 2px 0 0; }
.banner { padding: 12px 16px; border-radius: 8px; border: 1px solid currentColor; }
.good { color: var(--good); background: var(--good-ground); }
.bad { color: var(--bad); background: var(--bad-ground); }
.warning { color: var(--warning); background: var(--warning-ground); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 6px 16px; margin: 20px 0; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
p.legend { display: flex; flex-wrap: wrap; gap: 8px; }
.key { border-radius: 999px; padding: 1px 10px; font-size: 13px; }
.key.complete { color: var(--good); background: var(--good-ground); }
.key.open { color: var(--warning); background: var(--warning-ground); }
.key.ready { color: var(--accent); background: var(--accent-ground); }
.key.blocked { color: var(--quiet); background: var(--code); }
.graph, .scroll { overflow-x: auto; }
.graph { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px; }
.graph .ground { fill: var(--card); }
.graph .edge { stroke: var(--quiet); }
.graph .tip, .graph .legend { fill: var(--quiet); }
.stage text { fill: var(--ink); }
.stage .stage-state { fill: var(--quiet); font-size: 12px; }
.stage.complete rect { fill: var(--good-ground); stroke: var(--good); }
.stage.open rect { fill: var(--warning-ground); stroke: var(--warning); }
.stage.ready rect { fill: var(--accent-ground); stroke: var(--accent); }
.stage.blocked rect { fill: var(--card); stroke: var(--quiet); }
.timeline { list-style: none; margin: 0; padding: 0; }
.record { display: grid; grid-template-columns: 200px 1fr; gap: 16px; padding: 14px 0;
  border-top: 1px solid var(--line); }
.when { display: flex; flex-direction: column; font-size: 13px; color: var(--quiet); }
.revision { font-size: 15px; font-weight: 600; color: var(--ink); }
.what { min-width: 0; }
table { border-collapse: collapse; width: 100%; margin: 10px 0 4px; background: var(--card); font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 6px 10px; border: 1px solid var(--line); }
td { overflow-wrap: break-word; min-width: 5.5em; max-width: 32rem; }
th { white-space: nowrap; font-weight: 500; font-size: 13px; color: var(--quiet); background: var(--code); }
.verdict, .status { border-radius: 4px; padding: 1px 7px; font-weight: 500; white-space: nowrap; }
.verdict.true, .status.satisfied { color: var(--good); background: var(--good-ground); }
.verdict.false, .status.violated { color: var(--bad); background: var(--bad-ground); }
.verdict.unknown, .status.unavailable { color: var(--warning); background: var(--warning-ground); }
.status.not_requested { color: var(--quiet); background: var(--code); }
.yes { color: var(--good); }
.no { color: var(--bad); }
.open-pack { display: grid; gap: 14px; padding: 24px; border: 1.5px dashed var(--line); border-radius: 8px;
  background: var(--card); }
.open-pack.over { border-color: var(--accent); background: var(--accent-ground); }
.choices { display: flex; flex-wrap: wrap; gap: 12px; }
.choices label, summary { cursor: pointer; }
.choices label { padding: 7px 16px; border-radius: 6px; border: 1px solid var(--accent); color: var(--accent); }
.choices label:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
.choices input { position: absolute; opacity: 0; width: 1px; height: 1px; }
textarea, .identity { width: 100%; font: 13px/1.5 ui-monospace, monospace; color: inherit; background: var(--code);
  border: 1px solid var(--line); border-radius: 6px; padding: 6px 8px; }
footer { margin-top: 48px; font-size: 13px; }
@media (max-width: 640px) { .record { grid-template-columns: 1fr; gap: 4px; } .facts { grid-template-columns: 1fr; } }
@media print {
  :root { --ground: #fff; --card: #fff; --ink: #000; --quiet: #444; --line: #bbb; --code: #fff; --good: #0d5229;
    --good-ground: #fff; --bad: #8c1512; --bad-ground: #fff; --warning: #5e3f00; --warning-ground: #fff;
    --accent: #1e3f8a; --accent-ground: #fff; }
  body { font-size: 11px; }
  main { max-width: none; padding: 0; }
  .open-pack { display: none; }
  .graph, .scroll { overflow: visible; }
  .graph svg { max-width: 100%; height: auto; }
  .record, tr, .banner { break-inside: avoid; }
  .verdict, .status { border: 1px solid currentColor; }
}
`;
