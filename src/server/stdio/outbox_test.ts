import assert from "node:assert/strict";
import { createOutbox } from "./outbox.ts";

/** A reader that accepts each write only after a call. */
function slowReader(): {
  readonly write: (bytes: Uint8Array) => Promise<number>;
  readonly writes: string[];
  take(): Promise<void>;
} {
  const writes: string[] = [];
  let waiting: (() => void) | null = null;
  return {
    writes,
    write: async (bytes) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting = resolve;
      await promise;
      writes.push(new TextDecoder().decode(bytes));
      return bytes.length;
    },
    take: async () => {
      for (let turn = 0; turn < 20 && waiting === null; turn++) await Promise.resolve();
      waiting?.();
      waiting = null;
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    },
  };
}

Deno.test("send() puts the lines of a turn, and those sent during a write, into one write each", async () => {
  const reader = slowReader();
  const outbox = createOutbox({ write: reader.write, closed: () => assert.fail("closed") });
  outbox.send("a");
  outbox.send("b");
  await Promise.resolve();
  outbox.send("c");
  await reader.take();
  outbox.send("d");
  await reader.take();
  await reader.take();
  assert.equal(reader.writes.join(""), "a\nb\nc\nd\n");
  assert.ok(reader.writes.length <= 3);
  assert.equal(reader.writes[0]?.startsWith("a\nb\n"), true);
});

Deno.test("below() waits for the reader", async () => {
  const reader = slowReader();
  const outbox = createOutbox({ write: reader.write, closed: () => assert.fail("closed") });
  await outbox.below(0);
  outbox.send("12345");
  assert.equal(outbox.waiting(), 6);
  let reached = false;
  const below = outbox.below(5).then(() => reached = true);
  await Promise.resolve();
  assert.equal(reached, false);
  await reader.take();
  await below;
  assert.equal(outbox.waiting(), 0);
});

Deno.test("send() finishes partial writes", async () => {
  const written: number[] = [];
  const outbox = createOutbox({
    write: (bytes) => {
      written.push(bytes[0] ?? 0);
      return Promise.resolve(1);
    },
    closed: () => assert.fail("closed"),
  });
  outbox.send("abc");
  await outbox.below(0);
  assert.equal(String.fromCharCode(...written), "abc\n");
});

Deno.test("createOutbox() keeps no write over a mebibyte together", async () => {
  const sizes: number[] = [];
  const outbox = createOutbox({
    write: (bytes) => {
      sizes.push(bytes.length);
      return Promise.resolve(bytes.length);
    },
    closed: () => assert.fail("closed"),
  });
  for (let count = 0; count < 5; count++) outbox.send("x".repeat(400_000));
  await outbox.below(0);
  assert.deepEqual(sizes, [800_002, 800_002, 400_001]);
});

Deno.test("createOutbox() reports once that the reader is gone, and drops its lines", async () => {
  let closed = 0;
  const outbox = createOutbox({ write: () => Promise.reject(new Error("broken pipe")), closed: () => closed++ });
  outbox.send("a");
  await outbox.below(0);
  outbox.send("b");
  await outbox.below(0);
  assert.deepEqual([closed, outbox.waiting()], [1, 0]);
});
