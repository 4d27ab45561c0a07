"""The web app: a list of runs, their reports, the player, and what a running comparison has got so far.

For: `ringtree serve`. Not for: other machines: it binds to loopback and asks nobody for a password, so it answers only
requests that were made to a loopback name (a page elsewhere whose name was turned to 127.0.0.1 gets nothing).

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

from ringtree.errors import RingtreeError, UsageError
from ringtree.judge.runs import Contender, compare, read_contender
from ringtree.logs.storing import list_imports
from ringtree.results import list_runs
from ringtree.results.described import FIELDS, describe
from ringtree.schedules.schedule import schedule
from ringtree.show.compare_page import compare_page
from ringtree.show.html import packaged
from ringtree.show.player import page as player_page
from ringtree.show.player import scene
from ringtree.show.run_page import report_page
from ringtree.show.training_page import read_trainings, training_page
from ringtree.show.views import read_views

HERE = "ringtree.show.serve"
HOSTS = ["127.0.0.1", "localhost"]
POLL_SECONDS = 1.0
MAX_RUNS = 20
MAX_RANKS = 128
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
        return described(runs)

    @app.get("/report")
    def report(run: Annotated[list[str], Query()]) -> HTMLResponse:
        names = [known(runs, one) for one in run[:MAX_RUNS]]
        trainings = read_trainings(names, runs)
        if trainings:
            return HTMLResponse(training_page(trainings))
        views, title = read_views(names, runs)
        return HTMLResponse(report_page(views, title=title))

    @app.get("/compare")
    def compare_chosen(run: Annotated[list[str], Query()]) -> HTMLResponse:
        if len(run) < 2:
            raise UsageError("a comparison needs two runs: choose the baseline first, then the others")
        contenders = [contender(runs, one) for one in run[:MAX_RUNS]]
        heading = f"{', '.join(one.name for one in contenders[1:])} against {contenders[0].name}"
        try:
            found = compare(contenders)
        except UsageError as error:  # they have nothing in common: an answer, for whoever chose them
            return HTMLResponse(compare_page(None, heading=heading, problem=str(error), home="/"), status_code=400)
        return HTMLResponse(compare_page(found, heading=heading, home="/"))

    @app.get("/play")
    def play(algorithms: str = "ring,tree", ranks: int = 8, collective: str = "all_reduce") -> HTMLResponse:
        if not 1 <= ranks <= MAX_RANKS:
            raise UsageError(f"the player here takes 1 to {MAX_RANKS} ranks, not {ranks}")
        chosen = [schedule(collective, name, ranks) for name in algorithms.split(",") if name]
        text = player_page(
            [scene(one) for one in chosen],
            title=", ".join(one.name for one in chosen),
            alpha=1e-5,
            bandwidth=25e9,
            size_bytes=1 << 20,
            slice_bytes=128 << 10,
        )
        return HTMLResponse(text)

    @app.get("/events")
    async def events(request: Request) -> StreamingResponse:
        return StreamingResponse(changes(runs, request), media_type="text/event-stream")

    return app


def described(runs: Path) -> list[dict[str, Any]]:
    """Returns the runs and then the imported logs as lists show them, newest first, without their paths."""
    rows = [describe(one) for one in list_runs(runs)]
    for header in list_imports(runs):
        row = dict.fromkeys(FIELDS) | {"run_id": header.run_id, "state": "imported", "host": header.name}
        rows.append(row | {"created_utc": header.created_utc})
    return [{name: value for name, value in row.items() if name != "path"} for row in rows]


def contender(runs: Path, run_id: str) -> Contender:
    """Reads what the run, or the imported log, with this id measured. Raises UsageError if the store has none."""
    found = read_contender(known(runs, run_id), runs)
    return Contender(run_id, found.series, found.notes)


def known(runs: Path, run_id: str) -> str:
    """Returns where the run, or the imported log, with this id lies. Raises UsageError if the store has none."""
    stored = [one.run_id for one in list_runs(runs) if one.run is not None]
    if run_id not in [*stored, *(header.run_id for header in list_imports(runs))]:
        raise UsageError(f"there is no run {run_id!r} here")
    return str(runs / run_id)


async def changes(runs: Path, request: Request) -> AsyncIterator[str]:
    """Yields the list of runs as server-sent events: at once, then whenever it has changed. Ends with the request, and
    with the app."""
    last = ""
    while not request.app.state.is_ending() and not await request.is_disconnected():
        now = json.dumps(await asyncio.to_thread(described, runs))
        if now != last:
            last = now
            yield f"event: runs\ndata: {now}\n\n"
        else:
            yield ": still here\n\n"  # so that a closed connection is noticed
        await asyncio.sleep(POLL_SECONDS)
