# SPDX-License-Identifier: Apache-2.0
"""Runs Python programs in processes with an environment of their own, which speak JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def run(
    program: str, environment: Mapping[str, str], given: object = None, folder: Path | None = None
) -> Any:
    """What the program prints as JSON; ``given`` is on its standard input as JSON.

    It runs in ``folder`` (None: where this process runs), and its warnings are errors.
    """
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        input=json.dumps(given),
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)
