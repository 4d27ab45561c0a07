"""`ringtree serve`: the store in a browser, on this machine.

For: looking through runs, reports side by side, the progress of a running comparison. Not for: other machines; tunnel
the port instead (ssh -L).
"""

from __future__ import annotations

from typing import Annotated

import typer

from ringtree.cli.options import RUNS, Runs
from ringtree.cli.outcome import exit_codes
from ringtree.errors import os_errors
from ringtree.show.serve import make_app


def serve(
    runs: Runs = RUNS,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")] = 8642,
) -> None:
    """Serve the stored runs as a small web app, to this machine only; Ctrl-C stops it."""
    with exit_codes():
        app = make_app(runs)
        import socket

        import uvicorn

        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with os_errors(f"can't listen on port {port}", "choose another --port"):
            listener.bind(("127.0.0.1", port))
            listener.listen()  # whoever reads the line below may connect at once
        typer.echo(f"http://127.0.0.1:{listener.getsockname()[1]}/ shows {runs}; Ctrl-C ends it")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        app.state.is_ending = lambda: server.should_exit
        server.run(sockets=[listener])
