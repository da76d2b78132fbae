/**
 * The style sheet of the site: that of the runpack pages, with columns, text and the playground.
 *
 * @module
 */

import { STYLE } from "../../src/runpack/view/style.ts";

/** The picture of the site: a closed gate, in a colour that is visible on light and dark tabs. */
export const SITE_ICON =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="none" stroke="#6b7a8c" stroke-width="2"
  d="M2 14V2M14 14V2M2 5h12M2 11h12M6 5v6M10 5v6"/></svg>
`;

/** The style sheet. */
export const SITE_STYLE = `${STYLE}
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--gate-card); padding: 8px; z-index: 2; }
header { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: baseline; padding: 12px 20px;
  border-bottom: 1px solid var(--line); background: var(--gate-card); }
header .name { font-size: 20px; font-weight: 600; text-decoration: none; color: var(--gate-ink); }
header search { margin-left: auto; position: relative; }
#results:not(:empty) { position: absolute; right: 0; z-index: 1; width: min(560px, 90vw); max-height: 70vh; overflow: auto;
  background: var(--gate-card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 16px; }
#results ol { list-style: none; margin: 0; padding: 0; }
#results li { padding: 8px 0; border-top: 1px solid var(--line); }
#results li:first-child { border-top: 0; }
.columns { display: grid; grid-template-columns: 260px minmax(0, 1fr); }
.columns > main { width: 100%; min-width: 0; }
nav { padding: 20px; border-right: 1px solid var(--line); font-size: 14px; }
nav summary { font-weight: 600; padding: 6px 0; }
nav ul { list-style: none; margin: 0; padding: 0 0 8px 12px; }
nav li { padding: 2px 0; }
nav a { text-decoration: none; }
nav a[aria-current] { font-weight: 600; color: var(--gate-ink); }
article { overflow-wrap: break-word; }
article summary { padding: 5px 0; cursor: pointer; }
article img { max-width: 100%; height: auto; }
pre { overflow-x: auto; background: var(--gate-plain-ground); border-radius: 8px; padding: 12px 16px; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
td code, th code { overflow-wrap: anywhere; }
input, textarea, select, button { font: inherit; color: var(--gate-ink); background: var(--gate-card);
  border: 1px solid var(--gate-quiet); border-radius: 6px; padding: 5px 8px; }
input, select, textarea { max-width: 100%; }
button { cursor: pointer; border-color: var(--gate-awaited); color: var(--gate-awaited); }
textarea { width: 100%; font: 13px/1.5 ui-monospace, monospace; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 0 24px; }
.sides > * { min-width: 0; }
.tools { display: flex; flex-wrap: wrap; gap: 12px; align-items: center; }
fieldset { border: 1px solid var(--line); border-radius: 8px; margin: 12px 0; display: grid; gap: 12px 24px;
  grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); }
.field { min-width: 0; }
.field input:not([type="checkbox"]) { display: block; width: 100%; }
.problems { list-style: none; padding: 0; }
.problems .error { color: var(--gate-bad); }
.problems .warning { color: var(--gate-doubt); background: none; }
.judged td code { overflow-wrap: normal; }
.judged { border-top: 1px solid var(--line); padding: 12px 0; }
#playground { max-width: none; }
@media (max-width: 800px) {
  .columns { grid-template-columns: minmax(0, 1fr); }
  nav { border-right: 0; border-bottom: 1px solid var(--line); padding: 8px 20px; max-height: 150px;
    overflow-y: auto; }
  header search { margin-left: 0; width: 100%; }
  #results:not(:empty) { left: 0; right: auto; }
  .facts { grid-template-columns: 1fr; }
}
@media print { header, nav { display: none; } .columns { display: block; } }
`;
