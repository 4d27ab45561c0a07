"""Form: what NCCL's protocols carry and what a hop costs. "LL carries 4 + 4 bytes: 25-50 % of peak; about 1, 2 and 6
us a hop".

The share of data in a line bounds the bandwidth from above: LL can't pass 4/8. How far below it stays is another
matter.
"""

from __future__ import annotations

import re

from ringtree.audit.claims.claim import Claim
from ringtree.audit.claims.forms.part import Says
from ringtree.audit.claims.nccl_facts import HOP_LATENCIES, PROTOCOLS, RELEASE
from ringtree.audit.claims.quantities import Quantity
from ringtree.audit.claims.records import Part

_SAYS = Says("NCCL's protocols")
_ORDER = ("LL", "LL128", "Simple")
_NAME = re.compile(r"\b(LL128|LL|Simple)\b")
# "4 bytes of data and 4 of flag", or with a plus sign "120 + 8" alone.
_LINE = re.compile(
    r"(\d+)\s*(?:B|bytes?)?\s*(?:of\s+)?(?:data|payload)\s*(?:\+|and|with|plus)\s*(\d+)\b|"
    r"(\d+)\s*(?:B|bytes?)?\s*(?:\+|plus)\s*(\d+)\b",
    re.IGNORECASE,
)
_SHARE_SLACK = 0.03
_LINKS = (
    ("NVLink", r"NVLink|NVSwitch"),
    ("PCIe", r"PCIe?\b"),
    ("network", r"network|InfiniBand|\bIB\b|between nodes|inter-node"),
)


def judge(claim: Claim) -> list[Part]:
    """Lines, the share that they leave, and latencies of hops."""
    names = list(_NAME.finditer(claim.text))
    if not names:
        return []
    found: list[Part] = []
    for index, name in enumerate(names):
        end = names[index + 1].start() if index + 1 < len(names) else len(claim.text)
        line = _LINE.search(claim.text, name.end(), end)
        if line is not None and PROTOCOLS[name[1]].flags:
            found += _check_line(claim, name[1], line, end)
        else:
            found += _share_alone(claim, name, end)
    return found + _latencies(claim)


def _check_line(claim: Claim, protocol: str, line: re.Match[str], end: int) -> list[Part]:
    data, flags = int(line[1] or line[3]), int(line[2] or line[4])
    fact = PROTOCOLS[protocol]
    covers = [one for one in claim.quantities if line.start() <= one.span[0] < line.end()] + [line.span()]
    if fact.flags and (data, flags) != (fact.data, fact.flags):
        return [
            _SAYS.falls(
                f"{protocol} has {fact.data} bytes of data to {fact.flags} of flags",
                f"NCCL {RELEASE}: {fact.data} + {fact.flags}",
                covers,
            )
        ]
    if not data + flags:
        return []
    share = data / (data + flags)
    sums = f"{protocol}: {data}/({data}+{flags}) = {100 * share:.4g} %"
    found = [_SAYS.holds(f"a line of {protocol} is as NCCL has it", sums, covers)]
    return found + [
        _check_share(protocol, one, share, sums) for one in claim.of_kind("percent") if line.end() <= one.span[0] < end
    ]


def _share_alone(claim: Claim, name: re.Match[str], end: int) -> list[Part]:
    """ "LL128 reaches about 95 % of the bandwidth": a share beside the name, without the line."""
    if not PROTOCOLS[name[1]].flags or not claim.says(r"bandwidth|peak|data|efficien"):
        return []
    share = PROTOCOLS[name[1]].share
    sums = (
        f"{name[1]}: {PROTOCOLS[name[1]].data}/({PROTOCOLS[name[1]].data}+{PROTOCOLS[name[1]].flags}) = "
        f"{100 * share:.4g} %"
    )
    return [
        _check_share(name[1], one, share, sums) for one in claim.of_kind("percent") if name.end() <= one.span[0] < end
    ]


def _check_share(protocol: str, stated: Quantity, share: float, sums: str) -> Part:
    top = share * (1 + _SHARE_SLACK)
    if stated.high > top:
        return _SAYS.falls(
            f"{protocol} can't reach {stated.text} of the peak: {100 * share:.4g} % of what it sends is data",
            sums,
            [stated],
        )
    if stated.low <= top and (
        stated.low < stated.high or stated.agrees(share) or stated.high >= share * (1 - _SHARE_SLACK)
    ):
        low = (
            f", and other costs take the rest (NCCL's own model counts Tree with {protocol} at 1/3.8)"
            if protocol == "LL" and stated.low < stated.high
            else ""
        )
        return _SAYS.holds(
            f"data are {100 * share:.4g} % of what {protocol} sends, which bounds its bandwidth{low}", sums, [stated]
        )
    return _SAYS.open(
        f"{protocol} may well reach less than its share of data; how much less depends on the machine",
        f"{protocol}, Simple and the link's rate measured on one machine",
        sums,
        [stated],
    )


def _latencies(claim: Claim) -> list[Part]:
    match = claim.says(r"\bhops?\b")
    times = claim.of_kind("time")
    if match is None or not times:
        return []
    stated = dict(zip(_named_order(claim, len(times)), times, strict=False))
    if not stated:
        return []
    link = next((name for name, pattern in _LINKS if claim.says(pattern)), None)
    said = ", ".join(f"{name} {one.value * 1e6:g} us" for name, one in stated.items())
    rows = {name: row["Ring"] for name, row in HOP_LATENCIES.items()}
    table = "; ".join(f"{name} {'/'.join(f'{one:g}' for one in row)}" for name, row in rows.items())
    arithmetic = f"said: {said}; NCCL {RELEASE} counts for a ring's hop (LL/LL128/Simple, us): {table}"
    covers = list(stated.values())
    near = [name for name in HOP_LATENCIES if any(_is_near(stated, row) for row in HOP_LATENCIES[name].values())]
    if link is None:
        like = (
            f"they are like those that NCCL's model has for {' and '.join(near)}"
            if near
            else "they are like none that NCCL's model has"
        )
        return [
            _SAYS.open(
                f"the time of a hop depends on the link, which is not named; {like}",
                "the kind of link, and a measurement of one hop on it",
                arithmetic,
                covers,
            )
        ]
    if link in near:
        return [_SAYS.holds(f"as NCCL's model counts a hop over {link}", arithmetic, covers)]
    return [_SAYS.falls(f"NCCL's model counts other times for a hop over {link}", arithmetic, covers)]


def _named_order(claim: Claim, number: int) -> list[str]:
    """The protocols that a list of latencies belongs to, in the order in which the sentence first names them."""
    named = list(dict.fromkeys(match[1] for match in _NAME.finditer(claim.text)))
    return named if len(named) == number else list(_ORDER) if number == len(_ORDER) else []


def _is_near(stated: dict[str, Quantity], row: tuple[float, ...]) -> bool:
    return all(
        abs(one.value * 1e6 - row[_ORDER.index(name)]) <= 0.25 * row[_ORDER.index(name)] for name, one in stated.items()
    )
