#!/usr/bin/env bash
# An S3 object store on this machine, to try a fleet with: a Ceph cluster of one of each, which keeps everything in memory, with its
# gateway and the bucket "gate". Not for production.
#
#   apt-get install ceph-mon ceph-mgr ceph-osd radosgw curl openssl
#   config/fleet/object_store.sh start DIR PORT    # PORT is the gateway's; the two ports after it are the monitor's
#   config/fleet/object_store.sh stop DIR
set -euo pipefail

usage() { sed -n '2,7p' "${BASH_SOURCE[0]}"; exit 2; }
[[ $# -ge 2 ]] || usage
dir="$(realpath -m "$2")"
export CEPH_CONF="$dir/ceph.conf"

write_configuration() {
  cat >"$CEPH_CONF" <<EOF
[global]
fsid = $1
mon host = [v2:127.0.0.1:$(($2 + 1)),v1:127.0.0.1:$(($2 + 2))]
keyring = $dir/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd crush chooseleaf type = 0
mon allow pool size one = true
public addr = 127.0.0.1
cluster addr = 127.0.0.1
run dir = $dir
admin socket = $dir/\$name.asok
log file = $dir/\$name.log
crash dir = $dir
[mon.a]
mon data = $dir/mon
[mgr.x]
mgr data = $dir/mgr
[osd.0]
osd data = $dir/osd
osd objectstore = memstore
memstore device bytes = 536870912
[client.rgw.a]
rgw data = $dir/rgw
rgw frontends = beast endpoint=127.0.0.1:$2
EOF
}

make_keys() {
  local all=(--cap mon "allow *" --cap osd "allow *" --cap mgr "allow *" --cap mds "allow *") name
  ceph-authtool --create-keyring "$dir/keyring" --gen-key -n client.admin "${all[@]}"
  for name in client.rgw.a osd.0 mgr.x; do ceph-authtool "$dir/keyring" --gen-key -n "$name" "${all[@]}"; done
  ceph-authtool --create-keyring "$dir/mon.keyring" --gen-key -n mon. --cap mon "allow *"
  ceph-authtool "$dir/mon.keyring" --import-keyring "$dir/keyring"
}

# Starts a daemon of the cluster, and keeps its process id.
daemon() {
  nohup "$@" -f </dev/null >/dev/null 2>&1 &
  echo $! >"$dir/$1.pid"
}

start_cluster() {
  local osd
  osd="$(</proc/sys/kernel/random/uuid)"
  monmaptool --create --addv a "[v2:127.0.0.1:$(($2 + 1)),v1:127.0.0.1:$(($2 + 2))]" --fsid "$1" "$dir/monmap"
  ceph-mon --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/mon.keyring"
  daemon ceph-mon -i a
  ceph --connect-timeout 60 osd new "$osd" 0
  daemon ceph-mgr -i x
  ceph-osd -i 0 --mkfs --osd-uuid "$osd"
  daemon ceph-osd -i 0
  radosgw-admin user create --uid=gate --display-name=gate --access-key="$(<"$dir/access_key")" --secret-key="$(<"$dir/secret_key")"
  daemon radosgw -n client.rgw.a
}

make_bucket() {
  # The hash of an empty body, which curl of Debian 12 does not send.
  local body=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
  curl -fsS -X PUT --aws-sigv4 aws:amz:us-east-1:s3 --user "$(<"$dir/access_key"):$(<"$dir/secret_key")" \
    -H "x-amz-content-sha256: $body" "http://127.0.0.1:$1/gate"
}

start() {
  local id tries
  mkdir -p "$dir"/{mon,mgr,osd,rgw}
  umask 077
  openssl rand -hex 10 | tr -d '\n' >"$dir/access_key"
  openssl rand -hex 20 | tr -d '\n' >"$dir/secret_key"
  id="$(</proc/sys/kernel/random/uuid)"
  write_configuration "$id" "$1"
  { make_keys && start_cluster "$id" "$1"; } >"$dir/log" 2>&1
  for ((tries = 0; tries < 600; tries++)); do
    if make_bucket "$1" >>"$dir/log" 2>&1; then return; fi
    sleep 0.2
  done
  echo "Cannot go on: the object store does not answer, see $dir/log" >&2
  exit 1
}

case "$1" in
  start) [[ $# -eq 3 ]] || usage; start "$3" ;;
  stop) for file in "$dir"/*.pid; do kill -9 "$(<"$file")" 2>/dev/null || true; done ;;
  *) usage ;;
esac
