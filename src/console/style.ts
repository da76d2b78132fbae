/**
 * The style sheet of the console: that of the runpack page, with what the console has besides.
 *
 * @module
 */

import { STYLE } from "../runpack/view/style.ts";

/** The style sheet. */
export const CONSOLE_STYLE = `${STYLE}
a { color: var(--accent); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 6px 12px; z-index: 2; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.top { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 20px; padding: 10px 20px;
  border-bottom: 1px solid var(--line); background: var(--card); }
.brand { font-weight: 700; }
.top ul { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; margin: 0; padding: 0; }
.top a { display: inline-block; padding: 5px 0; text-decoration: none; }
.top a[aria-current] { border-bottom: 2px solid var(--accent); font-weight: 600; }
main, h1:focus { outline: none; }
main { min-height: 60vh; }
.bottom { max-width: 1080px; margin: 0 auto; padding: 12px 20px 32px; border-top: 1px solid var(--line); }
button, select, input:not([type=checkbox], [type=file]) { font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--quiet); border-radius: 6px; padding: 6px 12px; min-height: 36px; max-width: 100%; }
button { cursor: pointer; }
button.main { background: var(--accent-ground); border-color: var(--accent); color: var(--accent); font-weight: 600; }
button:disabled { opacity: .6; cursor: default; }
form.filters, .actions { display: flex; flex-wrap: wrap; gap: 10px 14px; align-items: end; margin: 12px 0; }
form.filters label, .field { display: grid; gap: 3px; font-size: 13px; color: var(--quiet); }
.field input, .field textarea { color: var(--ink); }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.badge { border-radius: 999px; padding: 1px 10px; font-size: 13px; white-space: nowrap; }
.badge.complete { color: var(--good); background: var(--good-ground); }
.badge.active, .badge.open_incomplete { color: var(--warning); background: var(--warning-ground); }
.badge.ready_unopened { color: var(--accent); background: var(--accent-ground); }
.badge.blocked { color: var(--quiet); background: var(--code); }
.stage-card { border: 1px solid var(--line); border-radius: 8px; background: var(--card); padding: 4px 16px 12px; margin: 14px 0; }
.stage-card h3 { font-size: 16px; font-weight: 600; margin: 10px 0 4px; }
.asks { border-left: 4px solid var(--accent); padding: 4px 12px; margin: 10px 0; background: var(--accent-ground); }
dialog { width: min(720px, calc(100vw - 24px)); max-height: calc(100vh - 24px); overflow: auto; color: inherit;
  background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
dialog h2 { margin-top: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code); padding: 10px; border-radius: 6px;
  font: 12px/1.5 ui-monospace, monospace; }
.drop { border: 1.5px dashed var(--quiet); border-radius: 8px; padding: 22px; background: var(--card); display: grid; gap: 12px; }
.drop.over { border-color: var(--accent); background: var(--accent-ground); }
.live { font-size: 13px; color: var(--quiet); }
@media (max-width: 640px) {
  main { padding: 20px 12px 40px; }
  table.stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.stack, table.stack tbody, table.stack tr, table.stack td { display: block; max-width: none; }
  table.stack tr { border: 1px solid var(--line); margin: 8px 0; }
  table.stack td { border: 0; text-align: left; padding: 3px 10px; }
  table.stack td::before { content: attr(data-name) ": "; color: var(--quiet); font-size: 13px; }
}
`;
