import assert from "node:assert/strict";

import { sha256 } from "../../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../../tests/simulation/store/open.ts";
import { checkStore } from "../check/check.ts";
import { openStores } from "../open.ts";
import { StoreError } from "../types.ts";
import { explainAccess } from "./access.ts";

/** The denied file, the error code of the system, and the explanation. */
const REFUSED: readonly (readonly [file: string, code: string, says: RegExp | null])[] = [
  ["", "EACCES", /may not create files in ".*", which belongs to user \d+ with mode 700$/],
  ["/gate.db", "EACCES", /may not read and write ".*\/gate\.db", which belongs to user \d+ with mode 600$/],
  ["/gate.db", "EPERM", /may not read and write ".*\/gate\.db", which belongs to user/],
  ["/gate.db", "EROFS", /may not read and write ".*\/gate\.db": its file system is read-only$/],
  ["/gate.db-wal", "EACCES", /may not read and write ".*\/gate\.db-wal"$/],
  ["/gate.db-shm", "EACCES", /may not read and write ".*\/gate\.db-shm"$/],
  ["/gate.db", "ENOENT", null],
  ["/gate.db", "EIO", null],
];

for (const [name, code, says] of REFUSED) {
  Deno.test(`explainAccess() on ${code} of "${name}": ${says ?? "no explanation"}`, () =>
    withFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.db`, "", { mode: 0o600 });
      const probe = (file: string): void => {
        if (file === `${folder}${name}`) throw Object.assign(new Error(code), { code });
      };
      const probes = { file: probe, folder: probe };
      const given = new StoreError("io", "Unable to open database file");
      const explained = explainAccess(given, `${folder}/gate.db`, probes);
      if (says === null) return assert.equal(explained, given);
      assert.ok(explained instanceof StoreError);
      assert.deepEqual([explained.code, explained.cause], ["io", given]);
      assert.match(explained.message, says);
      const corrupt = new StoreError("corrupt", "The file is damaged");
      assert.equal(explainAccess(corrupt, `${folder}/gate.db`, probes), corrupt);
    }));
}

/** Whether this process may read a file with mode 0, as root may. */
function readsAnything(): boolean {
  const path = Deno.makeTempFileSync();
  try {
    Deno.chmodSync(path, 0);
    Deno.readFileSync(path);
    return true;
  } catch {
    return false;
  } finally {
    Deno.removeSync(path);
  }
}

Deno.test("openStores() and checkStore() name the missing permission", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/gate.db`, "something");
    Deno.chmodSync(`${folder}/gate.db`, 0);
    const missing = /may not read and write ".*\/gate\.db", which belongs to user \d+ with mode 0$/;
    // A process that may read every file reports the problem of the file itself.
    const says = readsAnything() ? /not a database/ : missing;
    await assert.rejects(openStores(storesOptions(folder, WAL_FULL), sha256), says);
    await assert.rejects(checkStore(`${folder}/gate.db`, { sha256 }), says);
  }));
