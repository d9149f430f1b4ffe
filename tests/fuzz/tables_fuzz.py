# SPDX-License-Identifier: Apache-2.0
"""Tables in CSV, JSON Lines, Parquet and Arrow IPC: a malformed one is a TableError, and every row is right.

The first bytes of an input choose format, operation and output, the others are the file.
"""

from __future__ import annotations

import atexit
import io
import json
import re
import shutil
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from tests.fuzz.choices import Choices

from manymod import ManymodError, tables

FORMATS = ("csv", "jsonl", "parquet", "arrow", "arrows")
OPERATIONS = ("powmod", "mulmod", "submod", "invmod", "sqrmod")
RESULTS = ("same", "dec", "hex", "bytes")
LIMITS = (tables.BatchLimits(), tables.BatchLimits(rows=3, size=200))
#: Statuses of rows of integers, and of rows with a cell that holds none. Others are about the row as a whole.
ITEM_STATUSES = {"zero_modulus", "not_invertible", "modulus_too_wide"}
CELL_STATUSES = ("_not_an_integer", "_is_null")
#: A number of more bits is no exponent that a test should compute.
LONGEST_EXPONENT = 6000
_INTEGER = re.compile(r"[ \t\r\n]*([+-]?)(?:0[xX]([0-9a-fA-F]+)|([0-9]+))[ \t\r\n]*", re.ASCII)

_folder = Path(tempfile.mkdtemp(prefix="manymod-fuzz-"))
atexit.register(shutil.rmtree, _folder)


def _integer(cell: Any) -> int | None:
    """The integer that a cell stands for, by the rules of the command line; None if it is none."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int):
        return cell
    if isinstance(cell, Decimal):
        return int(cell)
    if isinstance(cell, bytes):
        return int.from_bytes(cell, "big")
    found = _INTEGER.fullmatch(cell) if isinstance(cell, str) else None
    if found is None:
        return None
    sign, hexadecimal, decimal = found.groups()
    value = int(hexadecimal, 16) if hexadecimal else int(decimal)
    return -value if sign == "-" else value


def _expected(name: str, numbers: list[int]) -> int | None:
    """The result of a row; None where it has none."""
    modulus = numbers[-1]
    if modulus == 0 or modulus.bit_length() > 16384:
        return None
    if name == "mulmod":
        return numbers[0] * numbers[1] % modulus
    if name == "submod":
        return (numbers[0] - numbers[1]) % modulus
    if name == "sqrmod":
        return numbers[0] ** 2 % modulus
    try:
        return pow(numbers[0], numbers[1] if name == "powmod" else -1, modulus)
    except ValueError:
        return None


def _check_row(name: str, operands: list[Any], result: Any, status: str) -> None:
    numbers = [number for number in map(_integer, operands) if number is not None]
    what = f"{name} of {operands} is {result} ({status})"
    whole = len(numbers) == len(operands)
    if name == "powmod" and any(number.bit_length() > LONGEST_EXPONENT for number in numbers):
        return
    expected = _expected(name, numbers) if whole else None
    if status == "ok":
        assert whole and _integer(result) == expected, f"{what}; expected {expected}"
        return
    assert result is None, what
    if status in ITEM_STATUSES:
        assert whole, what
        assert expected is None, what
    elif status.endswith(CELL_STATUSES):
        assert not whole, what
    elif status == "negative_result":
        assert expected is not None, what
        assert expected < 0, what


def _check_table(name: str, labels: list[str], columns: dict[str, Any], table: Any) -> None:
    results, statuses = table.column("result").to_pylist(), table.column("status").to_pylist()
    for row, (result, status) in enumerate(zip(results, statuses, strict=True)):
        if status == "invalid_json":
            continue
        operands = [columns[label][row] if label in columns else label for label in labels]
        _check_row(name, operands, result, status)


def _check_lines(name: str, labels: list[str], table: Any) -> None:
    for line in table.column("line").to_pylist():
        row = json.loads(line)
        if row["status"] == "invalid_json":
            continue
        operands = [row.get(label) if not label.isdecimal() else label for label in labels]
        _check_row(name, operands, row["result"], row["status"])


def _write(table: Any, table_format: str) -> bytes:
    """A table as a file of that format."""
    sink = io.BytesIO()
    if table_format == "csv":
        pc.write_csv(table, sink)
    elif table_format == "jsonl":
        sink.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
    elif table_format == "parquet":
        pq.write_table(table, sink)
    else:
        make = pa.ipc.new_file if table_format == "arrow" else pa.ipc.new_stream
        with make(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    return sink.getvalue()


def seeds() -> list[bytes]:
    """Return small tables in each format."""
    texts = pa.table({"b": ["2", "0x10", "-3", "x"], "e": ["5", "-1", "", "7"], "m": ["7", "9", "0", "-11"]})
    numbers = pa.table({"b": [2, 3, None], "e": [5, -1, 0], "m": [7, 9, 1], "other": [1.5, 2.5, None]})
    cells = pa.table({"b": [b"\x01\x00", b""], "e": [b"\x03", None], "m": [b"\x65", b"\x07"]})
    made = []
    for index, table_format in enumerate(FORMATS):
        for table in (texts, numbers, cells):
            if table_format in {"csv", "jsonl"} and table is cells:
                continue
            content = _write(table, table_format)
            made += [bytes([index, operation, 0, 0]) + content for operation in range(2)]
    made.append(
        bytes([1, 0, 0, 0]) + b'{"b": "1", "e": 2}\n\n[1]\n{"b": 12345678901234567890123, "e": 0, "m": 5.0}'
    )
    made.append(bytes([0, 0, 0, 0]) + b'\xef\xbb\xbf"b","e",m\r\n"1\n",2,3\r\n1,2,5\r\n')
    return made


def check(data: bytes) -> None:
    """Run one input."""
    choices = Choices(data)
    table_format = choices.among(FORMATS)
    name = choices.among(OPERATIONS)
    how, small, as_lines = choices.among(RESULTS), choices.one_in(2), choices.one_in(2)
    path = _folder / f"input.{table_format}"
    path.write_bytes(choices.rest())
    operation = tables.OPERATIONS[name]
    columns = {"base": "b", "exp": "e", "mod": "m", "x": "b", "y": "e"}
    operands = {label: columns[label] for label in operation.operands}
    job = tables.OperationJob(operation=operation, operands=operands, names=tables.OutputNames(how=how))
    sink = tables.MemorySink()
    try:
        source = tables.open_source(path, table_format, LIMITS[small], as_lines=as_lines)
        try:
            tally = tables.run(job, source, sink)
        finally:
            source.close()
    except ManymodError:
        return
    output = sink.table()
    assert tally.rows == output.num_rows
    labels = list(operands.values())
    if output.schema.names == ["line"]:
        _check_lines(name, labels, output)
    else:
        _check_table(name, labels, {label: output.column(label).to_pylist() for label in labels}, output)
