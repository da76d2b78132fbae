/** The files for Prometheus and Grafana against the real programs, and a real gate that fires into a real Alertmanager. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { until } from "../until.ts";
import { inFolder, STORES } from "../e2e/gate_command.ts";
import { notifyFlags, receiver, SCENARIO, startServing } from "../e2e/people/notify_fixture.ts";

const MONITORING = new URL("../../config/monitoring/", import.meta.url).pathname;
const PROMETHEUS = "prometheus";
const ALERTMANAGER = "prometheus-alertmanager";

async function run(program: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd: MONITORING }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.equal(code, 0, said);
  return said;
}

Deno.test("promtool accepts the configuration, and each alert fires when it should and not before", async () => {
  await run("promtool", "check", "config", "prometheus.yml");
  assert.match(await run("promtool", "test", "rules", "gate_alerts_test.yml"), /SUCCESS/);
  const read = (name: string): Promise<string> => Deno.readTextFile(join(MONITORING, name));
  const alerts = [...(await read("gate_alerts.yml")).matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  const tested = new Set(
    [...(await read("gate_alerts_test.yml")).matchAll(/- alertname: (\w+)/g)].map(([, name]) => name),
  );
  assert.deepEqual(alerts.filter((name) => !tested.has(name)), []);
});

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly datasource: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}

async function readDashboard(): Promise<Dashboard> {
  return JSON.parse(await Deno.readTextFile(join(MONITORING, "grafana_dashboard.json")));
}

/** An expression as Grafana sends it. */
function sent(expr: string): string {
  return expr.replaceAll("$__rate_interval", "1m").replaceAll(/\$(job|instance)/g, ".+");
}

Deno.test("the panels of the dashboard have names of their own, stand beside each other, and use its variables alone", async () => {
  const { panels, templating } = await readDashboard();
  for (const unique of [panels.map(({ id }) => id), panels.map(({ title }) => title)]) {
    assert.equal(new Set<string | number>(unique).size, panels.length);
  }
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + cell % w},${y + Math.floor(cell / w)}`)
  );
  assert.equal(new Set(cells).size, cells.length);
  assert.ok(panels.every(({ gridPos: { x, w } }) => x >= 0 && x + w <= 24));
  const names = new Set(templating.list.map(({ name }) => name));
  for (const { datasource, targets } of panels) {
    assert.equal(datasource.uid, "${datasource}");
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length);
    const used = targets.flatMap(({ expr }) => [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name ?? ""));
    assert.deepEqual(used.filter((name) => name !== "__rate_interval" && !names.has(name)), []);
  }
});

/** Changes of the dashboard that Grafana's schema does not know. */
const UNKNOWN: readonly (readonly [from: string, to: string])[] = [
  ['"type": "stat"', '"type": "gauge"'],
  ['"graphMode": "area"', '"graphMode": "areas"'],
  ['"placement": "bottom"', '"place": "bottom"'],
  ['"refId": "A"', '"ref": "A"'],
  ['"graphTooltip": 1', '"graphTooltip": 3'],
  ['"schemaVersion": 39,', ""],
];

Deno.test("the dashboard has the type that Grafana's own schema gives it, which knows no other members and values", async () => {
  const text = await Deno.readTextFile(join(MONITORING, "grafana_dashboard.json"));
  const type = new URL("./grafana_schema.ts", import.meta.url).href;
  const lock = new URL("../deno.lock", import.meta.url).pathname;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  await inFolder(async (folder) => {
    const check = async (name: string, dashboard: string): Promise<string> => {
      const module =
        `import type { DashboardFile } from "${type}";\nexport const file: DashboardFile = ${dashboard};\n`;
      await Deno.writeTextFile(join(folder, name), module);
      const args = ["check", "--quiet", "--frozen", `--lock=${lock}`, `--config=${config}`, join(folder, name)];
      const { success, stderr } = await new Deno.Command(Deno.execPath(), { args, env: { NO_COLOR: "1" } }).output();
      return success ? "" : new TextDecoder().decode(stderr);
    };
    assert.equal(await check("dashboard.ts", text), "");
    const changed = UNKNOWN.map(([from, to]) => {
      assert.ok(text.includes(from), from);
      return `(): DashboardFile => (${text.replace(from, to)})`;
    });
    const faults = await check("changed.ts", `${text};\nexport const others = [${changed.join(",\n")}]`);
    assert.equal(faults.match(/^TS\d+ \[ERROR\]/gm)?.length, UNKNOWN.length, faults);
  });
});

/** Metrics that need a provider or TLS; the reference has them. */
const CONDITIONAL = /^gate_(provider|tls)_/;

/** Names of metrics in expressions. */
function metricsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\b(?:gate|process)_[a-z_]+/g)].map(([name]) => name));
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

interface Alert {
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Both programs as the files configure them, for a gate and a chat. */
interface Programs {
  readonly scraper: number;
  /** The rules, with seconds in place of minutes. */
  readonly rules: string;
  readonly stop: () => Promise<void>;
}

async function startPrograms(folder: string, gateUrl: string, chatUrl: string): Promise<Programs> {
  const [scraper, manager] = [freePort(), freePort()];
  const read = (name: string): Promise<string> => Deno.readTextFile(join(MONITORING, name));
  // As the files are, with seconds in place of minutes.
  const rules = (await read("gate_alerts.yml")).replaceAll(/for: \w+/g, "for: 1s").replace("> 900", "> 1");
  const config = (await read("prometheus.yml")).replaceAll("15s", "1s")
    .replace("127.0.0.1:9093", `127.0.0.1:${manager}`).replace("127.0.0.1:8080", new URL(gateUrl).host);
  await Deno.writeTextFile(join(folder, "gate_alerts.yml"), rules);
  await Deno.writeTextFile(join(folder, "prometheus.yml"), config);
  const route = "{ receiver: chat, group_wait: 0s, group_interval: 1s, group_by: [alertname] }";
  await Deno.writeTextFile(
    join(folder, "alertmanager.yml"),
    `route: ${route}\nreceivers: [{ name: chat, webhook_configs: [{ url: "${chatUrl}" }] }]\n`,
  );
  const start = (program: string, ...args: readonly string[]): Deno.ChildProcess =>
    new Deno.Command(program, { args: [...args], cwd: folder, stdin: "null", stdout: "null", stderr: "null" })
      .spawn();
  const programs = [
    start(
      ALERTMANAGER,
      ...["--config.file=alertmanager.yml", "--storage.path=alerts", "--cluster.listen-address="],
      `--web.listen-address=127.0.0.1:${manager}`,
    ),
    start(
      PROMETHEUS,
      ...["--config.file=prometheus.yml", "--storage.tsdb.path=series"],
      `--web.listen-address=127.0.0.1:${scraper}`,
    ),
  ];
  const stop = async (): Promise<void> => {
    for (const program of programs) program.kill("SIGKILL");
    await Promise.all(programs.map((program) => program.status));
  };
  return { scraper, rules, stop };
}

Deno.test("a gate that is scraped has every metric of the files, and fires into Alertmanager when events wait and when it is gone", () =>
  inFolder(async (folder) => {
    const down = receiver();
    await down.close();
    await using gate = await startServing(folder, notifyFlags(down.url), STORES);
    const metrics = async (): Promise<string> => await (await fetch(`${gate.url}/metrics`)).text();
    await gate.drive(SCENARIO);
    await fetch(`${gate.url}/nowhere`);
    await metrics();
    let text = "";
    await until("an event waits", async () => /^gate_notify_oldest_seconds\{\} [1-9]/m.test(text = await metrics()));

    const alerts: Alert[] = [];
    const chat = receiver(({ body }) => {
      alerts.push(...(JSON.parse(body) as { alerts: Alert[] }).alerts);
      return new Response();
    });
    const { scraper, rules, stop } = await startPrograms(folder, gate.url, chat.url);
    try {
      const isFiring = (name: string): boolean =>
        alerts.some(({ status, labels }) => status === "firing" && labels["alertname"] === name);
      await until("the alert about events came", () => isFiring("GateEventsNotDelivered"), 60);
      assert.ok(!isFiring("GateDown"));

      const { panels } = await readDashboard();
      const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
      const query = async (expr: string): Promise<{ status: string; error?: string; data: { result: unknown[] } }> => {
        const address = `http://127.0.0.1:${scraper}/api/v1/query?query=${encodeURIComponent(sent(expr))}`;
        return await (await fetch(address)).json();
      };
      for (const expr of expressions) assert.equal((await query(expr)).status, "success", expr);
      for (
        const expr of ['max(gate_runs{job=~"$job", status="active"})', 'max(gate_notify_oldest_seconds{job=~"$job"})']
      ) {
        assert.equal((await query(expr)).data.result.length, 1, expr);
        assert.ok(expressions.includes(expr));
      }
      const exposed = metricsIn(text);
      const reference = metricsIn(await Deno.readTextFile(new URL("../../docs/reference/http.md", import.meta.url)));
      const used = metricsIn(`${expressions.join("\n")}\n${rules.replaceAll(/^#.*$/gm, "")}`);
      assert.deepEqual([...used].filter((name) => !(CONDITIONAL.test(name) ? reference : exposed).has(name)), []);

      await gate.end();
      await until("the alert about the end came", () => isFiring("GateDown"), 60);
    } finally {
      await stop();
      await chat.close();
    }
  }));
