"""The steps of a rank that are recorded on its GPU: from an idle GPU to an idle GPU, with nothing of that in any step.

For: what has to be done between two steps, and its price. Not for: asking the driver (record.py), what the events say
(times.py), which steps are timed (ringtree.joblog.timed_steps).

Steps end when the optimizer has been called, and the GPU is then still at work. Before a step that is recorded, and at
its end, the host waits for it: what runs in the step is then all of the step's, and its length is the GPU's. That wait
belongs to the step that ends. What the record itself takes, to start, to stop and to be read, lies between two steps
and belongs to none. Its very first start takes long; it is done, for nothing, after the first step with collectives on
the GPU, which no table counts.

             step 1 (its end waits)         step 2, recorded                step 3
    host  ──────────────────────────┤ start ├─────────────────────┤ read ├─────────────
"""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple, Protocol

from ringtree.joblog.on_gpu.matching import HostCall
from ringtree.joblog.on_gpu.own_profiler import OwnProfiler
from ringtree.joblog.on_gpu.record import OWN_PROFILER, BusyError, DeviceRecord, NoRecordError
from ringtree.joblog.on_gpu.times import DeviceStep, device_step
from ringtree.joblog.timed_steps import TimedSteps

_CAPTURED = "its end was captured into a CUDA graph"
_NOTHING = "the GPU gave no record; another tool may have it (Nsight, another user of CUPTI)"
_SETTLED = 2  # the first steps say nothing of what a step takes


class Gpu(Protocol):
    """The rank's device, as PyTorch has it."""

    def synchronise(self) -> None: ...
    def is_capturing(self) -> bool: ...
    def run_something(self) -> None: ...


class Cuda:
    """The CUDA devices that the rank uses: those on which it has a context. The current one need not be among them, and
    asking for it would make one, of some hundred MB."""

    def synchronise(self) -> None:
        import torch

        for device in self._devices():
            torch.cuda.synchronize(device)

    def is_capturing(self) -> bool:
        import torch

        with torch.cuda.device(self._devices()[0]):
            return torch.cuda.is_current_stream_capturing()

    def run_something(self) -> None:
        import torch

        torch.zeros(1, device=torch.device("cuda", self._devices()[0])).add_(1)

    def _devices(self) -> list[int]:
        import torch

        internal: Any = torch._C
        used = [at for at in range(torch.cuda.device_count()) if internal._cuda_hasPrimaryContext(at)]
        return used or [torch.cuda.current_device()]


class EndedStep(NamedTuple):
    """What the file knows of the step that has just ended. `calls`: the lines of its calls; `group_sizes`: by the
    numbers by which these name their groups."""

    step: int
    begin: float
    end: float
    calls: list[str]
    group_sizes: list[int]


class DeviceSteps:
    """One rank's. Between two steps: settle(), then, if it says so, turn()."""

    def __init__(
        self, timed: TimedSteps, record: DeviceRecord | None = None, gpu: Gpu | None = None, device: str = "cuda"
    ) -> None:
        self._timed = timed
        self._device = device
        self._record = record or DeviceRecord()
        self._gpu = gpu or Cuda()
        self._own = OwnProfiler(self._make_room)
        self._sends = False  # there are collectives on the GPU
        self._is_warm = False
        self._captures = False  # a CUDA graph, at this end of a step
        self._broken: str | None = None  # why no step is recorded any more
        self._lost: str | None = None  # why the step under way is not, which was to be
        self._untimed, self._num_untimed = 0.0, 0
        self._cost = 0.0  # of the record that is running

    @property
    def is_recording(self) -> bool:
        """Says whether the step under way was to be recorded, whatever came of it."""
        return self._record.is_running or self._lost is not None

    def start(self) -> None:
        """Before the job does anything, as its own profiler may be the first thing."""
        self._own.watch()

    def stop(self) -> None:
        self._own.stop()
        if self._record.is_running:
            self._discard()

    def meet(self, device: str, group_size: int) -> None:
        """A group has its first call."""
        self._sends |= device == self._device and group_size > 1

    def settle(self, next_step: int) -> bool:
        """Before the clock is read that ends a step. Says whether turn() is needed."""
        wants = self._wants(next_step)
        self._captures = False
        if self._record.is_running or wants:
            try:
                self._captures = self._gpu.is_capturing()
                if not self._captures:
                    self._gpu.synchronise()
            except Exception as error:  # of the job's own kernels, most likely; it is told where it looks for it
                self._give_up(error)
        return wants or self.is_recording or (self._sends and self._timed.is_timed(next_step))

    def note_length(self, step: int, seconds: float, timed: bool) -> None:
        """Of every step: what one takes that is not timed."""
        if not timed and step >= _SETTLED:
            self._untimed += seconds
            self._num_untimed += 1

    def turn(self, ended: EndedStep, next_step: int) -> list[str]:
        """Ends the record of the step that ended, begins that of the next. Returns lines for the file."""
        lines = []
        began = time.monotonic()
        if self.is_recording:
            was_recorded = self._record.is_running
            lines = self._close(ended)
            if was_recorded:  # else what made the step longer is the job's own, such as its profiler
                self._pay(ended, time.monotonic() - began)
            began = time.monotonic()
        if self._captures or not self._wants(next_step):
            if self._timed.is_timed(next_step):
                self._lost = self._broken or (_CAPTURED if self._captures else OWN_PROFILER)
        else:
            self._begin(next_step)
            self._cost = time.monotonic() - began
        return lines

    def _wants(self, next_step: int) -> bool:
        if not self._sends or self._broken is not None or self._own.is_there:
            return False
        return not self._is_warm or self._timed.is_timed(next_step)

    def _begin(self, step: int) -> None:
        try:
            if not self._is_warm:
                self._warm_up()
            if self._timed.is_timed(step):
                self._record.start()
        except BusyError as error:
            self._lost = str(error) if self._timed.is_timed(step) else None
        except NoRecordError as error:
            self._broken = str(error)
            self._lost = self._broken if self._timed.is_timed(step) else None
        except Exception as error:
            self._give_up(error)

    def _warm_up(self) -> None:
        self._record.start()
        self._gpu.run_something()
        self._gpu.synchronise()
        if not self._record.stop():
            raise NoRecordError(_NOTHING)
        self._is_warm = True

    def _close(self, ended: EndedStep) -> list[str]:
        events = []
        try:
            if self._record.is_running:
                events = self._record.stop()
                self._lost = _CAPTURED if self._captures else self._lost
        except NoRecordError as error:
            self._broken = self._lost = str(error)
        why, self._lost = self._lost, None
        if why is None:
            try:
                calls = _sending(ended, self._device)
                found = device_step(calls, events, ended.begin, ended.end)
            except Exception as error:  # a mistake of ours must not end the job
                self._give_up(error)
                why, self._lost = self._broken, None
            else:
                if found.calls or not calls:
                    return _lines_of(ended.step, found)
                why = "the GPU's record has no kernels of its calls" if events else _NOTHING
        return [_line({"kind": "not_timed", "step": ended.step, "why": why})]

    def _pay(self, ended: EndedStep, reading: float) -> None:
        own = ended.end - ended.begin
        usual = self._untimed / self._num_untimed if self._num_untimed else own
        self._timed.pay(self._cost + reading + max(0.0, own - usual), usual)

    def _make_room(self) -> None:
        """Of the job's own profiler, which begins now."""
        if self._record.is_running:
            self._lost = OWN_PROFILER
            self._discard()

    def _discard(self) -> None:
        try:
            self._record.stop()
        except NoRecordError as error:
            self._broken = str(error)

    def _give_up(self, error: Exception) -> None:
        self._broken = f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
        if self._record.is_running:
            self._lost = self._broken
            self._discard()


def _sending(ended: EndedStep, device: str) -> list[HostCall]:
    """The calls of the step that have something to send."""
    found = []
    for text in ended.calls:
        call: dict[str, Any] = json.loads(text)
        has_bytes = call["in_bytes"] or call["out_bytes"] or call["collective"] == "barrier"
        sends = has_bytes and ended.group_sizes[call["group"]] > 1
        if call["step"] == ended.step and call["device"] == device and call["issued"] is not None and sends:
            found.append(HostCall(call["call"], call["collective"], call["group"], call["begin"], call["issued"]))
    return found


def _lines_of(step: int, found: DeviceStep) -> list[str]:
    lines = []
    for number, one in found.calls.items():
        times = {name: round(value, 7) for name, value in one._asdict().items()}
        lines.append(_line({"kind": "device_call", "call": number, **times}))
    kernels = [one._asdict() for one in found.kernels]
    about = {"exposed": found.exposed, "lost": found.lost, "unmatched": found.unmatched, "kernels": kernels}
    return [*lines, _line({"kind": "device_step", "step": step, **about})]


def _line(line: dict[str, object]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"
