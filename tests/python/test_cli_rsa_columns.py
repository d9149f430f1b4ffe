# SPDX-License-Identifier: Apache-2.0
"""What `manymod rsa` takes for messages, signatures, ciphertexts and names of keys, in every format."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import serialization
from tests.python.cli_support import read_arrow, read_table, run, write_arrow, write_table
from tests.python.rsa_support import peer_key, private_key

OUTPUTS = ["csv", "tsv", "jsonl", "parquet", "arrow", "arrows"]
PKCS1 = ("--padding", "pkcs1v15")
PEM = serialization.Encoding.PEM


def private_pem(number: int) -> bytes:
    """A private key."""
    private = serialization.PrivateFormat.PKCS8
    return peer_key(2048, number).private_bytes(PEM, private, serialization.NoEncryption())


def public_pem(number: int) -> bytes:
    """A public key."""
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    return peer_key(2048, number).public_key().public_bytes(PEM, public)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The file of a private key."""
    path = tmp_path / "0.pem"
    path.write_bytes(private_pem(0))
    return path


def signed(number: int, *messages: bytes) -> list[bytes]:
    """Signatures by PKCS #1 v1.5."""
    found: list[bytes] = private_key(2048, number).sign(list(messages), "pkcs1v15", "sha256")
    return found


def cell(value: Any) -> bytes | None:
    """Bytes of a result cell of any format."""
    if value is None or value == "":
        return None
    return value if isinstance(value, bytes) else bytes.fromhex(value.removeprefix("0x"))


MESSAGES: list[tuple[str, str]] = [
    ('{"m": "text"}', "ok"),
    ('{"m": {"to":"me"}}', "message_not_text"),
    ('{"m": ["text"]}', "message_not_text"),
    ('{"m": 5}', "message_not_text"),
    ('{"m": 1.0}', "message_not_text"),
    ('{"m": true}', "message_not_text"),
    ('{"m": null}', "message_is_null"),
    ('{"other": 1e400}', "message_is_null"),
    ('{"m": "\\ud800"}', "message_not_text"),
    ('{"m": "a", "m": "b"}', "repeated_key"),
    ("no json", "invalid_json"),
    ('{"m": "5"}', "ok"),
    ('{"m": ""}', "ok"),
]


@pytest.mark.parametrize("after", OUTPUTS)
def test_only_text_of_json_is_signed(tmp_path: Path, key: Path, after: str) -> None:
    table, out = tmp_path / "in.jsonl", tmp_path / f"out.{after}"
    table.write_text("".join(line + "\n" for line, _ in MESSAGES))
    finished = run("rsa", "sign", table, "-o", out, "--key", key, "--message", "m", *PKCS1, "--batch-rows", 5)
    assert finished.code == 3, finished.err
    rows = read_table(out)
    assert [row["status"] for row in rows] == [status for _, status in MESSAGES]
    good = [cell(row["result"]) for row in rows if row["status"] == "ok"]
    assert good == signed(0, b"text", b"5", b"")
    assert {cell(row["result"]) for row in rows if row["status"] != "ok"} == {None}


@pytest.mark.parametrize("operation", ["sign", "verify", "encrypt", "decrypt"])
def test_json_lines_are_kept_letter_by_letter(tmp_path: Path, key: Path, operation: str) -> None:
    table, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    cells = {
        "sign": {"message": "text"},
        "encrypt": {"message": "text"},
        "verify": {"message": "text", "signature": signed(0, b"text")[0].hex()},
        "decrypt": {"ciphertext": private_key().public_key().encrypt([b"text"], "oaep")[0].hex()},
    }[operation]
    line = '{"z":1.0,  "a": 1e400, "u":"\\u00e4", "n": {"b":[2.50],"a":null}, ' + json.dumps(cells)[1:]
    table.write_text(line + "\n" + '{"x": 1}\n')
    columns = [text for name in cells for text in (f"--{name}", name)]
    finished = run(
        "rsa", operation, table, "-o", out, "--key", key, *columns, *(PKCS1 * (operation != "decrypt"))
    )
    assert finished.code == 3, finished.err
    first, second = out.read_text().splitlines()
    assert first.startswith(line[:-1] + ", ")
    assert json.loads(first)["status"] == "ok"
    assert second.startswith(
        '{"x": 1, "valid": null,' if operation == "verify" else '{"x": 1, "result": null,'
    )


def test_names_of_json_are_those_of_all_rows(tmp_path: Path, key: Path) -> None:
    table = tmp_path / "in.jsonl"
    table.write_text('no json\n{"other": 1}\n{"m": "text"}\n')
    for name in OUTPUTS:
        out = tmp_path / f"out.{name}"
        arguments = ("rsa", "sign", table, "-o", out, "--key", key, "--message")
        assert run(*arguments, "m").code == 3
        assert [row["status"] for row in read_table(out)] == ["invalid_json", "message_is_null", "ok"]
        finished = run(*arguments, "absent")
        assert (finished.code, "columns: other, m" in finished.err) == (2, True)
        finished = run(*arguments, "m", "--result", "other")
        assert (finished.code, "already has a column 'other'" in finished.err) == (2, True)


def encoded(data: bytes, encoding: str) -> str:
    """Bytes as text."""
    return {
        "hex": data.hex(),
        "base64": base64.b64encode(data).decode(),
        "base64url": base64.urlsafe_b64encode(data).decode().rstrip("="),
    }[encoding]


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("encoding", "option"), [("hex", "hex"), ("base64", "base64"), ("base64url", "base64")]
)
def test_bytes_in_text(tmp_path: Path, key: Path, name: str, encoding: str, option: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    messages = [b"\xff\x00 binary", b"text"]
    ciphertexts = private_key().public_key().encrypt(messages, "oaep")
    rows = [
        {"m": encoded(m, encoding), "s": encoded(s, encoding), "c": encoded(c, encoding)}
        for m, s, c in zip(messages, signed(0, *messages), ciphertexts, strict=True)
    ]
    write_table(table, [*rows, {"m": "?", "s": rows[0]["s"], "c": "?"}])
    how = ("--key", key, *PKCS1, "--message", "m", "--message-format", option)
    formats = ("--signature", "s", "--signature-format", option)
    assert run("rsa", "verify", table, "-o", out, *how, *formats).code == 3
    missing = "message_not_hexadecimal" if option == "hex" else "message_not_base64"
    assert [row["status"] for row in read_table(out)] == ["ok", "ok", missing]
    assert run("rsa", "sign", table, "-o", out, *how, "--result-format", "base64").code == 3
    found = [row["result"] for row in read_table(out)[:2]]
    assert [base64.b64decode(text) for text in found] == signed(0, *messages)
    decrypt = ("rsa", "decrypt", table, "-o", out, "--key", key, "--ciphertext", "c")
    assert run(*decrypt, "--ciphertext-format", option, "--result-format", "base64").code == 3
    rows = read_table(out)
    assert [base64.b64decode(row["result"]) for row in rows[:2]] == messages
    assert rows[2]["status"].startswith("ciphertext_not_")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two keys, private and public, and files that are no keys."""
    folder = tmp_path / "keys"
    folder.mkdir()
    for number, name in enumerate(["alice", "bob"]):
        (folder / f"{name}.pem").write_bytes(private_pem(number))
        (folder / f"{name}.pub").write_bytes(public_pem(number))
    (folder / "README").write_text("no key")
    (folder / "17.key").write_bytes(private_pem(0))
    (folder / "more.pem").mkdir()
    return folder


NAMES = [("alice", 0), ("bob.pem", 1), ("17", 0), ("carol", None), ("", None), ("README", None), ("0", None)]


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_keys_have_the_names_of_their_files(tmp_path: Path, folder: Path, name: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    write_table(table, [{"m": "text", "k": key_name} for key_name, _ in NAMES])
    arguments = ("rsa", "sign", table, "-o", out, "--message", "m", *PKCS1, "--keys", folder)
    assert run(*arguments).code == 2
    assert run(*arguments, "--key-column", "k").code == 3
    rows = read_table(out)
    assert [row["status"] for row in rows] == ["rsa_key" if n is None else "ok" for _, n in NAMES]
    assert [cell(row["result"]) for row in rows] == [
        None if number is None else signed(number, b"text")[0] for _, number in NAMES
    ]


def test_public_keys_have_names_too(tmp_path: Path, folder: Path) -> None:
    """Two files of one name without its extension need it."""
    table, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    names = ["alice.pub", "alice.pem", "bob.pub", "bob", "17", None]
    signature = signed(0, b"text")[0]
    columns = {"m": ["text"] * 6, "s": [signature] * 6, "k": pa.array(names).dictionary_encode()}
    write_arrow(table, pa.table(columns))
    arguments = ("rsa", "verify", table, "-o", out, "--message", "m", "--signature", "s", *PKCS1)
    assert run(*arguments, "--keys", folder, "--key-column", "k").code == 3
    assert read_arrow(out)["status"].to_pylist() == [
        "ok",
        "ok",
        "invalid_signature",
        "rsa_key",
        "ok",
        "key_is_null",
    ]


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_files_of_keys_have_indices_and_names(tmp_path: Path, folder: Path, name: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    cells = ["0", "1", "alice", "bob.pem", "carol", "2"]
    write_table(table, [{"m": "text", "k": text} for text in cells])
    keys = ("--key", folder / "bob.pem", "--key", folder / "alice.pem", "--key-column", "k")
    assert run("rsa", "sign", table, "-o", out, "--message", "m", *PKCS1, *keys).code == 3
    rows = read_table(out)
    assert [row["status"] for row in rows] == ["ok"] * 4 + ["key_not_an_integer", "rsa_key"]
    assert [cell(row["result"]) for row in rows[:4]] == [signed(n, b"text")[0] for n in (1, 0, 0, 1)]


@pytest.mark.parametrize("dtype", [pa.float64(), pa.int8(), pa.decimal128(21, 1)])
def test_indices_with_gaps(tmp_path: Path, folder: Path, dtype: Any) -> None:
    """As pandas writes integers beside missing values."""
    table, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    keys = pa.array([0, 1, None, 2, -1]).cast(dtype)
    write_arrow(table, pa.table({"m": ["text"] * 5, "k": keys}))
    names = ("--key", folder / "alice.pem", "--key", folder / "bob.pem", "--key-column", "k")
    assert run("rsa", "sign", table, "-o", out, "--message", "m", *PKCS1, *names).code == 3
    result = read_arrow(out)
    assert result["status"].to_pylist() == ["ok", "ok", "key_is_null", "rsa_key", "rsa_key"]
    assert result["result"].to_pylist()[:2] == [signed(n, b"text")[0] for n in (0, 1)]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["1.pem", "2.pem"], "1 in --key-column is the number of"),
        (["alice.pem", "0"], "0 in --key-column is the number of"),
        (["alice.pem", "0x0.pem"], "0x0 in --key-column is the number of"),
        (["1.key", "1.pem"], "1 in --key-column is the number of"),
        (["0.pem", "bob.pem", "2.key"], None),
        (["alice.pem", "alice.key"], None),
    ],
)
def test_no_name_of_a_key_is_the_number_of_another(
    tmp_path: Path, names: list[str], said: str | None
) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"m": "text", "k": "1"}])
    arguments: list[Any] = ["rsa", "sign", table, "-o", out, "--message", "m", *PKCS1, "--key-column", "k"]
    for number, name in enumerate(names):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(private_pem(number % 2))
        arguments += ["--key", path]
    finished = run(*arguments)
    assert (finished.code, str(said or "") in finished.err) == (2 if said else 0, True), finished.err
    assert out.exists() == (said is None)
    if not said:
        assert cell(read_table(out)[0]["result"]) == signed(1, b"text")[0]


def test_wrong_keys(tmp_path: Path, folder: Path, key: Path) -> None:
    table, empty = tmp_path / "in.csv", tmp_path / "empty"
    write_table(table, [{"m": "text", "k": "alice"}])
    empty.mkdir()
    before = (folder / "alice.pem").read_bytes()
    arguments = ("rsa", "sign", table, "-o", folder / "alice.pem", "--output-format", "csv", "--message", "m")
    finished = run(*arguments, "--keys", folder, "--key-column", "k")
    assert (finished.code, "OUT is one of --keys" in finished.err) == (2, True)
    assert (folder / "alice.pem").read_bytes() == before
    (folder / "junk.der").write_bytes(b"no key")
    for options, code, said in [
        (("--keys", empty, "--key-column", "k"), 2, "no file in it ends in .der, .key, .pem"),
        (("--keys", folder, "--key-column", "k"), 1, "junk.der"),
        (("--keys", folder, "--key", key, "--key-column", "k"), 2, "give --key, or --keys"),
        (("--keys", key, "--key-column", "k"), 2, "Invalid value for '--keys'"),
        ((), 2, "give --key, or --keys"),
    ]:
        finished = run("rsa", "sign", table, "-o", tmp_path / "out.csv", "--message", "m", *options)
        assert (finished.code, said in finished.err) == (code, True), finished.err
    assert not (tmp_path / "out.csv").exists()


def test_what_is_said_where_every_row_fails(tmp_path: Path, key: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    messages = [b"one", b"two"]
    ciphertexts = private_key().public_key().encrypt(messages, "pkcs1v15")
    rows = [
        {"m": m.decode(), "s": s.hex(), "c": c.hex()}
        for m, s, c in zip(messages, signed(0, *messages), ciphertexts, strict=True)
    ]
    write_table(table, rows)
    verify = ("rsa", "verify", table, "-o", out, "--key", key, "--message", "m", "--signature", "s")
    for wrong in ((), ("--padding", "pkcs1v15", "--hash", "sha512")):
        finished = run(*verify, *wrong)
        assert finished.code == 3
        assert "hint: every row is invalid_signature" in finished.err
        assert "--padding" in finished.err
        assert "--hash sha" in finished.err
    write_table(table, [*rows, {**rows[0], "m": "other"}])
    finished = run(*verify, *PKCS1)
    assert (finished.code, "hint" in finished.err) == (3, False)
    finished = run("rsa", "decrypt", table, "-o", out, "--key", key, "--ciphertext", "c")
    assert finished.code == 3
    assert "hint: every row is rsa_decryption" in finished.err
    sign = ("rsa", "sign", table, "-o", out, "--key", key, "--message", "m")
    finished = run(*sign, "--prehashed", "--hash", "sha512")
    assert (finished.code, "hint: every row is rsa_length" in finished.err) == (3, True)
    finished = run(*sign)
    assert (finished.code, "hint" in finished.err) == (0, False)
