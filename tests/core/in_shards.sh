#!/usr/bin/env bash
# in_shards.sh NUMBER PROGRAM...: runs a GoogleTest program as so many processes side by side, each with a share of the
# tests; prints one after the other, and fails if one has failed.
# For tests that wait: for timers, for silence, for other ranks. Not for tests that compute, of which each has a core as
# it is, or that look at a time which other work would spoil.
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
