# SPDX-License-Identifier: Apache-2.0
"""What benchmarks of whole calls on one device share: how they choose it, and the report that they write."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import manymod


def parser_of(description: str | None, *, repetitions: int) -> argparse.ArgumentParser:
    """Return a parser of the options that all of them have; `description` is the program's docstring."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="", help="default: that of the backend's first device")
    parser.add_argument("--repetitions", type=int, default=repetitions)
    parser.add_argument("--output", type=Path)
    return parser


def device_of(parser: argparse.ArgumentParser, backend: str, model: str) -> manymod.Device:
    """Return the backend's first device whose model contains `model`; ends the program if there is none."""
    devices = [device for device in manymod.devices() if device.backend == backend]
    chosen = next((device for device in devices if model in device.model), None)
    if chosen is None:
        parser.error(f"no such device among {[device.model for device in devices]}")
    return chosen


class Report:
    """Rows of measurements on a device, each printed as soon as it is there."""

    def __init__(self, device: manymod.Device) -> None:
        self._device = device
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        """Add and print a row."""
        self._rows.append(row)
        print(json.dumps(row), flush=True)

    def write(self, output: Path | None) -> None:
        """Write all rows to a file, if one was named."""
        if output is not None:
            whole = {"device": self._device.model, "threads": manymod.get_threads(), "rows": self._rows}
            output.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
