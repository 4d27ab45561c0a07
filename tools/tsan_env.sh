#!/usr/bin/env bash
# Runs a command where ThreadSanitizer can live: tsan_env.sh ctest --preset tsan
# TSan of gcc 12 and older aborts ("unexpected memory mapping") when the kernel scatters mappings over more than 28 bits,
# as newer kernels do. Asked in this order: no scattering for this command only; a smaller setting of the kernel (root);
# as it is. Not for the other sanitizers: they do not care.
set -euo pipefail

export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0) # unreadable in some containers: then try as it is
if [ "$bits" -le 28 ]; then
  exec "$@"
elif setarch "$(uname -m)" -R true 2>/dev/null; then
  exec setarch "$(uname -m)" -R "$@"
elif sysctl -q -w vm.mmap_rnd_bits=28 2>/dev/null; then
  exec "$@"
fi
echo "ringtree: TSan may abort here with 'unexpected memory mapping'. Run as root: sysctl vm.mmap_rnd_bits=28" >&2
exec "$@"
