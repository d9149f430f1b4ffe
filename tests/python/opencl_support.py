# SPDX-License-Identifier: Apache-2.0
"""Runs programs that use OpenCL in processes of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.python import json_process


def run(program: str, folder: Path, given: object = None, **variables: str) -> Any:
    """What the program prints as JSON, with OpenCL and an empty cache of its kernels."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MANYMOD_")}
    environment |= {"MANYMOD_OPENCL_CACHE": str(folder), "POCL_CACHE_DIR": str(folder / "pocl"), **variables}
    answer = json_process.run(program, environment, given)
    if "obstacle" in answer:
        pytest.skip(answer["obstacle"])
    return answer
