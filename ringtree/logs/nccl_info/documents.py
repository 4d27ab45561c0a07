"""Documents of what was gathered.

For: the end of a file. Not for: lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ringtree.logs.nccl_info.channels import rings_of, trees_of
from ringtree.logs.nccl_info.communicators import Communicators, Group, Process
from ringtree.logs.nccl_info.decisions import decisions_of, operations_of
from ringtree.logs.nccl_info.facts import Facts
from ringtree.logs.nccl_info.prefix import NCCL_INFO
from ringtree.logs.nccl_info.process_lines import Versions
from ringtree.logs.nccl_info.shapes import ModelledCost, NcclCommunicator, NcclRank, SearchedGraph
from ringtree.logs.nccl_info.transports import transports_of
from ringtree.logs.records import Document, Inference
from ringtree.nccl.names import PATTERNS, collective, spelled

_MAX_VALUES = 10
_OF_MEMBER = NcclRank.model_fields.keys() - {"host", "pid"}
_GRAPH = re.compile(
    r"Pattern (?P<pattern>\d{1,4}), crossNic (?P<cross_nic>\d{1,4}), nChannels (?P<num_channels>\d{1,4}), "
    r"(?:bw|speed) (?P<bw_intra_gb_per_second>\d{1,9}\.\d{1,9})/(?P<bw_inter_gb_per_second>\d{1,9}\.\d{1,9}), "
    r"type (?P<type_intra>\w{1,8})/(?P<type_inter>\w{1,8}), sameChannels (?P<same_channels>\d{1,4})"
)


def communicator_documents(
    communicators: Communicators, processes: list[Process], versions: Versions
) -> Iterator[Document]:
    """Yields a document for each communicator, and one for what belongs to none that is known."""
    rest = communicators.finish(processes)
    if rest is None and not communicators.groups and any(process.environment for process in processes):
        rest = communicators.overflow  # nothing but variables
    for group in communicators.groups:
        yield _document(group, {id(member.process): member.process for member in group.members}, versions)
    if rest is not None:
        if communicators.num_left_out:
            rest.facts.left_out["ranks and communicators beyond the limit"] += communicators.num_left_out
        of_none = {id(process): process for process in processes if _is_loose(process, rest)}
        yield _document(rest, of_none, versions)


def _is_loose(process: Process, rest: Group) -> bool:
    return process.loose is not None or any(member.group is rest for member in process.members) or not process.members


def _document(group: Group, processes: dict[int, Process], versions: Versions) -> Document:
    facts, num_ranks = group.facts, group.num_ranks
    version, num_hosts, inferences = _concluded(group, processes, versions)
    environment, differs = _environment(processes)
    # Of the first process that says it.
    said = {what: value for process in reversed(processes.values()) for what, value in process.said.items()}
    system = facts.system or (None, None)
    shape = NcclCommunicator(
        comm_id=group.comm_id,
        library=versions.seen.get(version) if version is not None else None,
        version=version,
        num_ranks=num_ranks,
        num_hosts=num_hosts,
        num_ranks_seen=sum(1 for member in group.members if member.rank is not None),
        ranks=_ranks(group),
        created_by=group.created_by,
        parent=group.parent.comm_id if group.parent is not None else None,
        color=group.color,
        channels=facts.channels,
        rings=rings_of(facts, num_ranks),
        trees=trees_of(facts, num_ranks),
        transports=transports_of(facts.transports),
        graphs=_graphs(facts),
        system_max_bw_gb_per_second=system[0],
        system_total_bw_gb_per_second=system[1],
        network=said.get("network"),
        network_plugin=said.get("plugin"),
        tuner_plugin=said.get("tuner"),
        nics=said.get("nics", "").split(),
        environment=environment,
        environment_differs=differs,
        enabled=_enabled(facts),
        costs=_costs(facts),
        decisions=decisions_of(facts, version, num_ranks),
        operations=operations_of(facts),
        statements=dict(facts.statements),
        num_lines=facts.num_lines,
        left_out=dict(facts.left_out),
    )
    jobs = {process.job for process in processes.values()}
    return Document(
        NCCL_INFO,
        "nccl_communicator",
        facts.first_line,
        shape.plain(),
        title=_title(group),
        job=jobs.pop() if len(jobs) == 1 else "",
        last_line=facts.last_line,
        inferences=inferences,
    )


def _concluded(
    group: Group, processes: dict[int, Process], versions: Versions
) -> tuple[str | None, int | None, list[Inference]]:
    """Returns the version, the number of hosts, and what was concluded and not said."""
    inferences = []
    if group.joined_by is not None and len(group.members) > 1:
        inferences.append(Inference("ranks", str(len(group.members)), group.joined_by))
    version, num_hosts = group.version, group.facts.num_hosts
    if version is None and len(versions.seen) == 1:
        version = next(iter(versions.seen))
        inferences.append(Inference("version", version, "the only version that the file names"))
    seen = sum(1 for member in group.members if member.rank is not None)
    if num_hosts is None and seen and seen == group.num_ranks:
        num_hosts = len({process.host for process in processes.values()})
        inferences.append(Inference("num_hosts", str(num_hosts), "the hosts' names of all ranks"))
    return version, num_hosts, inferences


def _title(group: Group) -> str:
    if group.num_ranks is None:
        return "NCCL lines that name no communicator"
    name = f" {group.comm_id}" if group.comm_id is not None else ""
    return f"communicator{name} of {group.num_ranks} ranks"


def _ranks(group: Group) -> list[NcclRank]:
    return [
        NcclRank(
            host=member.process.host, pid=member.process.pid, **{name: getattr(member, name) for name in _OF_MEMBER}
        )
        for member in sorted(group.members, key=lambda member: -1 if member.rank is None else member.rank)
    ]


def _environment(processes: dict[int, Process]) -> tuple[dict[str, str], dict[str, list[str]]]:
    values: dict[str, dict[str, None]] = {}
    for process in processes.values():
        for name, value in process.environment.items():
            values.setdefault(name, {})[value] = None
    environment = {name: next(iter(found)) for name, found in sorted(values.items())}
    return environment, {name: list(found)[:_MAX_VALUES] for name, found in sorted(values.items()) if len(found) > 1}


def _graphs(facts: Facts) -> list[SearchedGraph]:
    graphs = []
    for text, num in facts.graphs.items():
        found = _GRAPH.match(text)
        if found is None:
            facts.left_out["graphs that were cut"] += num
            continue
        said: dict[str, Any] = found.groupdict()
        graphs.append(SearchedGraph(**said, pattern_name=PATTERNS.get(int(said["pattern"])), num=num))
    return graphs


def _enabled(facts: Facts) -> dict[str, dict[str, int]]:
    return {
        collective(function) or function: {spelled(name) or name: value for name, value in row.items()}
        for function, row in facts.enabled.items()
    }


def _costs(facts: Facts) -> list[ModelledCost]:
    """Returns the cells that say something: a combination that does not exist has neither latency nor bandwidth."""
    return [
        ModelledCost(
            collective=collective(function) or function,
            algorithm=spelled(algorithm) or algorithm,
            protocol=spelled(protocol) or protocol,
            latency_us=latency,
            bandwidth_gb_per_second=bandwidth,
        )
        for (function, algorithm, protocol), (latency, bandwidth) in facts.costs.items()
        if latency > 0 or bandwidth > 0
    ]
