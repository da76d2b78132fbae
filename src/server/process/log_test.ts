import assert from "node:assert/strict";
import { formatEntry, LOG_QUEUE_BYTES, type LogLevel, openLog } from "./log.ts";

const NOW = Date.UTC(2026, 0, 2);

/** A standard error that takes nothing until it is opened. */
function gatedWriter(): {
  readonly write: (bytes: Uint8Array) => Promise<number>;
  readonly open: () => void;
  text: string;
} {
  const gate = Promise.withResolvers<void>();
  const writer = {
    text: "",
    open: (): void => gate.resolve(),
    write: async (bytes: Uint8Array): Promise<number> => {
      await gate.promise;
      writer.text += new TextDecoder().decode(bytes);
      return bytes.length;
    },
  };
  return writer;
}

const LEVELS: readonly (readonly [level: LogLevel, written: string])[] = [
  ["error", "error"],
  ["warn", "error warn"],
  ["info", "error warn info"],
  ["debug", "error warn info debug"],
];

for (const [level, written] of LEVELS) {
  Deno.test(`openLog() at level ${level} writes ${written}`, async () => {
    const writer = gatedWriter();
    writer.open();
    const { log, flush } = openLog({ level, format: "text", write: writer.write, now: () => NOW });
    for (const each of ["error", "warn", "info", "debug"] as const) log(each, each);
    await flush(1000);
    assert.equal(writer.text, written.split(" ").map((each) => `gate ${each}: ${each}\n`).join(""));
  });
}

Deno.test("openLog() writes one JSON object a line", async () => {
  const writer = gatedWriter();
  writer.open();
  const { log, flush } = openLog({ level: "info", format: "json", write: writer.write, now: () => NOW });
  log("info", "a\nb", { count: 1 });
  await flush(1000);
  assert.equal(writer.text, '{"time":"2026-01-02T00:00:00.000Z","level":"info","message":"a\\nb","count":1}\n');
});

Deno.test("openLog() drops and counts what an unread standard error does not take", async () => {
  const writer = gatedWriter();
  const { log, flush } = openLog({ level: "info", format: "json", write: writer.write, now: () => NOW });
  const entry = "x".repeat(1000);
  for (let count = 0; count < 1000; count++) log("info", entry);
  await flush(1);
  assert.equal(writer.text, "");
  writer.open();
  await flush(5000);
  const lines = writer.text.trim().split("\n").map((line) => JSON.parse(line));
  const written = lines.filter((line) => line.message === entry).length;
  assert.ok(written * 1000 < LOG_QUEUE_BYTES && written > LOG_QUEUE_BYTES / 1100);
  assert.equal(lines.at(-1).count, 1000 - written);
});

Deno.test("openLog() outlives a standard error that is closed", async () => {
  const { log, flush } = openLog({
    level: "info",
    format: "text",
    write: () => Promise.reject(new Error("broken pipe")),
  });
  log("info", "a");
  await flush(1000);
  log("info", "b");
  await flush(1000);
});

Deno.test("formatEntry() writes nothing that a terminal acts on", () => {
  const fields = { detail: "a\u009b2J\u202eb" };
  for (const format of ["json", "text"] as const) {
    assert.match(formatEntry(format, NOW, "warn", "m", fields), /a\\u009b2J\\u202eb/, format);
  }
});
