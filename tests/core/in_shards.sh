#!/usr/bin/env bash
# in_shards.sh NUMBER PROGRAM...: runs a GoogleTest program as so many processes side by side, each with a share of the
# tests; prints one after the other, and fails if one has failed.
# For tests that mostly wait: for timers, and for silence. Not for tests that compute or spin, which would take each
# other's cores.
set -euo pipefail

number=$1
shift
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
export GTEST_TOTAL_SHARDS=$number
shards=()
for ((shard = 0; shard < number; ++shard)); do
  GTEST_SHARD_INDEX=$shard "$@" >"$said/$shard" 2>&1 &
  shards+=($!)
done
failed=0
for ((shard = 0; shard < number; ++shard)); do
  wait "${shards[shard]}" || failed=1
  cat "$said/$shard"
done
exit "$failed"
