"""A forced algorithm that the collective, the release or the GPU does not have.

For: NCCL_ALGO, or a table's own heading, against what the library can run (ringtree.nccl). Not for: whether the
algorithm was a good choice, nor tables that say what was executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringtree.audit.findings import Finding, Severity
from ringtree.audit.material import Subject
from ringtree.audit.rule import error, info, of_table
from ringtree.audit.words import listed
from ringtree.errors import UsageError
from ringtree.nccl import Support, library_support, read
from ringtree.nccl.names import KERNELS, POINT_TO_POINT, TUNED, algorithm_name

UNSUPPORTED = error(
    "algorithm-unsupported",
    "the forced algorithm can't have run",
    "the algorithm of the call: NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING",
)
NO_EFFECT = info(
    "algorithm-without-effect",
    "NCCL_ALGO has no effect on this collective",
    "nothing to settle; they can be read as repeated runs",
)
_FUNCTIONS = frozenset(word.lower() for word in TUNED)
_MULTICAST = frozenset({"NVLS", "NVLSTree"})
_ACROSS_HOSTS = frozenset({"NVLSTree"})
_BEFORE_HOPPER = re.compile(r"\b(?:A100|A800|A30|A10|A40|V100|P100|P40|T4|L4|L40S?|GTX|RTX|TITAN|Quadro)\b", re.I)


@of_table(UNSUPPORTED, NO_EFFECT)
def check(subject: Subject) -> Iterator[Finding]:
    """Yields a finding if nothing of what was forced can run."""
    table = subject.table
    forced = table.environment.get("NCCL_ALGO")
    setting = forced or table.algorithm or ""
    other = "executed" in table.settings or (table.library or "nccl").lower() != "nccl"
    if table.collective is None or not setting or other:
        return
    if table.collective in KERNELS[POINT_TO_POINT]:
        if forced:
            yield NO_EFFECT.found(subject, f"NCCL_ALGO={setting} with {table.collective}", table.rows)
        return
    names = map(str.strip, setting.split(","))
    try:
        answers = _answers(subject, forced) if forced else [_answer(subject, name) for name in names]
    except UsageError:
        return  # a name that is not NCCL's: somebody's own plan
    if not answers or any(outcome == "runs" for outcome, _ in answers):
        return
    fails = all(outcome == "error" for outcome, _ in answers)
    version = f", NCCL {table.library_version}" if table.library_version else ""
    yield UNSUPPORTED.found(
        subject,
        f"NCCL_ALGO={setting}{version}: {listed([words for _, words in answers], 2)}",
        table.rows,
        severity=None if fails else Severity.WARNING,
        title="" if fails else "a different algorithm than the forced one ran",
    )


def _answers(subject: Subject, setting: str) -> list[tuple[str, str]]:
    """Returns what becomes of each algorithm that NCCL_ALGO leaves; of the setting itself if it leaves none, or nothing
    if it has words of somebody's own."""
    version = subject.table.library_version
    reading = read("NCCL_ALGO", setting, subject.table.collective, version)
    if reading.left:
        return [_answer(subject, name) for name in reading.left]
    if not all(algorithm_name(word) or word.lower() in _FUNCTIONS for word in re.findall(r"\w+", setting)):
        return []
    if reading.refusal is None:
        words = " and ".join(map(repr, reading.passed_over))
        return [("ignored", f"the release passes over {words}, which it does not know" if words else "nothing is left")]
    refused = f"{reading.refusal}: from 2.24 on no communicator is made (invalid usage)"
    return [("error", refused) if version else ("unknown", f"{refused}, before that it is passed over")]


def _answer(subject: Subject, name: str) -> tuple[str, str]:
    """Returns what becomes of an algorithm, and why. Raises UsageError for a name that is not NCCL's."""
    table = subject.table
    found: Support = library_support(table.collective or "", name, nccl_version=table.library_version)
    if found.outcome != "runs":
        return found.outcome, found.explanation
    old = next((device for device in table.devices if _BEFORE_HOPPER.search(device)), None)
    if found.algorithm in _MULTICAST and old is not None:
        return "unknown", f"{found.algorithm} needs an NVSwitch that reduces and a Hopper GPU or newer, not {old}"
    if found.algorithm in _ACROSS_HOSTS and table.num_hosts == 1:
        return "unknown", f"{found.algorithm} runs between hosts, and there is only one"
    return "runs", ""
