"""What a column holds, from its heading: a size, a time, a bandwidth, a name, a comparison.

For: columns of Markdown tables and CSV files. Not for: cells (plan.py), tables of programs that are known.

A heading like "Tree+Simple busbw (GB/s)" or nvlstree_avg_ms has a measure (busbw; a time by its unit), a statistic
(avg), a unit, and what is left: the *arm*, that is, the configuration that the column is about.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from ringtree.logs.quantities import ITEMS, PERCENT, RATE, SIZE, TIME, Unit, plain, unit_of
from ringtree.logs.records import IN_PLACE, NOT_STATED, OUT_OF_PLACE

MAX_HEADING = 200


class Kind(Enum):
    """Measures, then what tells rows apart, then the rest."""

    TIME = auto()
    ALGBW = auto()
    BUSBW = auto()
    BANDWIDTH = auto()  # which one is not stated
    THROUGHPUT = auto()  # of a training: tokens/s and the like
    STEP_TIME = auto()  # of a training
    SIZE = auto()
    COUNT = auto()
    COLLECTIVE = auto()
    ALGORITHM = auto()
    PROTOCOL = auto()
    RANKS = auto()
    HOSTS = auto()
    RANKS_PER_HOST = auto()
    DTYPE = auto()
    OP = auto()
    DEVICE = auto()
    LIBRARY_VERSION = auto()
    SETTING = auto()
    DERIVED = auto()  # compares columns, or a share of something
    NUMBER = auto()
    UNKNOWN = auto()


MEASURES = frozenset((Kind.TIME, Kind.ALGBW, Kind.BUSBW, Kind.BANDWIDTH, Kind.THROUGHPUT, Kind.STEP_TIME))
TRAINING = frozenset((Kind.THROUGHPUT, Kind.STEP_TIME))
OF_UNIT = {TIME: Kind.TIME, RATE: Kind.BANDWIDTH, ITEMS: Kind.THROUGHPUT}


class Heading(NamedTuple):
    """`size`: of a heading that says at which one ("busbw @16GiB")."""

    text: str
    kind: Kind
    unit: Unit | None = None
    statistic: str = ""
    arm: str = ""
    place: str = NOT_STATED
    size: str = ""


_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,20})[)\]]")
_LAST_WORD = re.compile(r"(?:^|[\s_,/])([A-Za-zµμ%]{1,9}(?:/[A-Za-z]{1,6}){0,2})$")
_PER = re.compile(r"[\s_]+per[\s_]+", re.IGNORECASE)
_AT_SIZE = re.compile(r"(?:@\s*|\bat\s+)(\d+(?:\.\d+)?\s*[KMGT]i?B)\b", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+\d*|\d+|[^\x00-\x7f]+")

_MEASURE_WORDS = (
    (Kind.STEP_TIME, re.compile(r"\b(?:step|iteration|iter) (?:time|duration)\b|\btime (?:per )?(?:step|iteration)\b")),
    (Kind.BUSBW, re.compile(r"\bbus (?:bw|bandwidth|band width)\b|\bbusbw\b|\bbusbandwidth\b")),
    (Kind.ALGBW, re.compile(r"\balgo?(?:rithm)? (?:bw|bandwidth)\b|\balgo?bw\b")),
    (Kind.BANDWIDTH, re.compile(r"\b(?:bw|bandwidth|throughput|tput|goodput)\b|带宽|吞吐量?")),
    (Kind.TIME, re.compile(r"\b(?:time|latency|lat|duration|elapsed|runtime)\b|延迟|时间|耗时")),
)
_PER_STEP = re.compile(
    r"\b((?:milli)?seconds?|m?secs?|m?s) ?(?:/|\bper\b) ?(?:training )?(?:step|iter(?:ation)?)\b", re.I
)
_STATISTIC = re.compile(
    r"\b(?:avg|average|mean|median|minimum|maximum|min|max|p\d{1,3}|\d\d th|std|stdev|stddev|std dev|cv|peak|total)\b"
    r"|均值|平均|中位数"
)
_PLACES = ((OUT_OF_PLACE, re.compile(r"\bout of place\b")), (IN_PLACE, re.compile(r"\bin place\b|\binplace\b")))
_NOISE = re.compile(r"\b(?:as|published|reported|measured|results?|per call|one call|the|of)\b")
_COMPARES = re.compile(
    r"\b(?:vs|versus|speedup|gain|delta|diff|difference|overhead|improvement|ratio|percent|change|efficiency|scaling"
    r"|utili[sz]ation|relative)\b|差距|差异|退化|提升|加速"
)
_OTHER_RATES = re.compile(r"\b(?:tokens?|images|[tg]?flops|requests|packets|messages|mfu|qps|fps)\b")

_PHRASES: dict[Kind, str] = {
    Kind.SIZE: "size,payload,message,message size,msg size,msgsize,msg,bytes,nbytes,size bytes,message bytes,data size,"
    "buffer size,payload size,message size bytes,tensor size,大小,消息大小",
    Kind.COUNT: "elements,num elements,nelements,numel,element count,number of elements,n elements per rank",
    Kind.COLLECTIVE: "collective,operation,op name,op,test,collective type,comm op,coll,collective op,function",
    Kind.RANKS: "gpus,gpu,num gpus,n gpus,ngpus,ranks,num ranks,nranks,n ranks,world size,np,nprocs,num procs,"
    "processes,procs,num processes,gpu count,total gpus,devices,num devices,accelerators,number of gpus,"
    "number of ranks",
    Kind.HOSTS: "nodes,num nodes,n nodes,nnodes,hosts,num hosts,node count,machines,number of nodes",
    Kind.RANKS_PER_HOST: "gpus per node,gpus node,ranks per node,ppn,gpu per node,procs per node,tasks per node",
    Kind.DTYPE: "dtype,type,datatype,data type,nccl dtype,precision",
    Kind.OP: "redop,reduce op,reduction",
    Kind.DEVICE: "gpu model,device,device name,gpu type,hardware,accelerator",
    Kind.LIBRARY_VERSION: "nccl version,rccl version",
    Kind.SETTING: "channels,nch,nchannels,n channels,num channels,threads,nthreads,min bytes,max bytes,config,label,"
    "benchmark,framework,backend,library,file,model,version,topology,mode,variant,name,env,environment,transport,step,warmup,root",
    Kind.NUMBER: "iterations,iters,calls,samples,runs,trials,reps,repetitions,count,wrong",
}
_KIND_OF = {phrase: kind for kind, phrases in _PHRASES.items() for phrase in phrases.split(",")}


def classify(text: str) -> Heading:
    """Returns what the heading says. Never raises."""
    text = plain(text.replace("<br>", " ").replace("<br/>", " "))[:MAX_HEADING]
    rest, unit = _take_unit(text)
    if (step := _PER_STEP.search(text.replace("_", " "))) is not None:
        rest, unit = f"{text[: step.start()]} step time {text[step.end() :]}", unit_of(step.group(1).lower())
    at = _AT_SIZE.search(rest)
    if at is not None:
        rest = rest[: at.start()] + " " + rest[at.end() :]
    size = at.group(1) if at is not None else ""
    words = " ".join(_WORD.findall(_CAMEL.sub("_", rest).lower()))
    if (unit is not None and unit.kind == PERCENT) or "%" in text or _COMPARES.search(words):
        return Heading(text, Kind.DERIVED, unit)
    if (kind := _KIND_OF.get(words)) is not None and (unit is None or unit.kind == SIZE):
        if kind is Kind.SIZE and unit is None and "bytes" in words:
            unit = unit_of("bytes")
        return Heading(text, kind, unit)
    if _OTHER_RATES.search(words) is not None and (unit is None or unit.kind != ITEMS):
        return Heading(text, Kind.NUMBER)
    place = next((place for place, pattern in _PLACES if pattern.search(words)), NOT_STATED)
    for _, pattern in _PLACES:
        words = pattern.sub(" ", words)
    measure = None
    for kind, pattern in _MEASURE_WORDS:
        if pattern.search(words) is not None:
            measure = measure or kind
            words = pattern.sub(" ", words)
    if unit is not None and unit.kind == ITEMS:
        measure = Kind.THROUGHPUT
    elif measure is None and unit is not None:
        measure = OF_UNIT.get(unit.kind)
    statistic = " ".join(_STATISTIC.findall(words))
    arm = " ".join(_NOISE.sub(" ", _STATISTIC.sub(" ", words)).split())
    if measure is None:
        return Heading(text, _named(words, unit), unit, statistic, arm if statistic and arm else text)
    return Heading(text, measure, unit, statistic, arm, place, size)


def _take_unit(text: str) -> tuple[str, Unit | None]:
    for brackets in _BRACKETS.finditer(text):
        if (unit := unit_of(brackets.group(1).strip())) is not None:
            return text[: brackets.start()] + " " + text[brackets.end() :], unit
    stripped = _PER.sub("/", text.rstrip(" ):"))
    found = _LAST_WORD.search(stripped)
    if found is None:
        return text, None
    word = found.group(1)
    alone = found.start() == 0 and len(stripped) == len(word)
    unit = unit_of(word) or (unit_of(word[:-1] + "/s") if word.endswith("Bs") else None)
    if unit is None or (len(word) == 1 and (alone or unit.kind != TIME)) or (unit.kind == SIZE and alone):
        return text, None
    return stripped[: found.start(1)], unit


def _named(words: str, unit: Unit | None) -> Kind:
    if unit is not None and unit.kind == SIZE:
        return Kind.SIZE if words in ("", "size") else Kind.NUMBER
    first = words.split()
    if "algo" in first or "algorithm" in first or "alg" in first:
        return Kind.ALGORITHM
    if "proto" in first or "protocol" in first:
        return Kind.PROTOCOL
    return Kind.UNKNOWN
