/**
 * A server of @grpc/grpc-js, in a process of its own: its types would replace those of the runtime's modules. The first
 * argument is the library, the second what the server does. Prints its port.
 */

import { Buffer } from "node:buffer";

const [library, behaviour] = Deno.args;
const { default: grpc } = await import(library);
const bytes = (message) => Buffer.from(message);

const BEHAVIOURS = {
  echo: (request, answer) => answer(null, request),
  deny: (_, answer) => answer({ code: grpc.status.PERMISSION_DENIED, details: "no: ünicode 100%" }),
  unknown: (_, answer) => answer({ code: 99, details: "" }),
  large: (_, answer) => answer(null, Buffer.alloc(2_000_000)),
  wait: () => {},
};

const server = new grpc.Server();
server.addService({
  echo: {
    path: "/every.kind.v1.Reader/Echo",
    requestStream: false,
    responseStream: false,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  },
}, { echo: (call, answer) => BEHAVIOURS[behaviour](call.request, answer) });
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  console.log(port);
});
