# SPDX-License-Identifier: Apache-2.0
"""Exceptions of tables."""

from __future__ import annotations

from manymod.errors import ManymodError

__all__ = ["OperandError", "PartsError", "TableError"]


class TableError(ManymodError):
    """The table cannot be read or written; the message says why."""


class OperandError(ManymodError, ValueError):
    """An operand, or the name of an output column, does not fit the table."""


class PartsError(ManymodError):
    """The parts beside the output cannot be used; the message says what to do."""
