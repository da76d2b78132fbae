/**
 * The worker of a typed provider of protocol `grpc`. Its only permission is to connect to the checked addresses of one
 * host, on one port.
 */

import { serveQuestions } from "../../sandbox/worker_bootstrap.ts";
import type { CallQuestion, CallReply } from "../call.ts";
import type { GrpcProfile } from "../runtime_profile.ts";
import { createGrpcCaller } from "./call.ts";

serveQuestions<GrpcProfile, CallQuestion, CallReply>((profile) => createGrpcCaller(profile));
