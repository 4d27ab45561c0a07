"""What Ray runs for each agent: an actor that holds the agent's process and sends home what it says and stores.

For: one agent, on the node where Ray has placed it. Not for: placing actors (job.py), or measuring: the process is an
agent like any other launcher's (ringtree.measure.crew). Ray makes an actor of the class; nothing of Ray is needed
before.

run() and signal() are called side by side, so the actor needs two threads.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from ringtree.errors import UsageError
from ringtree.launchers.ray.held_agent import HeldAgent, Output
from ringtree.launchers.ray.mirror import Mirror, Piece, put
from ringtree.launchers.ray.seats import Found

TICK = 0.25  # seconds between two looks at the agent's files

Event = Output | tuple[Literal["file"], Piece] | tuple[Literal["ended"], int]


class AgentActor:
    """One agent. `where()`, then `run()` once."""

    def __init__(self) -> None:
        self._agent: HeldAgent | None = None
        self._signalled = False

    def where(self) -> Found:
        """Returns on which of Ray's nodes this is."""
        import ray

        context = ray.get_runtime_context()
        return Found(context.get_node_id(), ray.util.get_node_ip_address(), platform.node())

    def free_port(self, address: str) -> int:
        """Returns a port that was free at `address`, of this node, a moment ago."""
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as held:
            held.bind((address, 0))
            return int(held.getsockname()[1])

    def run(
        self,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        secret: str,
        files: Sequence[Piece],
        comes_home: bool,
    ) -> Iterator[list[Event]]:
        """Runs `ringtree <arguments>` to its end in a folder of its own, which is removed; yields what happens.

        `secret`: of the job, which the agent finds in a file. `files`: what lies in the folder before. `comes_home`:
        whether files that the agent writes there are sent, too. Raises UsageError.
        """
        place = Path(tempfile.mkdtemp(prefix="ringtree-ray-"))  # for nobody else to read
        try:
            (place / "secret").write_text(secret)
            (place / "secret").chmod(0o600)
            folder = place / "here"
            folder.mkdir()
            for piece in files:
                put(piece, folder)
            mirror = Mirror(folder) if comes_home else None
            if mirror is not None:
                list(mirror.changes())  # home has these
            own = {**variables, "RINGTREE_SECRET_FILE": str(place / "secret")}
            yield from self._run(arguments, own, place, mirror)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def signal(self, number: int) -> None:
        """Hands a signal on to the agent; to one that has not started yet: it will not."""
        self._signalled = True
        if self._agent is not None:
            self._agent.signal(number)

    def _run(
        self, arguments: Sequence[str], variables: Mapping[str, str], place: Path, mirror: Mirror | None
    ) -> Iterator[list[Event]]:
        if self._signalled:
            raise UsageError("the agent was told to end before it began")
        path = os.pathsep.join(entry for entry in (os.environ.get("PYTHONPATH"), *sys.path) if entry)
        command = [sys.executable, "-m", "ringtree", *arguments]
        agent = HeldAgent(command, {**variables, "PYTHONPATH": path}, place / "here", place)
        self._agent = agent
        code: int | None = None
        try:
            for come in agent.output(TICK):
                yield [*come, *_new_in(mirror)]
        finally:
            code = agent.close()
        yield [*_new_in(mirror), ("ended", code)]


def _new_in(mirror: Mirror | None) -> Iterator[Event]:
    if mirror is not None:
        for piece in mirror.changes():
            yield "file", piece
