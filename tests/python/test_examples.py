# SPDX-License-Identifier: Apache-2.0
"""The Python programs in examples/ on small input; examples in C and C++ are tests of ctest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives import serialization
from tests.python.rsa_support import peer_key, private_key

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, *arguments: Any) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout


def write_keys(folder: Path, keys: dict[str, tuple[int, int]]) -> None:
    """Files of public keys by their names."""
    folder.mkdir()
    for name, (bits, number) in keys.items():
        pem = (
            peer_key(bits, number)
            .public_key()
            .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        (folder / f"{name}.pem").write_bytes(pem)


def test_verify_parquet(tmp_path: Path) -> None:
    """Rows of many keys; a bad signature, nulls, a name that no key has."""
    keys = {f"key{number}": (1024, number) for number in range(5)}
    write_keys(tmp_path / "keys", keys)
    named: list[Any] = [f"key{row % 5}" for row in range(50)]
    messages: list[Any] = [b"message %d" % row for row in range(50)]
    signatures: list[Any] = [
        private_key(*keys[name]).sign(message, "pkcs1v15", "sha256")
        for name, message in zip(named, messages, strict=True)
    ]
    signatures[7] = signatures[8]
    messages[9], named[10], named[11] = None, "nobody", None
    table = pa.table(
        {"message": messages, "signature": signatures, "key": pa.array(named).dictionary_encode()}
    )
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=20)
    printed = run("verify_parquet.py", tmp_path / "in.parquet", tmp_path / "keys", tmp_path / "out.parquet")
    assert [line.split() for line in printed.splitlines()] == [
        ["46", "valid"],
        ["2", "rsa_key"],
        ["1", "invalid"],
        ["1", "not_computed"],
    ]
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.drop_columns(["valid", "status"]).equals(table)
    expected: list[bool | None] = [True] * 50
    expected[7], expected[9], expected[10], expected[11] = False, None, False, False
    assert found["valid"].to_pylist() == expected
    assert [row for row, status in enumerate(found["status"].to_pylist()) if status != "ok"] == [9, 10, 11]


COLUMNS: dict[str, Any] = {"message": [b"a"], "signature": [b"b"], "key": ["k"]}


@pytest.mark.parametrize(
    ("columns", "output", "said"),
    [
        (COLUMNS, "in.parquet", "in.parquet: this is the table itself: write to another file"),
        (None, "out.parquet", "No such file or directory"),
        (b"no table", "out.parquet", "in.parquet: "),
        (
            {"message": [b"a"], "key": ["k"]},
            "out.parquet",
            "in.parquet: not one column signature; there are message, key",
        ),
        ({**COLUMNS, "message": ["text"]}, "out.parquet", "messages: string is text: cast it to binary"),
        ({**COLUMNS, "valid": [True]}, "out.parquet", "there is a column valid already"),
        ({**COLUMNS, "key": [[1]]}, "out.parquet", "in.parquet: "),
        (COLUMNS, "absent/out.parquet", "No such file or directory"),
        (COLUMNS, "bad key", "bad.pem: "),
    ],
)
def test_what_verify_parquet_refuses(tmp_path: Path, columns: Any, output: str, said: str) -> None:
    """In one line, with the table as it was and nothing of an output."""
    table, keys = tmp_path / "in.parquet", tmp_path / "keys"
    write_keys(keys, {"k": (1024, 0)})
    if isinstance(columns, bytes):
        table.write_bytes(columns)
    elif columns is not None:
        pq.write_table(pa.table(columns), table)
    if output == "bad key":
        (keys / "bad.pem").write_text("no key")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run("verify_parquet.py", table, keys, tmp_path / output)
    assert said in caught.value.stderr
    assert (caught.value.returncode, len(caught.value.stderr.splitlines())) == (1, 1)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
