#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verify the signatures of a Parquet file whose rows name one of many RSA keys.

    verify_parquet.py signed.parquet keys/ verified.parquet

The table has the columns `message` and `signature` (binary) and `key`, the name of a public key in the
folder: row `alice` belongs to keys/alice.pem. The output has two more columns: `valid`, which is null where
message or signature is, and `status`, which says why a row could not be checked. Batches of rows are read one
after another, so that a file may be larger than the memory. The output appears once it is complete.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from manymod import ManymodError, Status
from manymod.rsa import KeyRing, PublicKey

INPUTS, ANSWERS = ("message", "signature", "key"), ("valid", "status")
STATUS_NAMES = pa.array(
    [Status(number).name.lower() if number in set(Status) else "" for number in range(256)]
)


def read_keys(folder: Path) -> tuple[pa.Array, KeyRing]:
    """The names of the keys in a folder, and a ring of them in the same order."""
    paths = sorted(folder.glob("*.pem"))
    if not paths:
        raise SystemExit(f"{folder}: no *.pem")
    return pa.array([path.stem for path in paths]), KeyRing([read_key(path) for path in paths])


def read_key(path: Path) -> PublicKey:
    """The public key of a file."""
    try:
        return PublicKey.from_pem(path.read_bytes())
    except ManymodError as error:
        raise SystemExit(f"{path}: {error}") from error


def check_columns(table: Path, schema: pa.Schema) -> None:
    """Exit unless a table has the columns that are read, and none that are to be added."""
    for name in INPUTS:
        if schema.names.count(name) != 1:
            raise SystemExit(f"{table}: not one column {name}; there are {', '.join(schema.names)}")
    for name in ANSWERS:
        if name in schema.names:
            raise SystemExit(f"{table}: there is a column {name} already")


@contextmanager
def replaced_when_complete(output: Path) -> Iterator[Path]:
    """A name beside `output` for the file that takes its place, unless an exception ends the block."""
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as folder:
        unfinished = Path(folder, output.name)
        yield unfinished
        unfinished.replace(output)


def verified(batch: pa.RecordBatch, names: pa.Array, ring: KeyRing) -> pa.RecordBatch:
    """The rows of a batch with their verdicts and statuses."""
    # Names that no key has are null here; these items get the status RSA_KEY.
    indices = pc.index_in(batch["key"].cast(pa.string()), names)
    try:
        valid, statuses = ring.verify(
            batch["signature"], batch["message"], indices, "pkcs1v15", "sha256", errors="status"
        )
    except TypeError as error:  # a column of text, say
        raise SystemExit(str(error)) from error
    columns = [*batch.columns, valid, STATUS_NAMES.take(pa.array(statuses))]
    return pa.RecordBatch.from_arrays(columns, [*batch.schema.names, *ANSWERS])


def verify_file(table: Path, keys: Path, output: Path) -> Counter[str]:
    """Verify a file. Returns how many rows are valid and invalid, and how many have which status."""
    if output.exists() and output.samefile(table):
        raise SystemExit(f"{output}: this is the table itself: write to another file")
    names, ring = read_keys(keys)
    counts: Counter[str] = Counter()
    with pq.ParquetFile(table) as source:
        check_columns(table, source.schema_arrow)
        schema = source.schema_arrow.append(pa.field("valid", pa.bool_())).append(
            pa.field("status", pa.string())
        )
        with replaced_when_complete(output) as unfinished, pq.ParquetWriter(unfinished, schema) as sink:
            for batch in source.iter_batches(batch_size=1 << 16):
                rows = verified(batch, names, ring)
                sink.write_batch(rows)
                outcomes = pc.if_else(rows["valid"], "valid", "invalid")
                counts.update(
                    pc.if_else(pc.equal(rows["status"], "ok"), outcomes, rows["status"]).to_pylist()
                )
    return counts


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    for name, what in (
        ("table", "the Parquet file"),
        ("keys", "folder of public keys"),
        ("output", "to write"),
    ):
        parser.add_argument(name, type=Path, help=what)
    given: Any = parser.parse_args(arguments)
    try:
        counts = verify_file(given.table, given.keys, given.output)
    except OSError as error:
        raise SystemExit(str(error)) from error
    except (pa.ArrowException, ManymodError) as error:
        raise SystemExit(f"{given.table}: {error}") from error
    for outcome, rows in counts.most_common():
        print(f"{rows:9} {outcome}")


if __name__ == "__main__":
    main()
