#!/usr/bin/env bash
# in_shards.sh NUMBER SECONDS PROGRAM...: runs a GoogleTest program as so many processes side by side, each with a share
# of the tests and ended after so many seconds; prints one after the other, and fails if one has failed.
# For tests that wait: for timers, for silence, for other ranks. Not for tests that keep a core busy, or that measure
# how fast something is.
set -euo pipefail

number=$1 seconds=$2
shift 2
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
export GTEST_TOTAL_SHARDS=$number
shards=()
for ((shard = 0; shard < number; ++shard)); do
  GTEST_SHARD_INDEX=$shard timeout "$seconds" "$@" >"$said/$shard" 2>&1 &
  shards+=($!)
done
failed=0
for ((shard = 0; shard < number; ++shard)); do
  code=0
  wait "${shards[shard]}" || code=$? failed=1
  cat "$said/$shard"
  [ $code != 124 ] || echo "in_shards.sh: shard $shard did not end in $seconds s"
done
exit "$failed"
