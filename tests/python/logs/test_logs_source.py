"""Files as they lie on disks: packed, in UTF-16, copied from pages."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tracemalloc
from collections.abc import Callable

import pytest
from nccltests_support import FOOTER, modern_header, modern_row

from ringtree.logs import Imported, read_stream, source
from ringtree.logs.source import CUT, DAMAGED, seekable

LOG = modern_header() + modern_row(1024) + modern_row(2048) + FOOTER
PACKED = gzip.compress(LOG.encode())


class Pipe(io.BytesIO):
    def seekable(self) -> bool:
        return False


def sizes(imported: Imported) -> list[int | None]:
    return [row.size_bytes for table in imported.tables for row in table.rows]


def problems(imported: Imported) -> set[str]:
    return {skipped.reason for skipped in imported.skipped} & {CUT, DAMAGED}


@pytest.mark.parametrize("kind", [io.BytesIO, Pipe], ids=["file", "pipe"])
@pytest.mark.parametrize(
    "content",
    [
        PACKED,
        PACKED + b"\0" * 512,
        gzip.compress(LOG[:300].encode()) + gzip.compress(LOG[300:].encode()),
        bz2.compress(LOG[:300].encode()) + bz2.compress(LOG[300:].encode()),
        lzma.compress(LOG[:300].encode()) + lzma.compress(LOG[300:].encode()) + b"\0" * 8,
        lzma.compress(("\ufeff" + LOG).encode("utf-16-le"), preset=9),
        ("\ufeff" + LOG).encode("utf-16-le"),
        ("\ufeff" + LOG.replace("\n", "\r\n")).encode("utf-16-be"),
        gzip.compress(("\ufeff" + LOG).encode("utf-16-le")),
        LOG.replace("  ", " \u00a0").encode(),
    ],
    ids=[
        "gzip",
        "gzip, padded",
        "gzip of two members",
        "bzip2",
        "xz",
        "xz of UTF-16",
        "UTF-16",
        "UTF-16, big end first",
        "both",
        "blanks of pages",
    ],
)
def test_it_reads_what_the_plain_text_says(content: bytes, kind: type[io.BytesIO]) -> None:
    plain, found = read_stream(io.BytesIO(LOG.encode()), "log"), read_stream(kind(content), "log")
    assert sizes(found) == [1024, 2048]
    assert found.tables == plain.tables
    assert problems(found) == set()


def test_a_packed_file_that_breaks_off_gives_what_there_is() -> None:
    # Stored blocks, so that each byte of the text is one of the file.
    found = read_stream(io.BytesIO(gzip.compress(LOG.encode(), 0)[: len(LOG) - len(FOOTER)]), "log")
    assert sizes(found)[:1] == [1024]
    assert problems(found) == {DAMAGED}
    assert problems(read_stream(io.BytesIO(PACKED[:12] + b"\xff" * 40), "log")) == {DAMAGED}


def test_text_that_begins_like_a_packed_file_is_text() -> None:
    found = read_stream(io.BytesIO(b"BZhang's run\n" + LOG.encode()), "log")
    assert sizes(found) == [1024, 2048]
    assert problems(found) == set()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_no_damage_raises(pack: Callable[[bytes], bytes]) -> None:
    whole = pack(LOG.encode())
    for cut in range(1, len(whole), 7):
        found = read_stream(io.BytesIO(whole[:cut]), "log")
        assert problems(found) == {DAMAGED} or cut < 10, cut
        read_stream(io.BytesIO(whole[:cut] + b"\x5a" * 9 + whole[cut:]), "log")


def test_a_small_file_can_not_fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_UNPACKED", 3 << 20)
    said: list[str] = []
    with seekable(io.BytesIO(gzip.compress(b"x" * (5 << 20))), said.append) as whole:
        assert whole.seek(0, io.SEEK_END) == 3 << 20
    assert said == [CUT]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("length", [1 << 20, (1 << 20) + 1, 5 << 20])
def test_nothing_is_lost_between_blocks(length: int, pack: Callable[[bytes], bytes]) -> None:
    said: list[str] = []
    with seekable(io.BytesIO(pack(b"x" * length)), said.append) as whole:
        assert whole.read() == b"x" * length
    assert said == []


@pytest.mark.parametrize(
    "kept",
    [
        repr(LOG),
        json.dumps({"rc": 0, "stdout": LOG}),
        "\n".join(f"{line!r}," for line in LOG.splitlines()),
        "\n".join(f"b'{line}\\n'" for line in LOG.splitlines()),
    ],
    ids=["a string", "JSON", "strings", "bytes"],
)
def test_an_output_that_a_program_kept(kept: str) -> None:
    (plain,) = read_stream(io.BytesIO(LOG.encode()), "log").tables
    (table,) = read_stream(io.BytesIO(kept.encode()), "log").tables
    assert [row._replace(line=0) for row in table.rows] == [row._replace(line=0) for row in plain.rows]
    assert (table.num_ranks, table.columns, table.average_busbw) == (
        plain.num_ranks,
        plain.columns,
        plain.average_busbw,
    )


@pytest.mark.parametrize(
    "prefix",
    ["Nov  3 12:00:01 node-7 bench[4242]: ", "12:00:01 ", "[12:00:01.250] ", "run-1.log:", "INFO worker: ", "&gt; "],
)
def test_headings_behind_a_prefix_count(prefix: str) -> None:
    plain = read_stream(io.BytesIO(LOG.encode()), "log")
    text = "".join(prefix + line + "\n" for line in LOG.splitlines())
    found = read_stream(io.BytesIO(text.encode()), "log")
    assert sizes(found) == [1024, 2048]
    for one, other in zip(found.tables, plain.tables, strict=True):
        assert (one.num_ranks, one.columns, one.average_busbw) == (other.num_ranks, other.columns, other.average_busbw)


def test_what_was_packed_does_not_stay_in_memory() -> None:
    packed = io.BytesIO(gzip.compress(bytes(80 << 20)))
    tracemalloc.start()
    try:
        with seekable(packed, lambda _: None) as whole:
            assert whole.seek(0, io.SEEK_END) == 80 << 20
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20
