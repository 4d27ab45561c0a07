"""The web app: a list of runs, their reports, the player, and what a running comparison has got so far.

For: `ringtree serve`. Not for: what its pages show (pages.py); other machines: it binds to loopback and asks nobody for
a password, so it answers only requests that were made to a loopback name (a page elsewhere whose name was turned to
127.0.0.1 gets nothing).

Nothing can be written through it. A run is named by its id in the store and nothing else: no path comes from outside.
Needs FastAPI: imported by __init__.py when the app is made.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware

from ringtree.errors import RingtreeError
from ringtree.show.html import packaged
from ringtree.show.serve import pages

HERE = "ringtree.show.serve"
HOSTS = ["127.0.0.1", "localhost"]
POLL_SECONDS = 1.0
MAX_RUNS = 20
# Pages that are made here carry their own policy; this one is of the list.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'"
)
STATIC = {"index.js": "text/javascript", "index.css": "text/css"}


def make_app(runs: Path) -> FastAPI:
    """Returns the application over the store `runs`."""
    app = FastAPI(title="ringtree", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.is_ending = lambda: False  # whoever runs it says so: its open pages are then let go
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)

    @app.exception_handler(RingtreeError)
    async def on_error(_: Request, error: RingtreeError) -> Response:
        return JSONResponse({"error": str(error)}, status_code=400)

    @app.get("/")
    def index() -> HTMLResponse:
        return HTMLResponse(packaged(HERE, "index.html"), headers={"Content-Security-Policy": POLICY})

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in STATIC:
            raise HTTPException(404)
        return Response(packaged(HERE, name), media_type=STATIC[name])

    @app.get("/api/runs")
    def api_runs() -> list[dict[str, Any]]:
        return pages.described(runs)

    @app.get("/report")
    def report(run: Annotated[list[str], Query()]) -> HTMLResponse:
        return HTMLResponse(pages.report(runs, run[:MAX_RUNS]))

    @app.get("/compare")
    def compare(run: Annotated[list[str], Query()]) -> HTMLResponse:
        text, is_comparable = pages.comparison(runs, run[:MAX_RUNS])
        return HTMLResponse(text, status_code=200 if is_comparable else 400)  # an answer, for whoever chose them

    @app.get("/play")
    def play(algorithms: str = "ring,tree", ranks: int = 8, collective: str = "all_reduce") -> HTMLResponse:
        return HTMLResponse(pages.player(algorithms, ranks, collective))

    @app.get("/events")
    async def events(request: Request) -> StreamingResponse:
        return StreamingResponse(changes(runs, request), media_type="text/event-stream")

    return app


async def changes(runs: Path, request: Request) -> AsyncIterator[str]:
    """Yields the list of runs as server-sent events: at once, then whenever it has changed. Ends with the request, and
    with the app."""
    last = ""
    while not request.app.state.is_ending() and not await request.is_disconnected():
        now = json.dumps(await asyncio.to_thread(pages.described, runs))
        if now != last:
            last = now
            yield f"event: runs\ndata: {now}\n\n"
        else:
            yield ": still here\n\n"  # so that a closed connection is noticed
        await asyncio.sleep(POLL_SECONDS)
