# SPDX-License-Identifier: Apache-2.0
"""Writes the files of keys and states, which overwrite nothing."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_new_files"]


def write_new_files(*files: tuple[Path, bytes, int]) -> None:
    """Write files that do not exist yet, each with its mode; where that ends before all are, none is left."""
    made: list[Path] = []
    try:
        for path, data, mode in files:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            made.append(path)
            with open(descriptor, "wb") as file:
                file.write(data)
    except BaseException:
        for path in made:
            path.unlink()
        raise
