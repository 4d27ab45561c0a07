"""Sentences that claims are made of in tests: what is said, what must be found, and the tables that it is said of.

For: test_audit_claims.py. Not for: the claims themselves (tests/python/audit/claims_of_*.txt).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

from ringtree.audit.claims import ClaimsFile, Judgement, Verdict, judge

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HOLDS, FALLS, OPEN = Verdict.HOLDS, Verdict.FALLS, Verdict.OPEN


class Said(NamedTuple):
    """`says`: fields of a statement in TOML. `shows`: what reason or arithmetic must mention. `table`: of TABLES."""

    says: str
    verdict: Verdict
    shows: str = ""
    table: str = ""
    claim: str = ""  # further fields of the claim


TABLES = {
    # busbw of 8 ranks: 1 GiB / 4 ms = 268.4, times 1.75 = 469.8; 64 MiB / 0.5 ms = 134.2, times 1.75 = 234.9.
    "busbw.csv": "size,ring_ms,ring_GBps,nvls_ms,nvls_GBps\n64 MB,0.50,234.9,0.40,293.6\n1 GB,4.00,469.8,4.10,458.3\n",
    # algbw, sizes of 10^6: 100 MB / 1 ms = 100, 200 MB / 1.25 ms = 160.
    "algbw.csv": "gpus,size,time_ms,algbw_GBps\n4,100 MB,1.00,100.0\n4,200 MB,1.25,160.0\n",
    "training.csv": "model,nodes,default_tokens_per_s,tree_tokens_per_s,runs_per_cell\n"
    "Llama-8B,1,1000,1010,1\nLlama-8B,4,3600,3700,1\nGemma-2B,1,5000,5000,1\nGemma-2B,4,19000,4000,1\n",
    "latency.csv": "size,ring_us,tree_us\n1 KB,40,20\n64 KB,50,30\n1 MB,90,80\n16 MB,400,600\n256 MB,5000,11000\n",
    # (n-1) times size/time: 1 GiB / 4 ms · 7 = 1879.
    "seven.csv": "gpus,size,ring_ms,ring_GBps\n8,64 MB,0.50,939.5\n8,1 GB,4.00,1879\n",
    # 1 GiB / 2 ms = 536.9 GB/s is more than an A100 can send, whatever the column is called.
    "untimed.csv": "size,algbw_GBps,busbw_GBps\n1 GB,100,150\n",
    "fast.csv": "size,time_ms,algbw_GBps\n512 MB,1.00,536.9\n1 GB,2.00,536.9\n",
}
DATA = {"A100": 'gpu = "A100-SXM4-80GB", ranks = 8, hosts = 1', "H100": 'gpu = "NVIDIA H100 80GB HBM3"'}


def read_said(file: Path) -> list[Said]:
    """Returns the claims of a text file, whose first lines say how it is written."""
    lines = (line for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return [_said(*(part.strip() for part in line.split("|"))) for line in lines]


def _said(verdict: str, shows: str, says: str, table: str = "", claim: str = "") -> Said:
    return Said(says, Verdict[verdict.upper()], shows, table, DATA[claim[1:]] if claim.startswith("@") else claim)


def said_so(folder: Path, *says: str, table: str = "", claim: str = "") -> Judgement:
    for name, text in TABLES.items():
        (folder / name).write_text(text)
    statements = ", ".join(f"{{{one}}}" for one in says)
    fields = f'sentence = "so it is said", table = "{table}", says = [{statements}]' + (f", {claim}" if claim else "")
    data: dict[str, Any] = tomllib.loads(f"claims = [{{{fields}}}]")
    (found,) = judge(ClaimsFile.model_validate(data), folder).judgements
    return found
