# SPDX-License-Identifier: Apache-2.0
"""`manymod ecc` over tables of every format, with bad rows, keys in files and in columns, and --resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from tests.python.cli_support import interrupted_at, read_table, run, write_arrow, write_table

from manymod import ecc

MESSAGES = [f"message {number} ä" for number in range(30)]
PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER
PRIVATE, PUBLIC = serialization.PrivateFormat.PKCS8, serialization.PublicFormat.SubjectPublicKeyInfo


@pytest.fixture(scope="module")
def peers() -> list[Any]:
    """Private keys of three curves."""
    return [
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP384R1()),
        ed25519.Ed25519PrivateKey.generate(),
    ]


@pytest.fixture
def keys(tmp_path: Path, peers: list[Any]) -> list[Path]:
    """Files of the keys, the last one encrypted, and of the first one's public half."""
    texts = [peer.private_bytes(PEM, PRIVATE, serialization.NoEncryption()) for peer in peers[:2]]
    texts.append(peers[2].private_bytes(PEM, PRIVATE, serialization.BestAvailableEncryption(b"secret")))
    texts.append(peers[0].public_key().public_bytes(DER, PUBLIC))
    paths = [tmp_path / f"{number}.key" for number in range(4)]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)
    return paths


def cell(value: Any) -> bytes:
    """Bytes of a result cell of any format."""
    return value if isinstance(value, bytes) else bytes.fromhex(value.removeprefix("0x"))


@pytest.mark.parametrize("name", ["parquet", "csv", "jsonl"])
def test_sign_and_verify(tmp_path: Path, keys: list[Path], peers: list[Any], name: str) -> None:
    table, signed, checked = (tmp_path / f"{stem}.{name}" for stem in ("in", "signed", "checked"))
    write_table(table, [{"m": message} for message in MESSAGES])
    how = ("--form", "der", "--batch-rows", 7)
    finished = run("ecc", "sign", table, "-o", signed, "--key", keys[0], "--message", "m", *how)
    assert finished.code == 0, finished.err
    rows = read_table(signed)
    assert [row["status"] for row in rows] == ["ok"] * 30
    for row in rows:
        peers[0].public_key().verify(cell(row["result"]), row["m"].encode(), ec.ECDSA(hashes.SHA256()))
    for key in (keys[3], keys[0]):
        columns = ("--signature", "result", "--message", "m", "--status-column", "verified")
        arguments = ("ecc", "verify", signed, "-o", checked, "--key", key, *columns, *how)
        finished = run(*arguments)
        assert finished.code == 0, finished.err
        assert {str(row["valid"]).lower() for row in read_table(checked)} == {"true"}
        checked.unlink()
    wrong = run("ecc", "verify", signed, "-o", checked, "--key", keys[0], *columns)
    assert wrong.code == 3
    assert "no signature is valid" in wrong.err


def test_keys_by_column(tmp_path: Path, keys: list[Path]) -> None:
    """Keys of three curves in one table, one of them encrypted, and rows without a key."""
    table, signed = tmp_path / "in.csv", tmp_path / "signed.csv"
    (tmp_path / "password").write_text("secret\n")
    write_table(table, [{"m": str(i), "k": str(i % 5)} for i in range(10)])
    chosen = [option for key in keys[:3] for option in ("--key", key)]
    arguments = ("ecc", "sign", table, "-o", signed, "--message", "m", "--key-column", "k", *chosen)
    assert run(*arguments).code == 1
    finished = run(*arguments, "--password-file", tmp_path / "password")
    assert finished.code == 3, finished.err
    rows = read_table(signed)
    assert [row["status"] for row in rows] == ["ok", "ok", "ok", "ecc_curve", "ecc_curve"] * 2
    assert [len(cell(row["result"])) for row in rows[:3]] == [64, 96, 64]


def test_keys_of_rows(tmp_path: Path) -> None:
    """Public keys, signatures, recovery and exchange with keys in columns; every bad row has its status."""
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    secrets = [f"{number:064x}" for number in (0, 1, 2, 3)]
    write_table(table, [{"d": secret, "m": "hello"} for secret in [*secrets, "xyz", ""]])
    curve = ("--curve", "secp256k1")
    finished = run("ecc", "public", table, "-o", out, *curve, "--secret", "d", "--form", "compressed")
    assert finished.code == 3, finished.err
    rows = read_table(out)
    assert [row["status"] for row in rows] == [
        "ecc_secret",
        *["ok"] * 3,
        "secret_not_hexadecimal",
        "ecc_secret",
    ]
    points = [cell(row["result"]) for row in rows[1:4]]
    assert points == ecc.SECP256K1.public_keys([1, 2, 3], encoding="compressed")

    write_table(
        table,
        [
            {"d": secret, "p": point.hex(), "m": "hello"}
            for secret, point in zip(secrets[1:], points, strict=False)
        ],
    )
    form = ("--form", "recoverable", "--message", "m")
    assert run("ecc", "sign", table, "-o", out, *curve, "--secret", "d", *form).code == 0
    recovered = tmp_path / "recovered.csv"
    columns = ("--signature", "result", "--message", "m", "--result", "key", "--status-column", "s")
    assert run("ecc", "recover", out, "-o", recovered, *curve, *columns, "--form", "compressed").code == 0
    rows = read_table(recovered)
    assert [cell(row["key"]) for row in rows] == points
    checked = tmp_path / "checked.csv"
    columns = ("--signature", "result", "--message", "m", "--public", "p", "--status-column", "s")
    assert run("ecc", "verify", out, "-o", checked, *curve, *columns, "--form", "recoverable").code == 0

    arguments = ("--secret", "d", "--point", "p", "--hash", "sha256", "--result-format", "base64")
    assert run("ecc", "exchange", table, "-o", recovered, *curve, *arguments).code == 0
    assert len({row["result"] for row in read_table(recovered)}) == 3


def test_statuses_of_verification(tmp_path: Path) -> None:
    key = ecc.Key.from_secret(ecc.P256, 4)
    good = key.sign(b"hello")
    rows: list[dict[str, Any]] = [
        {"s": good, "p": key.public_bytes()},
        {"s": good[::-1], "p": key.public_bytes()},
        {"s": good[1:], "p": key.public_bytes()},
        {"s": good, "p": b"\4"},
        {"s": None, "p": key.public_bytes()},
    ]
    table, out = tmp_path / "in.parquet", tmp_path / "out.jsonl"
    write_arrow(table, pa.Table.from_pylist([{**row, "m": b"hello"} for row in rows]))
    columns = ("--signature", "s", "--public", "p", "--message", "m", "--result", "valid")
    assert run("ecc", "verify", table, "-o", out, "--curve", "P-256", *columns).code == 3
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["valid"] for row in found] == [True, False, False, False, None]
    assert [row["status"] for row in found] == [
        "ok",
        "invalid_signature",
        "ecc_signature",
        "ecc_point",
        "signature_is_null",
    ]


def test_usage(tmp_path: Path, keys: list[Path]) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"m": "x", "d": "00"}])
    sign = ("ecc", "sign", table, "-o", out, "--message", "m")
    for arguments, said in (
        (sign, "give --key, or --keys"),
        ((*sign, "--key", keys[0], "--key", keys[1]), "--key-column"),
        ((*sign, "--secret", "d"), "need a --curve"),
        ((*sign, "--secret", "d", "--curve", "P-257"), "no curve"),
        ((*sign, "--secret", "d", "--curve", "P-256", "--key", keys[0]), "leave out --key"),
        ((*sign, "--curve", "P-256", "--key", keys[0]), "--curve is for keys in a column"),
        ((*sign, "--key", keys[0], "--prehashed"), "--prehashed needs --hash"),
    ):
        finished = run(*arguments)
        assert finished.code == 2, arguments
        assert said in " ".join(finished.err.split()), finished.err
    public = run(*sign, "--key", keys[3])
    assert public.code == 1
    assert "private" in public.err
    assert not out.exists()


def test_options_that_do_not_fit(tmp_path: Path, keys: list[Path]) -> None:
    """They are mistakes of usage, of whatever the library would say to a row."""
    table = tmp_path / "in.csv"
    write_table(table, [{"m": "x"}])
    common = ("ecc", "sign", table, "-o", tmp_path / "out.csv", "--key", keys[0], "--message", "m")
    for options in (
        ("--scheme", "eddsa", "--hash", "sha256"),
        ("--scheme", "bip340", "--hash", "sha256"),
        ("--scheme", "bip340", "--form", "der"),
        ("--scheme", "bip340", "--low-s"),
    ):
        finished = run(*common, *options)
        assert finished.code == 2, finished.err
        assert "do not fit" in finished.err
    assert run("bench", "ecc", "--curves", "X25519", "--op", "sign", "--quick").code == 2


def test_rows_without_a_result(tmp_path: Path) -> None:
    """Points and signatures that are none: the result is null, not empty."""
    table, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    write_table(table, [{"d": "05".zfill(64), "p": "04", "s": "00", "m": "x"}])
    curve = ("--curve", "secp256k1")
    assert run("ecc", "exchange", table, "-o", out, *curve, "--secret", "d", "--point", "p").code == 3
    assert [(row["result"], row["status"]) for row in read_table(out)] == [(None, "ecc_point")]
    assert run("ecc", "recover", table, "-o", out, *curve, "--signature", "s", "--message", "m").code == 3
    assert [(row["result"], row["status"]) for row in read_table(out)] == [(None, "ecc_signature")]


def test_what_is_said_where_no_key_has_the_operation(tmp_path: Path, keys: list[Path]) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"m": "a", "k": "0"}, {"m": "b", "k": "1"}])
    sign = ("ecc", "sign", table, "-o", out, "--message", "m", "--key", keys[0])
    finished = run(*sign, "--scheme", "sm2", "--hash", "sha512")
    assert finished.code == 3
    assert "no key's curve has this operation with --scheme sm2, --hash sha512, --form raw" in finished.err
    finished = run(*sign, "--key-column", "k")
    assert (finished.code, "hint" in finished.err) == (3, False)


def test_resume(tmp_path: Path, keys: list[Path]) -> None:
    """Parts belong to the key and the options that made them."""
    from manymod.tables import key_job

    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"m": message} for message in MESSAGES])
    arguments = ("ecc", "sign", table, "-o", out, "--message", "m", "--batch-rows", 10, "--checkpoint", 0)
    with interrupted_at(2, key_job.KeyWork, "_compute"):
        assert run(*arguments, "--key", keys[0]).code == 130
    assert run(*arguments, "--key", keys[1], "--resume").code == 1
    assert run(*arguments, "--key", keys[0], "--form", "der", "--resume").code == 1
    assert run(*arguments, "--key", keys[0], "--resume").code == 0
    rows = read_table(out)
    key = ecc.Key.from_pem(keys[0].read_text())
    signatures, messages = [cell(row["result"]) for row in rows], [row["m"].encode() for row in rows]
    assert key.verify(signatures, messages) == [True] * 30


def test_bench(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    which = ("--quick", "--curves", "P-256,X25519,SM2", "--op", "verify,exchange", "--batch", 16)
    finished = run("bench", "ecc", *which, "--threads", 1, "-o", report)
    assert finished.code == 0, finished.err
    results = json.loads(report.read_text())["results"]
    assert [(row["curve"], row["op"]) for row in results] == [
        ("P-256", "verify"),
        ("P-256", "exchange"),
        ("X25519", "exchange"),
        ("SM2", "verify"),
        ("SM2", "exchange"),
    ]
    assert all(row["rates"]["manymod"] > 0 for row in results)
    assert all(("openssl" in row["rates"]) == (row["curve"] != "SM2") for row in results)
    assert run("bench", "ecc", "--curves", "P-257").code == 2
