"""How values are written in CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ringtree.show.csv_text import csv_text

Cell = tuple[object, str]
COLUMNS: Mapping[str, Callable[[str, Cell], object]] = {
    "run": lambda run, cell: run,
    "value": lambda run, cell: cell[0],
    "text": lambda run, cell: cell[1],
}


def test_nothing_truth_numbers_in_full_and_text_that_is_safe_to_print() -> None:
    cells: list[Cell] = [(None, "a,b"), (True, 'say "x"'), (False, "\x1b[2J"), (1 / 3, ""), (7, "é")]
    assert csv_text(COLUMNS, "r", cells) == (
        'run,value,text\nr,,"a,b"\nr,true,"say ""x"""\nr,false,\\x1b[2J\nr,0.3333333333333333,\nr,7,é\n'
    )


def test_without_cells_the_columns_are_still_named() -> None:
    assert csv_text(COLUMNS, "r", []) == "run,value,text\n"
