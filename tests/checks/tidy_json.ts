/**
 * Which modules may parse JSON with the runtime's parser. That parser can confuse an escaped member name with a name of
 * an earlier text (https://github.com/nodejs/node/issues/63785). So `parseJson` and `readJson` read input from outside.
 *
 * @module
 */

import { lineAt, maskSource, type SourceFile, type Violation } from "./source.ts";
import { sourceModules } from "./tidy_code.ts";

/** The layer with the readers that all others use. */
const READERS = "src/canonical/";

/** The modules that may use the runtime's parser: how often, and why names cannot be confused there. */
export const NATIVE_JSON: readonly { readonly path: string; readonly uses: number; readonly reason: string }[] = [
  {
    path: "src/evidence/typed/import_protocol.ts",
    uses: 1,
    reason: "reads text without escaped names that its own worker wrote",
  },
  { path: "src/server/protocol/request_id_recovery.ts", uses: 1, reason: "whether a text that was refused is JSON" },
  { path: "src/scenario/source_position.ts", uses: 1, reason: "a lone string" },
  { path: "src/scenario/source_json.ts", uses: 1, reason: "a lone string" },
];

/** Any use of `JSON` other than writing, and the method of a response or blob that parses its body. */
const NATIVE = /(?<![.\w$])JSON\b(?!\s*\.\s*stringify\b)|\.\s*json\s*\(\s*\)/g;

/** Only listed modules parse JSON natively, exactly as often as listed. */
export function checkNativeJson(files: readonly SourceFile[]): Violation[] {
  return sourceModules(files).filter(({ path }) => !path.startsWith(READERS)).flatMap(({ path, text }) => {
    const code = maskSource(text);
    const found = [...code.matchAll(NATIVE)];
    const listed = NATIVE_JSON.find((entry) => entry.path === path)?.uses ?? 0;
    if (found.length === listed) return [];
    const at = found[listed] ?? found.at(-1);
    const message = found.length > listed
      ? `Cannot parse JSON natively: use "parseJson" or "readJson" of "src/canonical/scan.ts"`
      : `Cannot list ${listed} native readings of JSON: there are ${found.length}`;
    return [{ rule: "native JSON", path, line: at === undefined ? 1 : lineAt(code, at.index), message }];
  });
}
