/** The style sheet of the console: that of the runpack page, with what the console has besides. */

import { STYLE } from "../runpack/view/style.ts";

/** The style sheet. */
export const CONSOLE_STYLE = `${STYLE}
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--gate-card); padding: 6px 12px; z-index: 2; }
.top { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 20px; padding: 10px 20px;
  border-bottom: 1px solid var(--line); background: var(--gate-card); }
.brand { font-weight: 700; }
.top ul { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; margin: 0; padding: 0; }
.top a { display: inline-block; padding: 5px 0; text-decoration: none; }
.top a[aria-current] { border-bottom: 2px solid var(--gate-awaited); font-weight: 600; }
main, h1:focus { outline: none; }
main { min-height: 60vh; }
.bottom { max-width: 1080px; margin: 0 auto; padding: 12px 20px 32px; border-top: 1px solid var(--line); }
button, select, input:not([type=checkbox], [type=file]) { font: inherit; color: inherit; background: var(--gate-card);
  border: 1px solid var(--gate-quiet); border-radius: 6px; padding: 6px 12px; min-height: 36px; max-width: 100%; }
button { cursor: pointer; }
button.main { background: var(--gate-awaited-ground); border-color: var(--gate-awaited); color: var(--gate-awaited); font-weight: 600; }
button:disabled { opacity: .6; cursor: default; }
form.filters, .actions { display: flex; flex-wrap: wrap; gap: 10px 14px; align-items: end; margin: 12px 0; }
form.filters label, .field { display: grid; gap: 3px; font-size: 13px; color: var(--gate-quiet); }
.field input, .field textarea { color: var(--gate-ink); }
.facts .actions { margin: 0; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.badge { color: var(--gate-front); background: var(--gate-behind); border-radius: 999px; padding: 1px 10px;
  font-size: 13px; white-space: nowrap; }
.stage-card { border: 1px solid var(--line); border-radius: 8px; background: var(--gate-card); padding: 4px 16px 12px; margin: 14px 0; }
.stage-card h3 { font-size: 16px; font-weight: 600; margin: 10px 0 4px; }
.asks { border-left: 4px solid var(--gate-awaited); padding: 4px 12px; margin: 10px 0; background: var(--gate-awaited-ground); }
.yes { color: var(--gate-good); }
.no { color: var(--gate-bad); }
.absent { color: var(--gate-absent); }
dialog { width: min(720px, calc(100vw - 24px)); max-height: calc(100vh - 24px); overflow: auto; color: inherit;
  background: var(--gate-card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
dialog h2 { margin-top: 0; }
dialog details { margin-top: 10px; }
dialog > .actions { position: sticky; bottom: -18px; margin: 12px -20px -18px; padding: 12px 20px; background: var(--gate-card);
  border-top: 1px solid var(--line); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--gate-plain-ground); padding: 10px; border-radius: 6px;
  font: 12px/1.5 ui-monospace, monospace; }
.drop { border: 1.5px dashed var(--gate-quiet); border-radius: 8px; padding: 22px; background: var(--gate-card); display: grid; gap: 12px; }
.drop.over { border-color: var(--gate-awaited); background: var(--gate-awaited-ground); }
.drop details > .field { margin-top: 12px; }
#pack-result { margin-top: 20px; }
.what, .stage-card, .stage-card td { overflow-wrap: anywhere; min-width: 0; }
.live { font-size: 13px; color: var(--gate-quiet); }
@media (max-width: 640px) {
  main { padding: 20px 12px 40px; }
  table.stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.stack, table.stack tbody, table.stack tr, table.stack td { display: block; max-width: none; }
  table.stack tr { border: 1px solid var(--line); margin: 8px 0; }
  table.stack td { border: 0; text-align: left; padding: 3px 10px; }
  table.stack td::before { content: attr(data-name) ": "; color: var(--gate-quiet); font-size: 13px; }
}
`;
