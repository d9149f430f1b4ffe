# SPDX-License-Identifier: Apache-2.0
"""A table that takes the place of a file as a whole, or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from manymod.tables.folders import Folder, OutputFile
from manymod.tables.writers import Writer, open_writer

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Replacement", "write_table"]


class Replacement:
    """A table that is written to a private temporary file, which then takes the place of an output.

    Args:
        output: the file to write or to replace.
        schema: the table's Arrow schema.
        table_format: one of `FORMATS`.
        compression: one of `COMPRESSIONS`, or None.
        folder: where the temporary file is, on the output's file system; by default the output's directory.
        name: its name there; by default one that nobody can know before.
    """

    def __init__(
        self,
        output: OutputFile,
        schema: Any,
        table_format: str,
        compression: str | None,
        folder: Folder | None = None,
        name: str | None = None,
    ) -> None:
        self._output = output
        self._arguments = (schema, table_format, compression)
        self._folder = folder
        self._name = name or output.temporary_name()
        self._stack = contextlib.ExitStack()
        self._writer: Writer | None = None

    def __enter__(self) -> Self:
        """Create the temporary file."""
        with contextlib.ExitStack() as stack:
            self._parent = output_folder = self._output.folder()
            stack.callback(output_folder.close)
            self._place = self._folder or output_folder
            file = self._place.create(self._name)
            stack.callback(self._place.remove, self._name)
            stack.callback(file.close)
            self._writer = open_writer(file, *self._arguments)
            self._stack = stack.pop_all()
        return self

    def write(self, batch: Any) -> None:
        """Append a record batch."""
        assert self._writer is not None  # noqa: S101 - entered
        self._writer.write(batch)

    def commit(self) -> None:
        """Make the file durable and move it into place."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        self._output.put(self._place, self._name, self._parent)

    def __exit__(self, *_: object) -> None:
        """Remove what was not moved into place."""
        writer, self._writer = self._writer, None
        with self._stack:
            if writer is not None:
                with contextlib.suppress(Exception):  # what is thrown away need not be finished
                    writer.close()


def write_table(table: Replacement, batches: Iterable[Any]) -> None:
    """Write all batches of a table, and move it into place."""
    with table:
        for batch in batches:
            table.write(batch)
        table.commit()
