#!/usr/bin/env bash
# What `make` needs from the machine and puts into .venv, one verb each:
#   setup.sh toolchain | venv | build-tools | torch | package | extra NAME | gtest | spin | pkg-config | mpi | namespaces |
#   slurm | browser
# Every verb may be repeated: it probes first and changes nothing that is there already. System packages come from apt
# where we may (root, or sudo that asks for no password); elsewhere the exact command is printed and we stop.
# Not for building or testing: that is the Makefile's.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON=${PYTHON:-python3}
CXX=${CXX:-c++}
VENV=${VENV:-.venv}
TORCH_INDEX=${TORCH_INDEX:-}
venv_python=$VENV/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { printf 'ringtree: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# apt_install REASON PACKAGE...
apt_install() {
  local reason=$1
  shift
  local -a as_root=()
  command -v apt-get >/dev/null ||
    die "$reason. Install it with your system's package manager (Debian calls it: $*), then run make again"
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || die "$reason. Run: sudo apt-get install -y $*   then run make again"
    as_root=(sudo -n)
  fi
  say "$reason: installing $* with apt"
  # A failed update (one mirror down) need not matter: the install below says what does.
  "${as_root[@]}" apt-get update -qq </dev/null >&2 || true
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >&2 ||
    die "$reason, and apt could not install it. Run: apt-get update && apt-get install -y $*   then run make again"
}

# Debian names the parts of its default Python python3-*, those of any other python3.12-* and so on.
debian_python() {
  local version default
  version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  default=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true)
  if [ "$version" = "$default" ]; then echo python3; else echo "python$version"; fi
}

compiles() { "$CXX" -std=c++20 -x c++ -fsyntax-only "$@" - >/dev/null 2>&1; }
has_cpp20() { printf '#include <concepts>\n#include <span>\nint main() {}\n' | compiles; }
has_python_headers() {
  local include
  include=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
  printf '#include <Python.h>\n' | compiles -I"$include"
}
has_gtest() { printf '#include <gtest/gtest.h>\n' | compiles || [ -n "${GTest_ROOT:-}${CMAKE_PREFIX_PATH:-}" ]; }

toolchain() {
  command -v "$PYTHON" >/dev/null || apt_install "there is no $PYTHON" python3
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    die "$("$PYTHON" --version) is too old: ringtree needs 3.10 or newer. Run: make PYTHON=<a newer python3> …"
  has_cpp20 || apt_install "$CXX does not compile C++20" g++
  has_cpp20 || die "$CXX does not compile C++20: ringtree needs g++ 11, clang 14 or newer. Run: make CXX=<compiler> …"
  has_python_headers || apt_install "the headers of $PYTHON (Python.h) are missing" "$(debian_python)-dev"
  has_python_headers || die "Python.h of $PYTHON is still missing: run make PYTHON=<a python with its headers> …"
}

# The oldest PyTorch that pyproject.toml's extra accepts is 2.6.
has_torch() {
  "$1" -W ignore -c 'import sys, torch; sys.exit(tuple(map(int, torch.__version__.split(".")[:2])) < (2, 6))' 2>/dev/null
}

venv() {
  if [ ! -x "$venv_python" ]; then
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null ||
      apt_install "$PYTHON cannot make virtual environments" "$(debian_python)-venv"
    if has_torch "$PYTHON"; then
      say "using the PyTorch of $PYTHON"
      "$PYTHON" -m venv --system-site-packages "$VENV"
      # Where $PYTHON is itself in a virtual environment, "system" means the Python below it: add the one in between.
      has_torch "$venv_python" ||
        "$PYTHON" -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])' \
          >"$("$venv_python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/ringtree_outer_venv.pth"
    else
      "$PYTHON" -m venv "$VENV"
    fi
  fi
  "$venv_python" -m pip --version >/dev/null 2>&1 || "$venv_python" -m ensurepip --upgrade >/dev/null
}

pip_install() { "$venv_python" -m pip install -c constraints.txt "$@" </dev/null >&2; }

# own_program PACKAGE PROGRAM: a package of the environment around ours satisfies pip, but leaves no program in .venv/bin.
own_program() { [ -x "$VENV/bin/$2" ] || pip_install -q --ignore-installed --no-deps "$1"; }

build_tools() {
  local -a wanted=(scikit-build-core nanobind cmake ninja)
  # nanobind's stub generator needs it on Python 3.10
  "$venv_python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || wanted+=(typing_extensions)
  pip_install -q "${wanted[@]}"
  own_program cmake cmake
  own_program ninja ninja
}

torch() {
  if has_torch "$venv_python"; then return; fi
  local -a from=()
  case $TORCH_INDEX in
    '') ;;
    *://*) from=(--index-url "$TORCH_INDEX") ;;
    *)
      [ -d "$TORCH_INDEX" ] || die "TORCH_INDEX=$TORCH_INDEX is neither a URL nor a folder"
      from=(--find-links "$TORCH_INDEX")
      ;;
  esac
  if [ -z "$TORCH_INDEX" ]; then
    say "installing PyTorch: a plain package index may fetch the CUDA build, gigabytes that nothing here needs;" \
      "TORCH_INDEX=<url or folder> picks the CPU build, whose index PyTorch's install page names"
  else
    say "installing PyTorch from TORCH_INDEX"
  fi
  pip_install "${from[@]}" torch && has_torch "$venv_python" && return
  # Not fatal: all that needs no PyTorch still works, and `ringtree compare` says which arms it leaves out.
  say "PyTorch could not be installed, so there is no Gloo to compare with; the rest works." \
    "PyTorch's install page names the index of the CPU build: make torch TORCH_INDEX=<that url, or a folder of wheels>"
}

# Editable, in scikit-build-core's redirect mode: an edited .py counts at once, the Makefile runs this again when C++
# changed. A plain install would be shadowed by the folder ringtree/ (which has no _core) in every process that is
# started in the repository's root; rebuild-on-import would have all ranks of a launch start the compiler together.
package() {
  say "building and installing ringtree (the first time compiles the C++ core: a few minutes)"
  pip_install -q --no-build-isolation -e .
  # mypy reads the sources, not the import hook: it finds the types of ringtree._core only beside them.
  local site
  site=$("$venv_python" -c 'import sysconfig; print(sysconfig.get_paths()["platlib"])')
  cp "$site/ringtree/_core.pyi" ringtree/_core.pyi
}

# The installed ringtree satisfies the requirement, so pip adds what the extra names and leaves the package alone.
extra() {
  pip_install -q "ringtree[$1]"
  if [ "$1" = dev ]; then
    own_program ruff ruff
    own_program import-linter lint-imports
    own_program clang-format clang-format
    own_program clang-tidy clang-tidy
  fi
}

gtest() {
  has_gtest || apt_install "GoogleTest is missing" libgtest-dev
}

# `command -v` would find this function.
spin() {
  type -P spin >/dev/null || apt_install "the model checker Spin is missing" spin
}

pkg_config() {
  command -v pkg-config >/dev/null || apt_install "pkg-config is missing" pkg-config
}

mpi() {
  { command -v mpicc && command -v mpirun; } >/dev/null || apt_install "there is no MPI" openmpi-bin libopenmpi-dev
}

namespaces() {
  { command -v ip && command -v bridge && command -v tc && command -v nsenter; } >/dev/null ||
    apt_install "what makes hosts out of network namespaces (ip, bridge, tc, nsenter) is missing" iproute2 util-linux
}

# Needs no systemd: the tests start its daemons themselves.
slurm() {
  local PATH=$PATH:/usr/sbin:/sbin
  { type -P slurmctld && type -P slurmd && type -P srun && type -P munged; } >/dev/null ||
    apt_install "there is no Slurm" slurm-wlm munge
}

browser() {
  command -v chromium >/dev/null || apt_install "a browser for the tests of pages is missing" chromium
}

verb=${1:-}
case $verb in
  toolchain | venv | torch | package | gtest | spin | mpi | namespaces | slurm | browser) "$verb" ;;
  build-tools) build_tools ;;
  pkg-config) pkg_config ;;
  extra) extra "${2:?extra needs a name}" ;;
  *) die "unknown verb '$verb': toolchain, venv, build-tools, torch, package, extra NAME, gtest, spin, pkg-config, mpi, namespaces, slurm, browser" ;;
esac
