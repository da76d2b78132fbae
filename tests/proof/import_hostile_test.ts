/** More `.proto` texts of 64 MiB: each import ends with its outcome, within its time and 512 MiB of the whole process. */
import { judge, measure } from "../e2e/typed/import_hostile_measure.ts";
import { REPEATED_PROTO_ROWS } from "../e2e/typed/import_hostile_protos.ts";

for (const row of REPEATED_PROTO_ROWS) {
  Deno.test(`import of ${row[0]}: ${row[2]}`, async () => {
    judge(row, (await measure([row], ".proto"))[0], ["import_timeout"]);
  });
}
