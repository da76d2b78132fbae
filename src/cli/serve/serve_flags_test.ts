import assert from "node:assert/strict";
import { CliError } from "../terminal/cli_error.ts";
import { parseServeArguments } from "./serve_flags.ts";

Deno.test("parseServeArguments() reads the flags of serve", () => {
  const plain = {
    config: undefined,
    dataDir: undefined,
    logLevel: "info",
    signingKey: undefined,
    allowNonLoopback: false,
    trustedProxies: [],
    allowedHosts: [],
    allowedOrigins: [],
    typedHosts: [],
    typedPrivate: false,
    credentialsDir: undefined,
    evidenceKeys: undefined,
    publicUrl: undefined,
    otlpEndpoint: undefined,
    otlpHeaders: [],
    notify: undefined,
    notifySecret: undefined,
    oauthIssuers: [],
    oauthAudiences: [],
    oauthPrincipals: undefined,
    oauthCa: undefined,
    oauthPrivate: false,
    console: false,
  };
  assert.deepEqual(parseServeArguments([]), plain);
  assert.deepEqual(
    parseServeArguments(["--config", "a b.toml", "--data-dir=/d", "--log-level", "warn", "--signing-key", "k"]),
    {
      ...plain,
      signingKey: "k",
      config: "a b.toml",
      dataDir: "/d",
      logLevel: "warn",
    },
  );
  const network = ["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy=::1", "--allowed-host", "a", "--allowed-origin=b"];
  assert.deepEqual(parseServeArguments(["--allow-non-loopback", ...network]), {
    ...plain,
    allowNonLoopback: true,
    trustedProxies: ["10.0.0.0/8", "::1"],
    allowedHosts: ["a"],
    allowedOrigins: ["b"],
  });
  const typed = ["--typed-host", "a=file://k", "--typed-host=b:8443", "--typed-private", "--credentials-dir", "/k"];
  assert.deepEqual(parseServeArguments(typed), {
    ...plain,
    typedHosts: ["a=file://k", "b:8443"],
    typedPrivate: true,
    credentialsDir: "/k",
  });
  const oauth = ["--oauth-issuer", "a", "--oauth-audience=b", "--oauth-issuer=c", "--oauth-audience", "d"];
  assert.deepEqual(parseServeArguments([...oauth, "--oauth-principals=p", "--oauth-ca", "e", "--oauth-private"]), {
    ...plain,
    oauthIssuers: ["a", "c"],
    oauthAudiences: ["b", "d"],
    oauthPrincipals: "p",
    oauthCa: "e",
    oauthPrivate: true,
  });
  for (const level of ["error", "warn", "info", "debug"]) {
    assert.equal(parseServeArguments(["--log-level", level]).logLevel, level);
  }
});

Deno.test("parseServeArguments() suggests the nearest flag for an unknown one", () => {
  for (
    const [flag, hint] of [
      ["--confg", "did you mean --config? see gate serve --help"],
      ["--allowed-hosts=a", "did you mean --allowed-host? see gate serve --help"],
      ["--zzz", "see gate serve --help"],
    ] as const
  ) {
    assert.throws(() => parseServeArguments([flag, "x"]), (error) => error instanceof CliError && error.hint === hint);
  }
});

Deno.test("parseServeArguments() rejects unknown flags, empty values and second values", () => {
  const cases: [argv: string[], code: string, message: RegExp][] = [
    [["--confg", "x"], "usage", /^Cannot read the flags of serve: Unknown option "--confg"/],
    [["gate.toml"], "usage", /^Cannot read the flags of serve: Unexpected argument "gate.toml"/],
    [["--config"], "usage", /^Cannot read the flags of serve: Option "--config <value>" argument missing$/],
    [["--config="], "usage", /^Cannot use --config: value is empty$/],
    [["--allowed-host", "a", "--allowed-host="], "usage", /^Cannot use --allowed-host: value is empty$/],
    [["--signing-key", "a", "--signing-key", "b"], "usage", /^Cannot use --signing-key: it is given twice$/],
    [["--log-level", "loud"], "usage", /^Cannot use --log-level "loud": must be one of error, warn, info, debug$/],
  ];
  for (const [argv, code, message] of cases) {
    assert.throws(() => parseServeArguments(argv), (error) => {
      assert.ok(error instanceof CliError);
      assert.deepEqual([error.code, error.exitCode], [code, 2]);
      assert.match(error.message, message);
      return true;
    }, argv.join(" "));
  }
});
