# SPDX-License-Identifier: Apache-2.0
"""The rows of a tuning table as a table for people."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

import manymod

__all__ = ["rows_table"]


def rows_table(table_in_use: manymod.Tuning) -> Table:
    """Return the rows of a tuning table, each choice with its measurement."""
    source = table_in_use.source or "of this build"
    rows = Table(
        title=Text(f"Tuning table {source}: {table_in_use.processor}, {table_in_use.date}"),
        title_justify="left",
    )
    for heading in ("operation", "timing", "bits", "items from", "variant", "measurement"):
        rows.add_column(heading)
    for row in table_in_use.rows:
        timing = "secret" if row.secret else "public"
        bits = f"{row.min_bits}-{row.max_bits}"
        rows.add_row(row.op, timing, bits, str(row.min_items), Text(row.variant), Text(row.evidence))
    return rows
