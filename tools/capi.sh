#!/usr/bin/env bash
# libringtree as an outside user meets it: builds and installs the library, then builds the examples from the installation
# alone, by pkg-config and by find_package, and runs them. What fails ends it with the failing command's exit code.
#   capi.sh          into build/dev, build/capi-install and build/capi-examples; wants cmake and ninja on PATH
# The library is the one that the C++ tests use, so that the core is not compiled once more. Its Release build is in the
# Python package, whose torch.distributed backend calls it.
# The MPI example takes part where mpicc and mpirun are; where not, that is said. Not for the library's own tests, which
# are tests/core/capi.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$PWD/build/dev
prefix=$PWD/build/capi-install
examples=$PWD/build/capi-examples
jobs=${JOBS:-$(nproc)}

say() { printf '\n--- %s\n' "$*"; }

say "libringtree: build, install into ${prefix#"$PWD/"}"
cmake --preset dev -DRINGTREE_WERROR="${WERROR:-OFF}" -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --build "$build" --target ringtree -j "$jobs"
rm -rf "$prefix" "$examples"
cmake --install "$build" --prefix "$prefix" >/dev/null
(cd "$prefix" && find . -type f -o -type l | sort)

# An outside user's folder: nothing of the source tree can be found from there by accident.
mkdir -p "$examples"
cp -r examples/c examples/mpi "$examples/"
cd "$examples"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
unset LD_LIBRARY_PATH

say "examples/c by pkg-config ($(pkg-config --modversion ringtree))"
make -C c
c/all_reduce 2
RINGTREE_IFNAME=lo c/all_reduce 2 # the ranks meet as those of several hosts do

say "examples/c by find_package"
cmake -S c -B c/build -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build c/build
c/build/all_reduce 2

if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
  say "examples/mpi with $(mpirun --version 2>&1 | head -n 1)"
  make -C mpi
  # Open MPI refuses root and more ranks than cores unless told, each major version by its own variables; others do not
  # read them.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  mpirun -n 2 mpi/beside_mpi
  say "examples/mpi as if on two hosts"
  mpirun -n 1 env RINGTREE_HOSTID=a mpi/beside_mpi : -n 1 env RINGTREE_HOSTID=b mpi/beside_mpi
else
  say "examples/mpi left out: there is no mpicc and mpirun (Debian: apt-get install openmpi-bin libopenmpi-dev)"
fi
