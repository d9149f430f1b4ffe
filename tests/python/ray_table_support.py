# SPDX-License-Identifier: Apache-2.0
"""A job and tables for it, for tests of Ray."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from tests.python.cli_support import power_rows

from manymod import tables

POWERS = tables.OperationJob(
    operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "e", "mod": "n"}
)


def power_table(count: int) -> tuple[Any, list[str | None]]:
    """A table with some bad rows, and the results that it has."""
    rows = power_rows(count, 256, seed=7)
    for row in rows[::9]:
        row["n"] = "0"
    results = [str(pow(int(r["b"]), int(r["e"]), int(r["n"]))) if int(r["n"]) else None for r in rows]
    columns = {name: [row[name] for row in rows] for name in "ben"}
    return pa.table({"id": list(range(count)), **columns}), results
