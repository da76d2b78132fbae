/**
 * The style sheet of every page: light or dark by the preference of the reader, and plain in print.
 *
 * The body of a page has the class of drawings, so that words have the colours of the shapes beside them.
 */

import { PICTURE_STYLE } from "../picture/picture_style.ts";

/** The style sheet. The policy of a page names its hash. */
export const STYLE = `${PICTURE_STYLE}
* { box-sizing: border-box; }
body { --line: var(--gate-line); margin: 0; background: var(--gate-ground); color: var(--gate-ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; font-weight: 600; margin: 0 0 16px; overflow-wrap: anywhere; }
h2 { font-size: 19px; font-weight: 600; margin: 40px 0 12px; }
h3 { font-size: 15px; font-weight: 500; margin: 0; overflow-wrap: anywhere; }
p { margin: 8px 0; }
b { unicode-bidi: isolate; }
a, summary { color: var(--gate-awaited); }
:focus-visible { outline: 2px solid var(--gate-awaited); outline-offset: 2px; }
code { font: 13px/1.5 ui-monospace, monospace; background: var(--gate-plain-ground); border-radius: 4px; padding: 1px 4px;
  overflow-wrap: anywhere; unicode-bidi: isolate; }
.quiet, .by, .note, footer { color: var(--gate-quiet); }
.by, .quiet { font-size: 13px; margin: 2px 0 0; }
.icon { display: inline-block; vertical-align: -2px; margin-right: 5px; flex: none; }
.marked { color: var(--gate-front); font-weight: 500; }
.banner { padding: 12px 16px; border-radius: 8px; border: 1px solid currentColor; color: var(--gate-front);
  background: var(--gate-behind); overflow-wrap: anywhere; }
.answer { padding: 16px 20px; border: 1px solid var(--line); border-left: 6px solid var(--gate-front); border-radius: 8px;
  background: var(--gate-card); overflow-wrap: anywhere; }
.answer h2 { margin: 0 0 8px; font-size: 22px; color: var(--gate-front); }
.answer h2 .icon { width: 22px; height: 22px; vertical-align: -4px; margin-right: 8px; }
.answer ul { margin: 8px 0; padding-left: 22px; }
.answer .quiet { margin-top: 8px; }
.line { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 6px 16px; margin: 20px 0; }
.facts dt { color: var(--gate-quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.graph, .scroll { overflow-x: auto; }
.graph { background: var(--gate-ground); border: 1px solid var(--line); border-radius: 8px; }
.graph > svg { display: block; margin: 0 auto; }
.stage-list > li { margin: 8px 0; }
.decision { margin: 0 0 24px; }
.timeline { list-style: none; margin: 0; padding: 0; }
.record { display: grid; grid-template-columns: 200px 1fr; gap: 16px; padding: 14px 0;
  border-top: 1px solid var(--line); }
.when { display: flex; flex-direction: column; font-size: 13px; color: var(--gate-quiet); }
.revision { font-size: 15px; font-weight: 600; color: var(--gate-ink); }
.what { min-width: 0; }
:target { background: var(--gate-awaited-ground); }
table { border-collapse: collapse; width: 100%; margin: 10px 0 4px; background: var(--gate-card); font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 6px 10px; border: 1px solid var(--line); }
td { overflow-wrap: break-word; min-width: 5.5em; max-width: 32rem; }
th { white-space: nowrap; font-weight: 500; font-size: 13px; color: var(--gate-plain); background: var(--gate-plain-ground); }
.verdict, .status { border-radius: 4px; padding: 1px 7px; white-space: nowrap; background: var(--gate-behind); }
.status.unavailable, .status.not_requested { background: none; outline: 1px dashed currentColor; outline-offset: -1px; }
.open-pack { display: grid; gap: 14px; padding: 24px; border: 1.5px dashed var(--line); border-radius: 8px;
  background: var(--gate-card); }
.open-pack.over { border-color: var(--gate-awaited); background: var(--gate-awaited-ground); }
.choices { display: flex; flex-wrap: wrap; gap: 12px; }
.choices label, summary { cursor: pointer; }
.choices label { padding: 7px 16px; border-radius: 6px; border: 1px solid var(--gate-awaited); color: var(--gate-awaited); }
.choices label:focus-within { outline: 2px solid var(--gate-awaited); outline-offset: 2px; }
.choices input { position: absolute; opacity: 0; width: 1px; height: 1px; }
textarea, .identity { width: 100%; font: 13px/1.5 ui-monospace, monospace; color: inherit;
  background: var(--gate-plain-ground); border: 1px solid var(--line); border-radius: 6px; padding: 6px 8px; }
footer { margin-top: 48px; font-size: 13px; }
@media (max-width: 640px) { .record { grid-template-columns: 1fr; gap: 4px; } .facts { grid-template-columns: 1fr; } }
@media print {
  body { font-size: 11px; background: #fff; }
  main { max-width: none; padding: 0; }
  .open-pack { display: none; }
  .graph, .scroll { overflow: visible; }
  .graph > svg { max-width: 100%; height: auto; }
  .record, .decision, tr, .answer { break-inside: avoid; }
}
`;
