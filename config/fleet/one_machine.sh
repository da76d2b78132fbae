#!/usr/bin/env bash
# Brings up the set-up of docs/guide/fleet.md on this machine, to try it and to break it: three gate servers, nginx, a PostgreSQL
# primary with a synchronous standby, and an S3 object store. Not for production: everything is on one disk.
#
#   apt-get install nginx postgresql openssl curl procps ceph-mon ceph-mgr ceph-osd radosgw
#   config/fleet/one_machine.sh start DIR     # prints the address, the token and the file of the authority
#   config/fleet/one_machine.sh promote DIR   # after the primary was killed
#   config/fleet/one_machine.sh stop DIR
#
# Variables: GATE (the command; default gate), GATE_PORTS (first of nine ports; default 8440), GATE_PROVIDERS (a file with further
# configuration), S3_ENDPOINT (another object store with the bucket "gate", and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY). Without radosgw
# and without S3_ENDPOINT the servers share a folder of runpacks.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

usage() { sed -n '2,12p' "${BASH_SOURCE[0]}"; exit 2; }
[[ $# -eq 2 ]] || usage
dir="$(realpath -m "$2")"
read -r -a gate <<<"${GATE:-gate}"
ports="${GATE_PORTS:-8440}"
primary_port=$((ports + 4))
standby_port=$((ports + 5))
postgres_bin="$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)"

# PostgreSQL refuses to run as root.
as_postgres() { if [[ "$(id -u)" == 0 ]]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi; }

# Runs SQL as the owner on one of the servers.
sql() { PGPASSWORD="$(<"$dir/owner.password")" psql -h 127.0.0.1 -p "$1" -U gate_owner -d "${3:-postgres}" -v ON_ERROR_STOP=1 -qAtc "$2"; }

until_true() {
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    if "${@:2}" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  echo "Cannot go on: $1" >&2
  exit 1
}

start_postgres() {
  local options="-c port=$2 -c listen_addresses=127.0.0.1 -c unix_socket_directories=$dir/postgres"
  as_postgres "$postgres_bin/pg_ctl" -D "$dir/postgres/$1" -s -w -l "$dir/postgres/$1.log" -o "$options" start
}

is_synchronous() { [[ "$(sql "$primary_port" "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" == 1 ]]; }

# Names the object store, and starts one where none is named.
start_object_store() {
  if [[ -n "${S3_ENDPOINT:-}" ]] || ! command -v radosgw >/dev/null; then return; fi
  "$here/object_store.sh" start "$dir/s3" "$((ports + 6))"
  S3_ENDPOINT="http://127.0.0.1:$((ports + 6))"
  AWS_ACCESS_KEY_ID="$(<"$dir/s3/access_key")"
  AWS_SECRET_ACCESS_KEY="$(<"$dir/s3/secret_key")"
  export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
}

start_databases() {
  mkdir -p "$dir/postgres"
  openssl rand -hex 24 | tr -d '\n' >"$dir/owner.password"
  openssl rand -hex 24 | tr -d '\n' >"$dir/server.password"
  cp "$dir/owner.password" "$dir/postgres/owner.password"
  if [[ "$(id -u)" == 0 ]]; then
    chmod 711 "$dir"
    chown -R postgres "$dir/postgres"
  fi
  as_postgres test -w "$dir/postgres" || { echo "Cannot start the fleet: user postgres cannot reach \"$dir/postgres\"" >&2; exit 1; }
  as_postgres "$postgres_bin/initdb" -D "$dir/postgres/primary" -U gate_owner -A scram-sha-256 --pwfile="$dir/postgres/owner.password" \
    -E UTF8 --locale=C >/dev/null
  start_postgres primary "$primary_port"
  local source="host=127.0.0.1 port=$primary_port user=gate_owner password=$(<"$dir/owner.password")"
  as_postgres "$postgres_bin/pg_basebackup" -d "$source" -D "$dir/postgres/standby" -R -X stream -c fast
  start_postgres standby "$standby_port"
  # From here on each commit waits until the standby has it on disk.
  sql "$primary_port" "ALTER SYSTEM SET synchronous_standby_names = '*'"
  sql "$primary_port" "SELECT pg_reload_conf()" >/dev/null
  until_true "the standby does not become synchronous" is_synchronous
  sql "$primary_port" "CREATE ROLE gate_server LOGIN PASSWORD '$(<"$dir/server.password")'"
  sql "$primary_port" "CREATE DATABASE gate"
}

database_url() { echo "postgres://$1:$(<"$dir/$2.password")@127.0.0.1:$primary_port,127.0.0.1:$standby_port/gate"; }

write_configuration() {
  local config="$dir/gate$1/gate.toml" digest
  digest="$(printf %s "$(<"$dir/token")" | sha256sum | cut -d ' ' -f 1)"
  mkdir -p "$dir/gate$1"
  sed -e "s|0\.0\.0\.0:8080|127.0.0.1:$((ports + $1))|" \
    -e "s|<sha256 of the pipeline's token>|$digest|" -e "s|/var/log/gate/|$dir/gate$1/|" -e "s|/etc/gate/state.key|$dir/state.key|" \
    "$here/gate.toml" >"$config"
  if [[ -n "${S3_ENDPOINT:-}" ]]; then
    sed -i "s|^endpoint = .*|endpoint = \"$S3_ENDPOINT\"\nallow_http = true|" "$config"
  else
    sed -i '/^# Credentials come/,$d' "$config"
  fi
  if [[ -n "${GATE_PROVIDERS:-}" ]]; then cat "$GATE_PROVIDERS" >>"$config"; fi
}

start_gate() {
  local data="$dir/shared"
  if [[ -n "${S3_ENDPOINT:-}" ]]; then data="$dir/gate$1"; fi
  GATE_DATABASE="$(database_url gate_server server)" nohup "${gate[@]}" serve --config "$dir/gate$1/gate.toml" --data-dir "$data" \
    --allowed-host localhost </dev/null >/dev/null 2>"$dir/gate$1/log" &
  echo $! >"$dir/gate$1/pid"
}

is_ready() { curl -fsS "http://127.0.0.1:$((ports + $1))/readyz"; }

make_certificate() {
  local key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
  openssl req -x509 "${key[@]}" -days 30 -subj /CN=authority -keyout "$dir/nginx/authority.key" -out "$dir/nginx/authority.pem"
  openssl req "${key[@]}" -subj /CN=localhost -keyout "$dir/nginx/server.key" -out "$dir/nginx/server.csr"
  echo subjectAltName=DNS:localhost,IP:127.0.0.1 >"$dir/nginx/server.ext"
  openssl x509 -req -days 30 -in "$dir/nginx/server.csr" -CA "$dir/nginx/authority.pem" -CAkey "$dir/nginx/authority.key" \
    -CAcreateserial -extfile "$dir/nginx/server.ext" -out "$dir/nginx/server.pem"
}

start_nginx() {
  mkdir -p "$dir/nginx"
  make_certificate 2>/dev/null
  {
    if [[ "$(id -u)" == 0 ]]; then echo "user root;"; fi
    printf 'pid %s/nginx/pid;\nevents {}\nhttp {\naccess_log off;\n' "$dir"
    for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $dir/nginx/$kind;"; done
    sed -e "s|listen 443|listen 127.0.0.1:$ports|" -e "s|/etc/nginx/tls/|$dir/nginx/|" -e "s|gate.example.com|localhost|" \
      -e "s|10\.0\.0\.11:8080|127.0.0.1:$((ports + 1))|" -e "s|10\.0\.0\.12:8080|127.0.0.1:$((ports + 2))|" \
      -e "s|10\.0\.0\.13:8080|127.0.0.1:$((ports + 3))|" "$here/nginx.conf"
    echo '}'
  } >"$dir/nginx/nginx.conf"
  nginx -p "$dir/nginx" -c "$dir/nginx/nginx.conf" -e "$dir/nginx/log"
}

# Nothing was started yet, so nothing has to be stopped.
require_programs() {
  local program
  for program in "${gate[0]}" "${postgres_bin:-postgresql}/initdb" psql nginx openssl curl ps; do
    command -v "$program" >/dev/null || { echo "Cannot start the fleet: \"$program\" is not found" >&2; exit 2; }
  done
}

start() {
  [[ ! -e "$dir" ]] || { echo "Cannot start the fleet: \"$dir\" exists" >&2; exit 2; }
  require_programs
  mkdir -p "$dir" "$dir/shared"
  umask 077
  openssl rand -hex 32 | tr -d '\n' >"$dir/token"
  openssl rand -out "$dir/state.key" 32
  start_object_store
  start_databases
  for server in 1 2 3; do write_configuration "$server"; done
  GATE_DATABASE="$(database_url gate_server server)" GATE_OWNER="$(database_url gate_owner owner)" "${gate[@]}" store migrate \
    --config "$dir/gate1/gate.toml" --owner env:GATE_OWNER --server-role gate_server
  for server in 1 2 3; do start_gate "$server"; done
  for server in 1 2 3; do until_true "server $server is not ready, see $dir/gate$server/log" is_ready "$server"; done
  start_nginx
  echo "address: https://localhost:$ports/mcp"
  echo "token: $(<"$dir/token")"
  echo "authority: $dir/nginx/authority.pem"
}

promote() {
  as_postgres "$postgres_bin/pg_ctl" -D "$dir/postgres/standby" -s -w promote
  # It inherited this setting, and would wait for a standby that does not exist.
  sql "$standby_port" "ALTER SYSTEM SET synchronous_standby_names = ''"
  sql "$standby_port" "SELECT pg_reload_conf()" >/dev/null
}

# A process that ended counts as gone before its parent has read its state.
is_gone() {
  local state
  state="$(ps -o stat= -p "$1" || true)"
  [[ -z "$state" || "$state" == Z* ]]
}

stop() {
  local file
  for file in "$dir"/nginx/pid "$dir"/gate[123]/pid; do
    if [[ -e "$file" ]]; then kill "$(<"$file")" 2>/dev/null || true; fi
  done
  for file in "$dir"/gate[123]/pid; do
    if [[ -e "$file" ]]; then until_true "a server does not stop" is_gone "$(<"$file")"; fi
  done
  if [[ -e "$dir/s3" ]]; then "$here/object_store.sh" stop "$dir/s3"; fi
  for name in primary standby; do
    as_postgres "$postgres_bin/pg_ctl" -D "$dir/postgres/$name" -s -m immediate -t 10 stop 2>/dev/null || true
  done
}

case "$1" in
  start) start ;;
  promote) promote ;;
  stop) stop ;;
  *) usage ;;
esac
