"""Sentences of our own, true and false, for every form of ringtree.audit.claims.

For: that forms read what they say and not particular sentences. Not for: the published ones
(test_audit_claims_published.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from ringtree.audit.claims import Verdict, judge

HOLDS, FALLS, OPEN = Verdict.HOLDS, Verdict.FALLS, Verdict.OPEN


class Said(NamedTuple):
    """`shows`: what reason or arithmetic must mention. `table`: a name of TABLES; empty for none."""

    sentence: str
    verdict: Verdict
    shows: str = ""
    table: str = ""


# Names say which GPUs, as in the wild: "h100x8" is eight H100.
TABLES = {
    # busbw of 8 ranks: 1 GiB / 4 ms = 268.4, times 1.75 = 469.8; 64 MiB / 0.5 ms = 134.2, times 1.75 = 234.9.
    "h100x8-busbw.csv": "size,ring_ms,ring_GBps,nvls_ms,nvls_GBps\n"
    "64 MB,0.50,234.9,0.40,293.6\n1 GB,4.00,469.8,4.10,458.3\n",
    # algbw, sizes of 10^6: 100 MB / 1 ms = 100, 200 MB / 1.25 ms = 160.
    "algbw.csv": "gpus,size,time_ms,algbw_GBps\n4,100 MB,1.00,100.0\n4,200 MB,1.25,160.0\n",
    "training.csv": "model,nodes,default_tokens_per_s,tree_tokens_per_s,runs_per_cell\n"
    "Llama-8B,1,1000,1010,1\nLlama-8B,4,3600,3700,1\nGemma-2B,1,5000,5000,1\nGemma-2B,4,19000,4000,1\n",
    "latency.csv": "size,ring_us,tree_us\n1 KB,40,20\n64 KB,50,30\n1 MB,90,80\n16 MB,400,600\n256 MB,5000,11000\n",
    "a100x8-times.csv": "size,ring_ms\n17 GB,60\n",
    "latency.md": "| size | ring_us | tree_us |\n|---|--:|--:|\n| 1 KB | 40 | 20 |\n| 16 MB | 400 | 600 |\n",
}

SENTENCES = [
    # Steps: 2(n-1), 2·floor(log2 n), n-1 for one half; 2n-1 calls of a ring's program.
    Said("A ring of 32 ranks needs 62 steps", HOLDS, "62"),
    Said("A ring of 32 ranks needs 31 steps", FALLS, "62"),
    Said("With 64 GPUs a double binary tree takes 12 hops and a ring 126", HOLDS, "126"),
    Said("With 64 GPUs a tree takes 6 steps", FALLS, "only the way up"),
    Said("The reduce-scatter of a ring takes 7 steps for 8 GPUs", HOLDS, "7"),
    Said("The all-gather of a ring takes 14 steps for 8 GPUs", FALLS, "7"),
    Said("A ring all-reduce takes 2(N-1) steps", HOLDS),
    Said("A ring all-reduce takes N-1 steps", FALLS, "2(n-1)"),
    Said("A ring all-reduce takes 2N-1 hops", FALLS, "2(n-1)"),
    Said("Recursive doubling takes log2(N) steps", HOLDS),
    Said("Halving-doubling takes log2(N) steps", FALLS, "2·log2 n"),
    Said("A ring all-reduce of 8 ranks does not take 7 steps", HOLDS, "denies"),
    Said("A tree takes 8 steps", OPEN, "how many ranks"),
    # 2·7 = 14 steps of 10 µs.
    Said("Ring on 8 GPUs at 4 KB: 14 steps of 10 us", OPEN, "time of one"),
    Said("Ring on 8 GPUs at 4 KB: 7 steps of 20 us", FALLS, "14"),
    # Bytes.
    Said("In a ring each rank sends 1.75 x the size for 8 GPUs", HOLDS, "1.75"),
    Said("In a ring each rank sends 0.875 x the size for 8 GPUs", FALLS, "1.75"),
    Said("In a ring reduce-scatter every GPU sends (N-1)/N x S", HOLDS),
    Said("Each GPU receives (N-1)/N x the size in a ring all-reduce", FALLS),
    # A rank inside a double tree sends half of the size up and to two children, and half up as a leaf: 2·S.
    Said("In a double binary tree each rank sends 2 x the size for 16 GPUs", HOLDS, "2"),
    # Time and bandwidth.
    Said("A ring all-reduce takes 2(N-1)/N * S/B", HOLDS),
    Said("A ring all-reduce takes 2(N-1) * alpha + 2 (N-1)/N * S/B", HOLDS),
    Said("A ring all-reduce takes (N-1) * alpha + 2 (N-1)/N * S/B", FALLS),
    Said("A ring all-reduce takes N x S / bandwidth", FALLS),
    Said("A ring reduce-scatter takes (N-1)/N x S / bandwidth", HOLDS),
    Said("The effective bandwidth of a ring all-reduce is N/(2(N-1)) x the link bandwidth", HOLDS),
    Said("For large messages a ring all-reduce takes about 2 S / B", HOLDS),
    # Protocols and buffers: 4/8, 120/128 = 93.75 %; NVLink 0.6/1.9/3.4 µs a hop; 4 MiB, 512 KiB, 4800 KiB in 8 slots.
    Said("LL sends 4 bytes of data and 4 of flag, 50% of the bandwidth", HOLDS, "50"),
    Said("LL sends 4 bytes of data and 4 of flag, 75% of the bandwidth", FALLS, "50"),
    Said("LL128 carries 112 + 16 bytes", FALLS, "120"),
    Said("LL128 reaches 98% of the peak bandwidth", FALLS, "93.75"),
    Said("LL128 reaches 94% of the peak bandwidth", HOLDS, "93.75"),
    Said("Over NVLink LL, LL128 and Simple take about 0.6, 1.9 and 3.4 us a hop", HOLDS, "NVLink"),
    Said("Over NVLink LL, LL128 and Simple take about 1, 2 and 6 us a hop", FALLS, "0.6/1.9/3.4"),
    Said("The Simple buffer of a channel is 4 MiB in 8 slots of 512 KiB", HOLDS, "512 KiB"),
    Said("A channel's buffer is 512 KiB (LL) in 8 slots of 64 KiB", HOLDS, "64 KiB"),
    Said("A channel's buffer is 512 KiB (LL) in 8 slots of 32 KiB", FALLS, "256 KiB"),
    # Ports: 8 hosts' ring with 350 busbw over 8 ports: 43.75 each; two hosts that add up inside send algbw/8.
    Said(
        "350 GB/s busbw on 4 nodes means each of the 8 ports runs at 43.75 GB/s, 88% of the 50 GB/s line rate",
        HOLDS,
        "43.75",
    ),
    Said(
        "350 GB/s busbw on 4 nodes means each of the 8 ports runs at 43.75 GB/s, 98% of the 50 GB/s line rate",
        FALLS,
        "88",
    ),
    Said("240 GB/s algbw on 2 nodes of 8 GPUs means each of the 8 NICs sends 30 GB/s", HOLDS, "30"),
    # Shares of a peak: H100 450 each way, A100 300; 600 is both ways.
    Said("On H100 a busbw of 360 GB/s is 80% of the 450 GB/s of one direction", HOLDS, "80"),
    Said("On 8 x A100 a busbw of 240 GB/s is 40% of the theoretical 600 GB/s", FALLS, "300"),
    Said("A busbw of 240 GB/s is 50% of the theoretical 600 GB/s", FALLS, "40"),
    Said("A busbw of 60 GB/s is 50% of the theoretical 120 GB/s", OPEN, "not known"),
    # Links of a ring between hosts: as many as hosts.
    Said("With 4 nodes 4 of 32 ring hops cross InfiniBand (12.5%)", HOLDS, "4 of 32"),
    Said("With 4 nodes 8 of 32 ring hops cross InfiniBand (25%)", FALLS, "4 of 32"),
    Said("With 4 nodes 4 of 32 ring hops cross InfiniBand (25%)", FALLS, "12.5"),
    # Rates in the table, what they are, and what they are called.
    Said("Ring reaches 469.8 GB/s busbw at 1 GB", HOLDS, "busbw", "h100x8-busbw.csv"),
    Said("Ring reaches 469.8 GB/s algbw at 1 GB", FALLS, "268.4", "h100x8-busbw.csv"),
    Said("Ring reaches 300 GB/s at 1 GB", FALLS, "469.8", "h100x8-busbw.csv"),
    Said("The algbw at 200 MB is 160 GB/s", HOLDS, "160", "algbw.csv"),
    Said("The busbw at 200 MB is 240 GB/s", OPEN, "", "algbw.csv"),
    # 64 MiB / 1.21 ms = 55.46; times 1.875 = 104.
    Said("64 MB in 1.21 ms is 104 GB/s busbw with 16 GPUs", HOLDS, "104"),
    Said("64 MB in 1.21 ms is 104 GB/s algbw with 16 GPUs", FALLS, "busbw"),
    Said("64 MB in 1.21 ms is 70 GB/s with 16 GPUs", FALLS, "does not follow"),
    Said("257 GB/s algbw is 482 GB/s busbw with 16 GPUs", HOLDS, "1.875"),
    Said("257 GB/s algbw is 257 GB/s busbw with 16 GPUs", FALLS, "481.9"),
    # Comparisons: 293.6/234.9 = 1.25; 400 µs against 600, 5000 against 11000 (2.2 times: beyond noise).
    Said("NVLS is 25% faster than Ring at 64 MB", OPEN, "1.25", "h100x8-busbw.csv"),
    Said("NVLS is 40% faster than Ring at 64 MB", FALLS, "1.25", "h100x8-busbw.csv"),
    Said("Ring is 2.2x as fast as Tree at 256 MB", HOLDS, "noise", "latency.csv"),
    Said("Ring is 3x as fast as Tree at 256 MB", FALLS, "0.4545", "latency.csv"),
    Said("Ring takes 10 ms and Tree takes 8 ms: 20% lower", OPEN, "arithmetic holds"),
    Said("Ring takes 10 ms and Tree takes 8 ms: 50% lower", FALLS, "0.8"),
    Said("Tree is 2.8% higher than default at 4 nodes for Llama 8B", OPEN, "one run", "training.csv"),
    Said("Ring reaches 100 GB/s busbw and Tree 150 GB/s algbw, 50% more", FALLS, "algbw is compared with a busbw"),
    # Scaling: 3600/4000 = 90 %, 19000/20000 = 95 %.
    Said("Scaling efficiency at 4 nodes: Llama 90%, Gemma 95%", HOLDS, "90", "training.csv"),
    Said("Scaling efficiency at 4 nodes: Llama 95%, Gemma 90%", FALLS, "90", "training.csv"),
    # Crossover: between 1 MB (90 > 80) and 16 MB (400 < 600).
    Said("The crossover between ring and tree lies at about 4 MB", OPEN, "1 MB and 16 MB", "latency.csv"),
    Said("The crossover between ring and tree lies at about 64 MB", FALLS, "1 MB and 16 MB", "latency.csv"),
    Said("The crossover between ring and tree lies at 4 MB", OPEN, "1 KB and 16 MB", "latency.md"),
    # Rankings.
    Said("Tree is faster than Ring at every size", FALLS, "600 against 400", "latency.csv"),
    Said("Tree wins for small messages", HOLDS, "1 KB", "latency.md"),
    Said("Ring wins for large messages", OPEN, "one value a cell", "latency.csv"),
    Said("Ring wins for small messages", FALLS, "40 against 20", "latency.csv"),
    Said("The default beats Tree at every scale", FALLS, "3600 against 3700", "training.csv"),
    Said("Ring is always the best all-reduce algorithm", FALLS, "fewest steps"),
    # Forced algorithms: DDP all_reduces, FSDP does not; NCCL's Tree is for all_reduce only.
    Said("NCCL_ALGO=Tree changes the all-reduce of DDP training", HOLDS, "all_reduce"),
    Said("NCCL_ALGO=Tree speeds up ZeRO-3 training", FALLS, "reduce_scatter"),
    Said("NCCL_ALGO=Tree has no effect on the collectives of FSDP FULL_SHARD", HOLDS, "2.24"),
    Said("NCCL_ALGO=Ring does not change DDP training", FALLS, "all_reduce"),
    Said("Forcing Tree affects the all-gather", FALLS, "no Tree"),
    Said("Forcing Ring affects the reduce-scatter", HOLDS, "Ring"),
    # What links permit: 8 GPUs, 300 GB/s each way: algbw 300·8/14 = 171.4; 17 GB need 99.2 ms.
    Said("Ring reaches 290 GB/s busbw on 8 x A100", OPEN, ""),
    Said("Ring reaches 290 GB/s algbw on 8 x A100", FALLS, "171.4"),
    Said("The tree gets 1200 GB/s on 8 x A100", FALLS, "300"),
    Said("17 GB of gradients take 60 ms on 8 x A100", FALLS, "99.17 ms"),
    Said("17 GB of gradients take 120 ms on 8 x A100", OPEN, "permit"),
    # Times of the table; 17 GB in 60 ms is more than the links permit, wherever it stands.
    Said("Ring takes 40 us at 1 KB", HOLDS, "ring_us", "latency.csv"),
    Said("Ring takes 35 us at 1 KB", FALLS, "40 us", "latency.csv"),
    Said("Ring takes 40 us and tree takes 20 us at 1 KB", HOLDS, "tree_us", "latency.csv"),
    Said("Ring takes 20 us and tree takes 40 us at 1 KB", FALLS, "another time", "latency.csv"),
    Said("Ring takes at most 50 us up to 64 KB", HOLDS, "50 us", "latency.csv"),
    Said("Ring takes 40 us up to 64 KB", OPEN, "1 of 2", "latency.csv"),
    Said("Ring takes 20 us more than tree at 1 KB", OPEN, "", "latency.csv"),
    Said("NVLS takes 20 us at 1 KB", OPEN, "", "latency.csv"),
    Said("Ring takes 20 us below 512 bytes", OPEN, "no size in the range", "latency.csv"),
    Said("17 GB with Ring take 60 ms", FALLS, "99.17 ms", "a100x8-times.csv"),
    # Choice by size: never by size alone.
    Said("NCCL switches to Tree below 64 KB and Ring above", OPEN, "15.0 us"),
    Said("NCCL uses Ring with LL below 4 KB and Ring with Simple above", OPEN, "no thresholds"),
    # Mixtral-8x22B: 56·8·3·6144·16384 = 135.3e9 of 140.6e9 in experts: 96.2 %.
    Said("About 96% of the parameters of Mixtral-8x22B are in the experts", HOLDS, "96.2"),
    Said("28% of Mixtral's parameters are active for each token", HOLDS, "27.6"),
    Said("About 10% of Unknown-MoE's parameters are shared (not in experts)", OPEN, "not known"),
    # Rules of thumb, causes, the rest.
    Said("One can typically expect 92% of the theoretical peak", OPEN, "which advertised rate"),
    Said("Ring reaches 469.8 GB/s at 1 GB thanks to tuning", OPEN, "cause", "h100x8-busbw.csv"),
    Said("The moon is made of green cheese", OPEN, "no form"),
    Said("With 16 GPUs a ring takes 30 steps on 3 networks of 7 GB/s", OPEN, "nothing here checks"),
]


@pytest.mark.parametrize("said", SENTENCES, ids=[one.sentence for one in SENTENCES])
def test_sentence(said: Said, tmp_path: Path) -> None:
    table = None
    if said.table:
        table = tmp_path / said.table
        table.write_text(TABLES[said.table])
    found = judge(said.sentence, table)
    assert found.verdict is said.verdict, found
    assert said.shows.lower() in f"{found.reason} {found.arithmetic}".lower(), found
    if found.verdict is OPEN:
        assert found.settles, found
