# SPDX-License-Identifier: Apache-2.0
"""The command line of tables, which computes some batches and then waits for a signal.

A test that interrupts a run cannot rely on finding it unfinished: it may be delayed for longer than the
run takes.
``python -m tests.python.held_cli BATCHES ARGUMENT...`` never finishes by itself.
"""

from __future__ import annotations

import itertools
import signal
import sys
from typing import Any

from manymod.cli.main import main
from manymod.tables import Computed, operation_job


def hold_after(batches: int) -> None:
    """Let the batch after so many wait for signals for ever, before it is computed."""
    compute = operation_job.ColumnWork.compute
    calls = itertools.count()

    def held(work: operation_job.ColumnWork, *arguments: Any) -> Computed:
        while next(calls) >= batches:
            signal.pause()
        return compute(work, *arguments)

    operation_job.ColumnWork.compute = held  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    hold_after(int(sys.argv[1]))
    main(sys.argv[2:], prog_name="manymod")
