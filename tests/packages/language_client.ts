/**
 * The client of editors that the tests drive `gate lsp` with: the protocol of the package of VS Code, over the streams of a
 * process.
 *
 * @module
 */

export {
  createProtocolConnection,
  type Diagnostic,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "npm:vscode-languageserver-protocol@3.18.5/node";
