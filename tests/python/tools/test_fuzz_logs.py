"""The fuzzer of the log readers notices what it is there for."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from fuzz_logs import __main__ as fuzz
from fuzz_logs.mutate import make


@pytest.fixture
def alarm() -> Iterator[None]:
    def on_alarm(*_: object) -> None:
        raise fuzz.TooLongError

    before = signal.signal(signal.SIGVTALRM, on_alarm)
    yield
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.usefixtures("alarm")
def test_a_reader_that_raises_hangs_or_runs_out_of_memory_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(*_: object) -> None:
        raise KeyError("column")

    def out_of_memory(*_: object) -> None:
        raise MemoryError

    def hangs(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(fuzz, "MAX_SECONDS", 0.05)
    for reader, said in ((raises, "KeyError"), (out_of_memory, "256 MB"), (hangs, "processor time")):
        monkeypatch.setattr(fuzz, "read_stream", reader)
        assert said in (fuzz.execute(b"x") or "")
    monkeypatch.setattr(fuzz, "read_stream", lambda *_: None)
    assert fuzz.execute(b"x") is None


def test_an_input_is_made_again_from_its_number() -> None:
    seeds = [b"a b c\nd e f\n" * 50, b"1 2 3\n"]
    assert [make(Random(f"1/{i}"), seeds) for i in range(50)] == [make(Random(f"1/{i}"), seeds) for i in range(50)]
    assert len({make(Random(f"1/{i}"), seeds) for i in range(50)}) > 40


@pytest.mark.usefixtures("alarm")
def test_whole_seeds_are_read_and_two_thousand_damaged_ones_do_no_harm() -> None:
    fuzz.prepare_seeds()
    for number in range(2000):
        data = make(Random(f"7/{number}"), fuzz.the_seeds)
        assert fuzz.execute(data) is None, f"input {number} of seed 7"
