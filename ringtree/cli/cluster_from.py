"""`ringtree cluster from LOG`: a description of the machine that printed a log.

For: `nvidia-smi topo -m`, NCCL's topology XML, NCCL_DEBUG lines; TOML on standard output, what was not found on
standard error. Not for: reading logs of timings (`ringtree import`), drawing (cluster_show.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtree.cli.options import MACHINE
from ringtree.cli.outcome import exit_codes
from ringtree.errors import RingtreeError, os_errors
from ringtree.show.printable import printable
from ringtree.simulate.cluster import Cluster, cluster_text
from ringtree.simulate.from_log import describe_log


def cluster_from(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The file.")],
    gpu: Annotated[str | None, MACHINE["gpu"]] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write. Default: standard output.")
    ] = None,
) -> None:
    """Describe a cluster from topo -m, NCCL's topology XML or its log; says what it could not find."""
    with exit_codes():
        described = describe_log(log, gpu)
        for line in described.found:
            typer.echo(printable(f"found: {line}"), err=True)
        for line in described.missing:
            typer.echo(printable(f"not found: {line}"), err=True)
        write_cluster(described.cluster, output)


def write_cluster(cluster: Cluster, output: Path | None) -> None:
    """Writes a description as TOML to a file, to standard output without one. Raises RingtreeError if it can't."""
    text = cluster_text(cluster)
    if output is None:
        typer.echo(text, nl=False)
        return
    with os_errors(f"can't write {output}", kind=RingtreeError):
        output.write_text(text, encoding="utf-8")
    typer.echo(printable(f"{output}: `ringtree cluster show {output}` draws it"))
