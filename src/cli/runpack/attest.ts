/** `gate runpack attest`: writes the decision on a runpack as a signed SLSA Verification Summary. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { encodeBase64 } from "../../canonical/base64.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import { readJson } from "../../canonical/scan.ts";
import { asJson } from "../../run/primitives.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { summaryStatement, type SummarySubject } from "../../runpack/format/verification_summary.ts";
import { archiveDigest } from "../../runpack/host/archive_file.ts";
import { sourceContents } from "../../runpack/host/contents.ts";
import { derivationOf } from "../../runpack/verify/result_line.ts";
import type { Admission } from "../../runpack/verify/admission.ts";
import { subjectsOf } from "../../runpack/verify/run_result.ts";
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
  readonly signingKey?: string;
  readonly verifierId?: string;
  readonly subject?: readonly string[];
  readonly resourceUri?: string;
  readonly out?: string;
}

/** Maximum subjects of one statement. */
const SUBJECTS = 1024;

/** Runs `gate runpack attest`. Returns the exit code of `gate runpack admit` with the same flags, 4 where trust is waived. */
export async function runRunpackAttest(named: string, flags: AttestFlags): Promise<ExitCode> {
  refuseRuntimeTelemetry();
  const signer = await signerOf(flags.signingKey);
  if (signer === null) throw new CliError("usage", "Cannot attest: --signing-key is missing");
  const subjects = readSubjects(flags.subject ?? []);
  for (const [flag, uri] of [["--resource-uri", flags.resourceUri], ["--verifier-id", flags.verifierId]] as const) {
    if (uri === undefined || URL.canParse(uri)) continue;
    throw new CliError("usage", `Cannot use ${flag} "${uri}": it is not a URI`);
  }
  let statement = "";
  const { admission } = await decidePack(named, flags, async (decided, pack) => {
    requireBound(named, decided, subjects);
    statement = await statementOf(named, decided, pack, subjects, flags);
  });
  const envelope = signer.signStatement(statement);
  if (flags.out !== undefined) await writeNewFile(flags.out, `${envelope}\n`);
  const { line } = admission;
  const exit_code = exitCodeOf(admission);
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
function readSubjects(given: readonly string[]): readonly SummarySubject[] {
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

/** The exit code of the admission; 4 where only a waiver of trust admits the pack. */
function exitCodeOf({ exit_code, is_trust_waived }: Admission): ExitCode {
  return exit_code === EXIT.ok && is_trust_waived ? EXIT.unknown : exit_code;
}

/**
 * Requires that every subject is a digest that a condition which counted compared, or a parameter that it uses.
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
  const { law, parameters, run } = examination;
  const digests = run === null || law === null
    ? new Set<string>()
    : subjectsOf(run, law.law, parameters ?? [], expectation.stage);
  const other = subjects.find(({ digest }) => !digests.has(digest));
  if (other === undefined) return;
  const message = `Cannot attest "${named}": the run decided nothing about subject "${shown(other.name)}"`;
  const hint =
    "a subject is a digest that a condition compared which was true in a completed stage, or a parameter that it used";
  throw new CliError("refused", message, hint, EXIT.verificationFailed);
}

async function statementOf(
  named: string,
  { admission, examination, expectation }: DecidedPack,
  pack: OpenPack,
  subjects: readonly SummarySubject[],
  { resourceUri, verifierId }: AttestFlags,
): Promise<string> {
  const contents = await sourceContents(sha256, pack.source, pack.signatures);
  const { law, document, stage } = expectation;
  const { law_identity, law_digest, parameters, report, verdict_identity } = examination;
  const { exit_code, line, reasons, waived } = admission;
  if (contents.runpackIdentity !== report.runpack_identity) {
    throw new CliError("refused", `Cannot attest "${named}": it changed meanwhile`, null, EXIT.verificationFailed);
  }
  const own = law_identity === law ? law_digest : null;
  const decision = { exit_code, line, parameters, reasons: reasons.map(({ code }) => code), verdict_identity };
  return summaryStatement({
    subjects,
    verifier_id: verifierId ?? "urn:gate:verifier",
    verifier_procedure: report.verifier_procedure,
    verified_at: Date.now(),
    resource_uri: resourceUri ?? `urn:gate:subject:sha256:${subjects[0]?.digest ?? ""}`,
    law,
    parameters: (parameters ?? []).map(({ parameter_id, value: { value } }) =>
      [parameter_id, typeof value === "string" ? value : canonicalize(value)] as const
    ),
    law_digest: document === null ? own : sha256(canonicalize(lawAsJson(document))),
    runpack: contents.runpackIdentity,
    runpack_digest: await archiveDigest(named, contents, READER_PRIMITIVES.hashStream()),
    manifest_digest: digestOf(contents.manifest),
    is_admitted: exitCodeOf(admission) === EXIT.ok,
    stage,
    waived,
    decision: asJson(decision) as JsonObject,
  });
}

function digestOf(bytes: Uint8Array): string {
  const hash = READER_PRIMITIVES.hashStream();
  hash.update(bytes);
  return hash.digest();
}
