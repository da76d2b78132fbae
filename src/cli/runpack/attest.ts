/**
 * `gate runpack attest`: writes the decision on a runpack as a signed SLSA Verification Summary.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { encodeBase64 } from "../../canonical/base64.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import { readJson } from "../../canonical/scan.ts";
import { asJson } from "../../run/primitives.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { summaryStatement, type SummarySubject } from "../../runpack/format/verification_summary.ts";
import { archiveDigest } from "../../runpack/host/archive_file.ts";
import { type PackContents, sourceContents } from "../../runpack/host/contents.ts";
import { derivationOf } from "../../runpack/verify/result_line.ts";
import type { Examination } from "../../runpack/verify/verify.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { writeNewFile } from "../terminal/new_file.ts";
import { writeError, writeOut, writeResult } from "../terminal/output.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { shown } from "../terminal/text.ts";
import { type AdmissionFlags, type DecidedPack, decidePack } from "./admit.ts";
import type { OpenPack } from "./open.ts";
import { signerOf } from "./session.ts";
import { READER_PRIMITIVES } from "./view.ts";

/** The flags of `gate runpack attest`. */
export interface AttestFlags extends AdmissionFlags {
  readonly key?: string;
  readonly subject?: readonly string[];
  readonly resourceUri?: string;
  readonly out?: string;
}

/** Maximum subjects of one statement. */
const SUBJECTS = 1024;

/** Runs `gate runpack attest`. Returns the exit code of `gate runpack admit` with the same flags. */
export async function runRunpackAttest(named: string, flags: AttestFlags): Promise<ExitCode> {
  refuseRuntimeTelemetry();
  const signer = await signerOf(flags.key);
  if (signer === null) throw new CliError("usage", "Cannot attest: --key is missing");
  const subjects = subjectsOf(flags.subject ?? []);
  if (flags.resourceUri !== undefined && !URL.canParse(flags.resourceUri)) {
    throw new CliError("usage", `Cannot use --resource-uri "${flags.resourceUri}": it is not a URI`);
  }
  let statement = "";
  const { admission } = await decidePack(named, flags, async (decided, pack) => {
    requireBound(named, decided, subjects);
    statement = await statementOf(named, decided, pack, subjects, flags);
  });
  const envelope = signer.signStatement(statement);
  if (flags.out !== undefined) await writeNewFile(flags.out, `${envelope}\n`);
  const { exit_code, line } = admission;
  if (flags.json === true) {
    const { keyId: key_id, publicKey } = signer;
    const result = { envelope: readJson(envelope), exit_code, key_id, line, public_key: encodeBase64(publicKey) };
    writeResult("runpack attest", result, exit_code === EXIT.ok);
  } else if (flags.out === undefined) {
    writeOut(`${envelope}\n`);
    writeError(`${shown(line)}\n`);
  } else {
    writeOut(`${shown(line)}\n`);
  }
  return exit_code;
}

/** Reads `NAME=sha256:DIGEST`. */
function subjectsOf(given: readonly string[]): readonly SummarySubject[] {
  const subjects = given.map((text) => {
    const [, name = "", digest = ""] = /^([^=]+)=sha256:([0-9a-f]{64})$/.exec(text) ?? [];
    if (name === "") {
      const hint = "a digest is 64 lower-case hex digits";
      throw new CliError("usage", `Cannot read --subject "${text}": expected NAME=sha256:DIGEST`, hint);
    }
    return { name, digest };
  });
  if (subjects.length === 0 || subjects.length > SUBJECTS) {
    throw new CliError("usage", `Cannot attest: expected 1 to ${SUBJECTS} subjects, got ${subjects.length}`);
  }
  const repeated = subjects.find(({ name }, index) => subjects.findIndex((one) => one.name === name) < index);
  if (repeated === undefined) return subjects;
  throw new CliError("usage", `Cannot attest: subject "${repeated.name}" is named twice`);
}

/** The digests that a run, or one stage of it, decided on. */
function digestsOf({ parameters, run }: Examination, stage: string | null): ReadonlySet<string> {
  const stages = run?.stages.filter(({ stage_id }) => stage === null || stage_id === stage) ?? [];
  const given = parameters?.flatMap(({ value: { value, value_type } }) => value_type === "Digest" ? [value] : []) ?? [];
  return new Set([...given.map(String), ...stages.flatMap(({ digests }) => digests)]);
}

/**
 * Requires that every subject is the value of a `Digest` parameter, or of a `Digest` condition that counted.
 *
 * @throws {CliError} With the exit code of the decision where nothing was derived; `refused` for another subject
 */
function requireBound(
  named: string,
  { admission, examination, expectation }: DecidedPack,
  subjects: readonly SummarySubject[],
): void {
  if (derivationOf(examination.report) !== "derived") {
    const message = `Cannot attest "${named}": its decisions were not derived, so it shows nothing of a subject`;
    const code = admission.exit_code === EXIT.ok ? EXIT.unknown : admission.exit_code;
    throw new CliError("not_evaluated", message, shown(admission.line), code);
  }
  const digests = digestsOf(examination, expectation.stage);
  const other = subjects.find(({ digest }) => !digests.has(digest));
  if (other === undefined) return;
  const message = `Cannot attest "${named}": the run decided nothing about subject "${shown(other.name)}"`;
  const hint =
    "a subject is the value of a Digest parameter, or of a Digest condition that was true in a completed stage";
  throw new CliError("refused", message, hint, EXIT.verificationFailed);
}

async function statementOf(
  named: string,
  { admission, examination, expectation }: DecidedPack,
  pack: OpenPack,
  subjects: readonly SummarySubject[],
  { resourceUri }: AttestFlags,
): Promise<string> {
  const contents = await sourceContents(sha256, pack.source, pack.signatures);
  const { law, document, stage } = expectation;
  const { law_identity, law_digest, parameters, report, verdict_identity } = examination;
  const { exit_code, line, reasons, waived } = admission;
  const own = law_identity === law ? law_digest : null;
  const decision = { exit_code, line, parameters, reasons: reasons.map(({ code }) => code), verdict_identity };
  return summaryStatement({
    subjects,
    verifier_procedure: report.verifier_procedure,
    verified_at: Date.now(),
    resource_uri: resourceUri ?? resourceOf(contents),
    law,
    law_digest: document === null ? own : sha256(canonicalize(lawAsJson(document))),
    runpack: contents.runpackIdentity,
    runpack_digest: await archiveDigest(named, contents, READER_PRIMITIVES.hashStream()),
    is_admitted: exit_code === EXIT.ok,
    stage,
    waived,
    decision: asJson(decision) as JsonObject,
  });
}

function resourceOf({ decoded: { run_key } }: PackContents): string {
  return `urn:gate:run:${run_key.namespace_id}:${run_key.run_id}`;
}
