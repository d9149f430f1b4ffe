# SPDX-License-Identifier: Apache-2.0
"""Runs programs that use OpenCL in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def run(program: str, folder: Path, given: object = None, **variables: str) -> Any:
    """What the program prints as JSON, with OpenCL and an empty cache of its kernels."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MANYMOD_")}
    environment |= {"MANYMOD_OPENCL_CACHE": str(folder), "POCL_CACHE_DIR": str(folder / "pocl"), **variables}
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        input=json.dumps(given),
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    answer = json.loads(finished.stdout)
    if "obstacle" in answer:
        pytest.skip(answer["obstacle"])
    return answer
