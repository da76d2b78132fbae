/**
 * What `.proto` texts declare, in the form of both sides that are compared: gate, and the descriptor set of `protoc`.
 *
 * @module
 */

import { fromBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  FieldDescriptorProto_Type,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { indexTypes, type TypeIndex } from "../../../src/evidence/typed/grpc/descriptors.ts";
import { type ProtoText, readProtoTexts } from "../../../src/evidence/typed/grpc/proto_source.ts";

/** Lines by the full name of each type at the top level, and of each method; null with the reason where a side refuses. */
export type Shapes = ReadonlyMap<string, string>;

/** What gate reads, or why it refuses one of the texts. */
export function shapesOfGate(texts: readonly ProtoText[], names: Iterable<string>): Shapes | string {
  const read = readProtoTexts(texts, () => {});
  const refused = read.warnings.find(({ code }) => code === "file_ignored" || code === "import_missing");
  if (refused !== undefined) return refused.message;
  return shapes(read.files, read.types, names);
}

/** What a descriptor set has. */
export function shapesOfSet(bytes: Uint8Array): Shapes {
  const { file } = fromBinary(FileDescriptorSetSchema, bytes);
  const own = file.filter((one) => one.package !== "google.protobuf");
  const named = (one: FileDescriptorProto): string[] =>
    [...one.messageType, ...one.enumType].map(({ name }) => one.package === "" ? name : `${one.package}.${name}`);
  const result = shapes(own, indexTypes(file, () => {}), own.flatMap(named));
  return typeof result === "string" ? new Map() : result;
}

function shapes(files: readonly FileDescriptorProto[], types: TypeIndex, names: Iterable<string>): Shapes | string {
  const found = new Map<string, string>();
  for (const name of names) {
    const content = types.get(name)?.content();
    if (content === undefined) return `no type "${name}"`;
    if (!content.ok) return content.message;
    const missing = content.references.find((one) => types.get(one) === undefined);
    if (missing !== undefined) return `no type "${missing}"`;
    found.set(name, JSON.stringify(shapeOf(content.proto)));
  }
  for (const { package: space, service } of files) {
    for (const one of service) {
      for (const { name, inputType, outputType, clientStreaming, serverStreaming } of one.method) {
        const missing = [inputType, outputType].find((type) => types.get(type.slice(1)) === undefined);
        if (missing !== undefined) return `no type "${missing}"`;
        found.set(
          `${space}.${one.name}/${name}`,
          JSON.stringify([inputType, outputType, clientStreaming, serverStreaming]),
        );
      }
    }
  }
  return found;
}

function shapeOf(proto: DescriptorProto | EnumDescriptorProto): unknown {
  if (proto.$typeName === "google.protobuf.EnumDescriptorProto") {
    const values = proto.value.map(({ name, number }) => [name, number]);
    return [proto.name, values, proto.options?.allowAlias ?? false];
  }
  return [
    proto.name,
    proto.options?.mapEntry ?? false,
    proto.oneofDecl.map(({ name }) => name),
    // Their order has no meaning, and protobufjs does not keep it where entries of maps are among them.
    proto.nestedType.toSorted((a, b) => a.name < b.name ? -1 : 1).map(shapeOf),
    proto.enumType.map(shapeOf),
    proto.field.map((one) => [
      one.name,
      one.number,
      one.label,
      FieldDescriptorProto_Type[one.type],
      one.typeName,
      // Without an explicit name, both sides make the same one of the field's name.
      one.jsonName === camelOf(one.name) ? "" : one.jsonName,
      // Zero is also the default, so presence counts.
      Object.hasOwn(one, "oneofIndex") ? one.oneofIndex : null,
      one.proto3Optional,
      one.options !== undefined && Object.hasOwn(one.options, "packed") ? one.options.packed : null,
      one.options?.jstype ?? 0,
    ]),
  ];
}

function camelOf(name: string): string {
  return name.replaceAll(/_+([^_])?/g, (_, next: string = "") => next.toUpperCase());
}
