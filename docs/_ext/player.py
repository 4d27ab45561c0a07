"""The directive `player`: what `ringtree play` makes, in a frame on a page of the documentation.

    ```{player} ring,tree --ranks 8 --size 64K
    :height: 50rem

    Eight ranks as a ring and as a tree.
    ```

The argument is what stands behind `ringtree play`; the text is the frame's title and stands below it, with a link to
the page alone. Pages are made when a build ends, all of them each time, so they are never older than the player;
nothing of them is committed. For: docs/. Not for: the page in the frame (ringtree.show.player), how large it is drawn
(docs/_static/site.css).
"""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

FOLDER = "players"
LOG = logging.getLogger(__name__)


class Player(SphinxDirective):
    """A frame with a player, and the command that makes it."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"height": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        arguments = " ".join(self.arguments[0].split())
        title = " ".join(" ".join(self.content).split())
        if not title:
            raise self.error("a player needs a text that says what is to be seen: a frame without a title is a riddle")
        _players(self.env).setdefault(self.env.docname, set()).add(arguments)
        address = "../" * self.env.docname.count("/") + f"{FOLDER}/{file_name(arguments)}"
        height = html.escape(self.options.get("height", "48rem"))
        text = html.escape(title)
        frame = (
            f'<figure class="player" style="--height: {height}">'
            f'<div><iframe src="{address}" title="{text}" loading="lazy"></iframe></div><figcaption>{text} '
            f'<a href="{address}">On a page of its own</a>; made by '
            f"<code>ringtree play {html.escape(arguments)}</code></figcaption></figure>"
        )
        return [nodes.raw("", frame, format="html")]


def file_name(arguments: str) -> str:
    """Returns the name of the page that `ringtree play` makes of these arguments."""
    return re.sub(r"[^A-Za-z0-9]+", "-", arguments).strip("-") + ".html"


def _players(env: BuildEnvironment) -> dict[str, set[str]]:
    if not hasattr(env, "ringtree_players"):
        env.ringtree_players = {}  # type: ignore[attr-defined]
    return env.ringtree_players  # type: ignore[attr-defined,no-any-return]


def _forget(_: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _players(env).pop(docname, None)


def _merge(_: Sphinx, env: BuildEnvironment, __: set[str], other: BuildEnvironment) -> None:
    _players(env).update(_players(other))


def _write_pages(app: Sphinx, failure: Exception | None) -> None:
    wanted = set().union(*_players(app.env).values()) if failure is None and app.builder.format == "html" else set()
    if not wanted:
        return
    try:
        from typer.testing import CliRunner

        from ringtree.cli import app as ringtree
    except ImportError as error:  # a service that builds pages and can't compile the package
        LOG.warning("ringtree can't be imported, so there are no players: %s", error)
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for arguments in sorted(wanted):
        file = folder / file_name(arguments)
        done = CliRunner().invoke(ringtree, ["play", *shlex.split(arguments), "-o", str(file)])
        if done.exit_code != 0:
            raise ExtensionError(f"ringtree play {arguments}: {done.output.strip() or done.exception}")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("player", Player)
    app.connect("env-purge-doc", _forget)
    app.connect("env-merge-info", _merge)
    app.connect("build-finished", _write_pages)
    # env_version: to be counted up with every change of what run() returns, as pages that were read are kept.
    return {"version": "1", "env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
