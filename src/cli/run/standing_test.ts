import assert from "node:assert/strict";
import { waitingLaw } from "../../../tests/simulation/waiting_fixture.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import { readLaw } from "./read_law.ts";

const ASKED = waitingLaw({ combination: { combination: "Quorum", minimum: 2 } });
const OTHER = waitingLaw({ combination: { combination: "Quorum", minimum: 1 } });

Deno.test("readLaw() refuses a law that a server shows under the identity of another", async () => {
  const { scenario_law_identity: identity } = ASKED;
  const rows = [[ASKED, true], [OTHER, false]] as const;
  for (const [{ law }, isTaken] of rows) {
    const session = {
      call: () => Promise.resolve({ law: lawAsJson(law) }),
      namespaces: () => Promise.resolve(null),
    };
    const read = readLaw(session, 2, identity);
    if (isTaken) assert.deepEqual(await read, lawAsJson(law));
    else await assert.rejects(read, /its identity is not "[0-9a-f]{64}"/);
  }
});
