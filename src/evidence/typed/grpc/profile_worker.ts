/** The worker that checks the descriptors of a gRPC profile from outside. It has no permission. */

import type { DescMethod } from "@bufbuild/protobuf";
import { below, type JsonPath, pathOf } from "../../../canonical/path.ts";
import type { ContractProblem } from "../../contract/problems.ts";
import { serveQuestions } from "../../sandbox/worker_bootstrap.ts";
import type { GrpcOperation, GrpcProfile } from "../runtime_profile.ts";
import { openDescriptors } from "./descriptors.ts";
import { describeMessage, describePath, type SchemaObstacle } from "./message_schema.ts";

/** Problems that are reported of one profile. */
const PROBLEMS_MAXIMUM = 100;

function problemsOf(profile: GrpcProfile): readonly ContractProblem[] {
  const opened = openDescriptors(profile.descriptor_set_base64);
  if (!opened.ok) return [problem(below(null, "descriptor_set_base64"), `Expected descriptors: ${opened.message}`)];
  const found = Object.entries(profile.operations).flatMap(([id, operation]) => {
    const path = below(below(null, "operations"), id);
    const method = opened.registry.getService(operation.service)?.methods.find(({ name }) => name === operation.method);
    if (method === undefined) return [problem(below(path, "method"), "Expected a method of the descriptors")];
    if (method.methodKind !== "unary") return [problem(below(path, "method"), "Expected a unary method")];
    return operationProblems(operation, method, path);
  });
  return found.slice(0, PROBLEMS_MAXIMUM);
}

function operationProblems({ result_path }: GrpcOperation, method: DescMethod, path: JsonPath): ContractProblem[] {
  const result = result_path === null
    ? describeMessage(method.output, "result")
    : describePath(method.output, result_path);
  if (result === undefined) return [problem(below(path, "result_path"), "Expected a path to a field of the response")];
  const unusable = [...describeMessage(method.input, "params").obstacles, ...result.obstacles];
  return unusable.map(({ symbol, code }: SchemaObstacle) =>
    problem(below(path, "method"), `Expected messages that have a JSON form: ${code} "${symbol}"`)
  );
}

function problem(path: JsonPath, message: string): ContractProblem {
  return { code: "profile_mismatch", path: pathOf(path), message };
}

serveQuestions<null, GrpcProfile, readonly ContractProblem[]>(() => problemsOf);
