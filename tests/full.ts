/**
 * The tests that need more than Deno: programs of Debian packages, or packages from npm. A missing prerequisite fails.
 *
 * @module
 */

import type { Step } from "./steps.ts";

/** Every step of `deno task test:full`. */
export const FULL_STEPS: readonly Step[] = [
  {
    name: "the kernel on Node",
    kind: "tests",
    options: [],
    paths: ["tests/full/kernel_on_node_test.ts"],
    minutes: 5,
    needs: [{ program: "node", debianPackage: "nodejs" }],
  },
  {
    name: "the official conformance suite",
    kind: "tests",
    options: [],
    paths: ["tests/conformance"],
    minutes: 10,
  },
  {
    name: "TLS against openssl and curl",
    kind: "tests",
    options: [],
    paths: [
      "tests/e2e/tls_test.ts",
      "tests/e2e/tls_transports_test.ts",
      "tests/e2e/tls_start_test.ts",
      "tests/e2e/tls_audit_test.ts",
      "tests/e2e/doctor_tls_test.ts",
      "tests/e2e/client_certificate_test.ts",
      "tests/full/certificate_commands_test.ts",
    ],
    minutes: 10,
    needs: [{ program: "openssl", debianPackage: "openssl" }, { program: "curl", debianPackage: "curl" }],
  },
  {
    name: "presets with TLS",
    kind: "tests",
    options: [],
    paths: ["tests/e2e/presets_tls_test.ts"],
    minutes: 5,
    needs: [{ program: "openssl", debianPackage: "openssl" }],
  },
  {
    name: "behind nginx",
    kind: "tests",
    options: [],
    paths: ["tests/full/proxy_nginx_test.ts"],
    minutes: 5,
    needs: [
      { program: "nginx", debianPackage: "nginx" },
      { program: "openssl", debianPackage: "openssl" },
      { program: "curl", debianPackage: "curl" },
    ],
  },
  {
    name: "the unit of systemd",
    kind: "tests",
    options: [],
    paths: ["tests/full/systemd_unit_test.ts"],
    minutes: 5,
    needs: [
      { program: "systemd-analyze", debianPackage: "systemd" },
      { program: "kill", debianPackage: "procps" },
    ],
  },
  {
    name: "a clock that jumped",
    kind: "tests",
    options: [],
    paths: ["tests/full/clock_jump_test.ts"],
    minutes: 5,
    needs: [{
      program: `/usr/lib/${Deno.build.arch}-linux-gnu/faketime/libfaketimeMT.so.1`,
      debianPackage: "libfaketime",
    }],
  },
  {
    name: "providers over TLS",
    kind: "tests",
    options: [],
    paths: ["tests/full/providers_tls_test.ts", "tests/full/typed_tls_test.ts"],
    minutes: 5,
    needs: [{ program: "openssl", debianPackage: "openssl" }],
  },
  {
    name: "the official test suite of JSON Schema",
    kind: "tests",
    options: [],
    paths: ["tests/full/json_schema_suite_test.ts"],
    minutes: 5,
    needs: [{
      program: "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests/draft2020-12/ref.json",
      debianPackage: "libtest-json-schema-acceptance-perl",
    }],
  },
  {
    name: "a second verifier of runpacks, in Python",
    kind: "tests",
    options: [],
    paths: ["tests/full/second_verifier_test.ts", "tests/full/second_verifier_forms_test.ts"],
    minutes: 10,
    needs: [{ program: "python3", debianPackage: "python3" }],
  },
  {
    name: "stores on PostgreSQL",
    kind: "tests",
    options: [],
    paths: ["tests/full/postgres_store_test.ts", "tests/full/postgres_failover_test.ts"],
    minutes: 10,
    needs: [{ program: "/usr/lib/postgresql/15/bin/postgres", debianPackage: "postgresql-15" }],
  },
  {
    name: "runpacks in a browser",
    kind: "tests",
    options: [],
    paths: ["tests/full/browser_verifier_test.ts"],
    minutes: 10,
    needs: [{ program: "chromium", debianPackage: "chromium" }],
  },
  {
    name: "completions in bash, zsh and fish",
    kind: "tests",
    options: [],
    paths: ["tests/full/completions_test.ts"],
    minutes: 5,
    needs: [{ program: "zsh", debianPackage: "zsh" }, { program: "fish", debianPackage: "fish" }],
  },
  {
    name: "what the pages of the examples say to paste",
    kind: "tests",
    options: [],
    paths: ["tests/full/examples_pages_test.ts"],
    minutes: 5,
    needs: [{ program: "jq", debianPackage: "jq" }],
  },
  {
    name: "large public OpenAPI documents",
    kind: "tests",
    options: [],
    paths: ["tests/full/openapi"],
    minutes: 5,
    needs: [{ program: "npm", debianPackage: "npm" }, { program: "tar", debianPackage: "tar" }],
  },
  {
    name: "a minute of mixed load",
    kind: "tests",
    options: [],
    paths: ["tests/full/load"],
    minutes: 5,
  },
  {
    name: "how late the serving thread is under heavy work",
    kind: "tests",
    options: [],
    paths: ["tests/full/loop_delay_test.ts"],
    minutes: 5,
    needs: [{ program: "nice", debianPackage: "coreutils" }],
  },
  {
    name: "runpacks in a real object store",
    kind: "tests",
    options: [],
    paths: ["tests/full/s3"],
    minutes: 10,
    needs: [
      { program: "ceph-mon", debianPackage: "ceph-mon" },
      { program: "ceph-mgr", debianPackage: "ceph-mgr" },
      { program: "ceph-osd", debianPackage: "ceph-osd" },
      { program: "radosgw", debianPackage: "radosgw" },
    ],
  },
];
