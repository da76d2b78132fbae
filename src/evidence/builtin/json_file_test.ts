import assert from "node:assert/strict";
import { checkJsonFile } from "./json_file.ts";

/** The queried file, and the name that becomes a link out of the root after the file was found. */
const SWAPS: readonly (readonly [file: string, name: string, target: string])[] = [
  ["a.json", "base/a.json", "outside/a.json"],
  ["inner/a.json", "base/inner", "outside"],
];

for (const [file, name, target] of SWAPS) {
  Deno.test(`checkJsonFile() of "${file}" reads nothing outside where "${name}" becomes a link after it was found`, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const { realPathSync } = Deno;
    try {
      await Deno.mkdir(`${folder}/base/inner`, { recursive: true });
      await Deno.mkdir(`${folder}/outside`);
      for (const inside of ["base/a.json", "base/inner/a.json"]) await Deno.writeTextFile(`${folder}/${inside}`, "1");
      await Deno.writeTextFile(`${folder}/outside/a.json`, "2");
      Deno.realPathSync = (path) => {
        const found = realPathSync(path);
        Deno.renameSync(`${folder}/${name}`, `${folder}/aside`);
        Deno.symlinkSync(`${folder}/${target}`, `${folder}/${name}`);
        return found;
      };
      const setup = { root: `${folder}/base`, allow_yaml: false, max_bytes: 9 };
      const { finding } = await checkJsonFile(setup, { provider_id: "json", check_id: "path", params: { file } });
      assert.equal("error" in finding ? finding.error.code : finding.found, "file_read_failed");
    } finally {
      Deno.realPathSync = realPathSync;
      await Deno.remove(folder, { recursive: true });
    }
  });
}
