# SPDX-License-Identifier: Apache-2.0
"""What a run measures on: processor, GPU, their clocks, and where programs of `bench/` are."""

from __future__ import annotations

import contextlib
import shutil
import statistics
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import manymod
from manymod import _core
from manymod.cli.bench.quiet import CYCLES, LEAST_READING, QuietMeter
from manymod.cli.bench.report import machine, versions
from manymod.lab.model import Unavailable

__all__ = ["Clock", "Machine"]

#: Seconds between readings of a GPU's clock, and of a loop that tells the processor's.
_PERIOD = 0.1
_READING = LEAST_READING
_NVIDIA_SMI_SECONDS = 20


class Clock:
    """MHz of a GPU's multiprocessors over time, from a nvidia-smi that runs beside; none without it."""

    def __init__(self, index: int) -> None:
        self._seen: deque[tuple[float, float]] = deque(maxlen=4096)
        self._process: subprocess.Popen[str] | None = None
        if shutil.which("nvidia-smi") is not None:
            query = ["--query-gpu=clocks.sm", "--format=csv,noheader,nounits"]
            command = ["nvidia-smi", f"--id={index}", *query, f"--loop-ms={round(1e3 * _PERIOD)}"]
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()

    def _read(self) -> None:
        assert self._process is not None  # noqa: S101 (for the type checker: started)
        assert self._process.stdout is not None  # noqa: S101
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                self._seen.append((time.perf_counter(), float(line)))

    def mhz(self, since: float) -> float | None:
        """The median since a time of `time.perf_counter`, or the last reading where none is as young."""
        seen = list(self._seen)
        during = [mhz for when, mhz in seen if when >= since]
        if during:
            return statistics.median(during)
        return seen[-1][1] if seen else None

    def close(self) -> None:
        """End the program beside."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._reader.join()
            if self._process.stdout is not None:
                self._process.stdout.close()


def _driver(index: int) -> str:
    command = ["nvidia-smi", f"--id={index}", "--query-gpu=driver_version", "--format=csv,noheader"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_NVIDIA_SMI_SECONDS
        ).stdout.strip()
    return ""


@dataclass
class Machine:
    """The machine of a run; a context, which ends what runs beside.

    Attributes:
        programs: folder of the programs of `bench/` and of peers, if there is one.
        reports: earlier reports of these programs, by program.
        meter: tells whether the core was this process's alone.
    """

    programs: Path | None = None
    reports: dict[str, Path] = field(default_factory=dict)
    meter: QuietMeter = field(default_factory=lambda: QuietMeter(_READING))

    def __post_init__(self) -> None:
        self.facts: dict[str, Any] = {**machine(), "versions": versions()}
        self.gpus = [device for device in manymod.devices() if device.backend == "cuda"]
        self._clock: Clock | None = None
        usable = [gpu for gpu in self.gpus if not gpu.obstacle]
        self.gpu = usable[0] if usable else None
        if self.gpu is not None:
            support = manymod.cuda_support()
            self.facts["gpu"] = {
                "name": self.gpu.name,
                "model": self.gpu.model,
                "multiprocessors": self.gpu.units,
                "features": self.gpu.features,
                "driver": _driver(self.gpu.index),
                "cuda": support.driver,
            }
            self._clock = Clock(self.gpu.index)

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._clock is not None:
            self._clock.close()

    def require_gpu(self) -> manymod.Device:
        """The GPU to measure on.

        Raises:
            Unavailable: if there is none that could be used.
        """
        if self.gpu is None:
            obstacles = [gpu.obstacle for gpu in self.gpus] or [manymod.cuda_support().obstacle]
            raise Unavailable(f"no GPU: {obstacles[0]}")
        return self.gpu

    def gpu_mhz(self, since: float) -> float | None:
        """Clock of the multiprocessors since a time of `time.perf_counter`."""
        return None if self._clock is None else self._clock.mhz(since)

    def cpu_mhz(self) -> float | None:
        """Clock of this core now."""
        rate = _core.instruction_rate(CYCLES, _READING)
        return None if rate is None else rate / 1e6

    def find_program(self, name: str) -> Path | None:
        """A program in the folder of programs, its subfolder `bench`, or on PATH."""
        for folder in [] if self.programs is None else [self.programs, self.programs / "bench"]:
            if (folder / name).is_file():
                return folder / name
        found = shutil.which(name)
        return None if found is None else Path(found)

    def program(self, name: str, target: str) -> Path:
        """Likewise.

        Raises:
            Unavailable: if it is not there; the message says how to build it.
        """
        found = self.find_program(name)
        if found is None:
            raise Unavailable(f"the program {name} is not there: {target}, then --programs FOLDER")
        return found
