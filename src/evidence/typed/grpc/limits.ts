/** Limits of gRPC descriptors, messages and calls. */

/** Limits of an import and of a call; every one is checked before memory is allocated for what it bounds. */
export const GRPC_LIMITS = {
  /** Files of one import: `.proto` texts, or files of a descriptor set. */
  files: 1024,
  /** UTF-8 bytes of all `.proto` texts together; a larger source is given as a descriptor set. */
  textBytes: 2_097_152,
  /** Characters of a name with its dots. */
  nameBytes: 1024,
  /** Imports of one `.proto` text. */
  imports: 10_000,
  /** Fields of one message of a `.proto` text. */
  fields: 1000,
  /** Bytes of the descriptors that a profile carries. */
  profileBytes: 2_097_152,
  /** Values, and messages, in the wire form of a descriptor set. */
  descriptorValues: 4_000_000,
  descriptorMessages: 300_000,
  /** Messages within each other in the wire form of a message. */
  messageDepth: 100,
  /** Values, and messages, in the wire form of a response. */
  messageValues: 1_000_000,
  responseMessages: 50_000,
  /** Bytes of a request message. */
  requestBytes: 1_048_576,
  /** Bytes of the headers of a response, and of its trailers. */
  headerBytes: 16_384,
  /** Characters of `grpc-message` that an error repeats. */
  statusMessageCharacters: 512,
} as const;
