# SPDX-License-Identifier: Apache-2.0
"""Run the steps of a stage of gpu_run.py within its time limit, and report what came of it."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gpu_stages import Stage, Step

#: Seconds between the request to stop and the kill.
GRACE = 10.0
#: Exit status of a command that was stopped at its limit, as `timeout` of coreutils has it.
TIMED_OUT = 124
#: Properties of a card that are queried from nvidia-smi.
CARD_FIELDS = ("name", "driver_version", "compute_cap", "memory.total", "clocks.max.sm")


def said(*command: str) -> str:
    """Return what a command printed, "" if it failed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
            return


@dataclass
class StageRun:
    """A stage on its way: where its output goes and when it must end."""

    log: BinaryIO
    deadline: float
    passed: bool = True
    timed_out: bool = False
    #: A required step failed, or the time is up.
    ended: bool = field(default=False)

    def write(self, data: bytes) -> None:
        """Print to the terminal and to the log."""
        for stream in (sys.stdout.buffer, self.log):
            stream.write(data)
            stream.flush()

    def take(self, steps: Iterable[Step]) -> None:
        """Run steps until the stage has ended."""
        for step in steps:
            if self.ended:
                return
            if step.message:
                self.write(step.message.encode() + b"\n")
            if step.command:
                self._finish(step, self._run(step) in step.accepted)

    def _finish(self, step: Step, succeeded: bool) -> None:
        if succeeded:
            self.take(step.then)
        elif step.otherwise is not None and not self.ended:
            self.take(step.otherwise)
        else:
            self.passed = False
            self.ended |= step.required

    def _run(self, step: Step) -> int:
        """Run a command. Returns its exit status, TIMED_OUT where it took too long."""
        deadline = self.deadline
        if step.limit is not None:
            deadline = min(deadline, time.monotonic() + step.limit)
        environment = os.environ | step.environment
        with contextlib.ExitStack() as stack:
            copy = stack.enter_context(step.output.open("wb")) if step.output else None
            try:
                process = subprocess.Popen(
                    step.command,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as error:
                self.write(f"{step.command[0]}: {error.strerror}\n".encode())
                return 127
            stack.enter_context(process)
            stack.callback(stop, process)
            if self._forward(process, copy, deadline, show=step.show):
                return process.wait()
        if deadline == self.deadline:
            self.timed_out = self.ended = True
        self.write(f"{step.command[0]}: stopped, its time was up\n".encode())
        return TIMED_OUT

    def _forward(
        self, process: subprocess.Popen[bytes], copy: BinaryIO | None, deadline: float, *, show: bool
    ) -> bool:
        """Pass a process's output on until it ends. Returns False where the deadline came first."""
        with selectors.DefaultSelector() as selector:
            for stream in (process.stdout, process.stderr):
                selector.register(stream, selectors.EVENT_READ)  # type: ignore[arg-type]
            while selector.get_map():
                if (left := deadline - time.monotonic()) <= 0:
                    return False
                for key, _ in selector.select(left):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stdout and copy:
                        copy.write(data)
                        if show:
                            self.write(data)
                    else:
                        self.write(data)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
            return True
        return False


def describe(stage: str, folder: Path, run: StageRun, seconds: float) -> dict[str, object]:
    """Return the report of a stage. The results that the stage left in `folder` move into it."""
    query = said("nvidia-smi", "--query-gpu=" + ",".join(CARD_FIELDS), "--format=csv,noheader")
    release = re.search(r"release ([\d.]+)", said(os.environ.get("NVCC", "nvcc"), "--version"))
    results = {}
    for path in sorted(folder.glob(f"{stage}.*results.json")):
        name = path.name.removeprefix(f"{stage}.").removesuffix("results.json").strip(".") or "tests"
        results[name] = json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
    return {
        "stage": stage,
        "passed": run.passed,
        "timed_out": run.timed_out,
        "seconds": round(seconds, 1),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": os.environ.get("MANYMOD_COMMIT", ""),
        "cards": [dict(zip(CARD_FIELDS, card.split(", "), strict=False)) for card in query.splitlines()],
        "cuda": release[1] if release else "",
        "results": results,
    }


def run_stage(stage: Stage, steps: list[Step], folder: Path, limit: float) -> bool:
    """Run a stage, leave STAGE.log and STAGE.json in `folder`, and return whether it passed."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with (folder / f"{stage.name}.log").open("wb") as log:
        run = StageRun(log, start + limit)
        print(f"== {stage.name}", flush=True)
        run.take(steps)
    document = describe(stage.name, folder, run, time.monotonic() - start)
    (folder / f"{stage.name}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return run.passed
