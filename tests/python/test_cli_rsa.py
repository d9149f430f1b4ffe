# SPDX-License-Identifier: Apache-2.0
"""`manymod rsa` over tables of every format, with bad rows, several keys, and interruption."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from tests.python.cli_support import interrupted_at, read_arrow, read_table, run, write_arrow, write_table
from tests.python.rsa_support import peer_key, private_key

from manymod.cli.bench.rsa_timing import largest_t

MESSAGES = [f"message {number} ä" for number in range(30)]


@pytest.fixture
def keys(tmp_path: Path) -> list[Path]:
    """Files of two private keys, an encrypted one, and a public one."""
    private, pem = serialization.PrivateFormat.PKCS8, serialization.Encoding.PEM
    texts = [peer_key(2048, n).private_bytes(pem, private, serialization.NoEncryption()) for n in (0, 1)]
    cipher = serialization.BestAvailableEncryption(b"secret")
    texts.append(peer_key().private_bytes(pem, private, cipher))
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    texts.append(peer_key().public_key().public_bytes(serialization.Encoding.DER, public))
    paths = [tmp_path / f"{number}.key" for number in range(4)]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)
    return paths


def cell(value: Any) -> bytes:
    """Bytes of a result cell of any format."""
    return value if isinstance(value, bytes) else bytes.fromhex(value.removeprefix("0x"))


@pytest.mark.parametrize("name", ["parquet", "csv", "jsonl", "arrow", "arrows"])
def test_sign_and_verify(tmp_path: Path, keys: list[Path], name: str) -> None:
    table, signed, checked = (tmp_path / f"{stem}.{name}" for stem in ("in", "signed", "checked"))
    write_table(table, [{"m": message} for message in MESSAGES])
    how = ("--padding", "pkcs1v15", "--batch-rows", 7)
    finished = run("rsa", "sign", table, "-o", signed, "--key", keys[0], "--message", "m", *how)
    assert (finished.code, finished.out) == (0, "")
    assert "30 rows written" in finished.err
    rows = read_table(signed)
    texts = [message.encode() for message in MESSAGES]
    assert [cell(row["result"]) for row in rows] == private_key().sign(texts, "pkcs1v15", "sha256")
    columns = ("--message", "m", "--signature", "result", "--status-column", "checked")
    for key in (keys[0], keys[3]):
        finished = run("rsa", "verify", signed, "-o", checked, "--key", key, *columns, *how)
        assert finished.code == 0
        assert {str(row["valid"]).lower() for row in read_table(checked)} == {"true"}
    finished = run("rsa", "verify", signed, "-o", checked, "--key", keys[1], *columns, *how)
    assert finished.code == 3
    assert "30 invalid_signature" in finished.err
    assert {str(row["valid"]).lower() for row in read_table(checked)} == {"false"}


@pytest.mark.parametrize("name", ["parquet", "csv", "jsonl"])
def test_encrypt_and_decrypt(tmp_path: Path, keys: list[Path], name: str) -> None:
    table, hidden, shown = (tmp_path / f"{stem}.{name}" for stem in ("in", "hidden", "shown"))
    write_table(table, [{"m": message} for message in MESSAGES])
    how = ("--hash", "sha384", "--mgf-hash", "sha1", "--label", "for you")
    assert run("rsa", "encrypt", table, "-o", hidden, "--key", keys[3], "--message", "m", *how).code == 0
    oaep = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA384(), b"for you")
    texts = [peer_key().decrypt(cell(row["result"]), oaep).decode() for row in read_table(hidden)]
    assert texts == MESSAGES
    columns = ("--ciphertext", "result", "--result", "text", "--status-column", "read")
    arguments = ("rsa", "decrypt", hidden, "-o", shown, "--key", keys[0], *columns, "--result-format", "text")
    assert run(*arguments, *how).code == 0
    assert [row["text"] for row in read_table(shown)] == MESSAGES
    finished = run(*arguments, *how[:4])
    assert finished.code == 3
    assert "30 rsa_decryption" in finished.err


def test_bad_rows_are_named_and_the_others_computed(tmp_path: Path, keys: list[Path]) -> None:
    table, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    good = private_key().public_key().encrypt([b"text", b"\xff\xfe"], "oaep")
    cells = [good[0], good[0][:-1], None, bytes(256), good[1], b"\xff" * 256]
    write_arrow(table, pa.table({"c": pa.array(cells, pa.binary())}))
    arguments = ("rsa", "decrypt", table, "-o", out, "--key", keys[0], "--ciphertext", "c")
    finished = run(*arguments, "--result-format", "text")
    assert finished.code == 3
    result = read_arrow(out)
    assert result["result"].to_pylist() == ["text", None, None, None, None, None]
    assert result["status"].to_pylist() == [
        "ok",
        "rsa_length",
        "ciphertext_is_null",
        "rsa_decryption",
        "not_text",
        "rsa_range",
    ]
    assert "manymod: row 2: rsa_length" in finished.err


def test_hexadecimal_cells(tmp_path: Path, keys: list[Path]) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"m": text} for text in ("0x00ff", "00FF", "", "0xg", "fff")])
    arguments = ("rsa", "sign", table, "-o", out, "--key", keys[0], "--message", "m", "--padding", "pkcs1v15")
    assert run(*arguments, "--hex-messages", "--result-format", "hex").code == 3
    rows = read_table(out)
    assert [row["status"] for row in rows] == ["ok"] * 3 + ["message_not_hexadecimal"] * 2
    expected = private_key().sign([b"\0\xff", b"\0\xff", b""], "pkcs1v15", "sha256")
    assert [cell(row["result"]) for row in rows[:3]] == expected


@pytest.mark.parametrize("name", ["parquet", "csv"])
def test_each_row_has_its_key(tmp_path: Path, keys: list[Path], name: str) -> None:
    table, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    indices = [0, 1, 1, 2, -1, 1 << 40]
    write_table(table, [{"m": "text", "k": index} for index in indices])
    arguments = ("rsa", "sign", table, "-o", out, "--message", "m", "--padding", "pkcs1v15")
    two = ("--key", keys[0], "--key", keys[1])
    assert run(*arguments, *two, "--key-column", "k").code == 3
    rows = read_table(out)
    assert [row["status"] for row in rows] == ["ok"] * 3 + ["rsa_key"] * 3
    expected = [private_key(2048, n).sign(b"text", "pkcs1v15", "sha256") for n in (0, 1, 1)]
    assert [cell(row["result"]) for row in rows[:3]] == expected
    assert run(*arguments, *two).code == 2


def test_encrypted_keys(tmp_path: Path, keys: list[Path]) -> None:
    table, out, password = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "password"
    write_table(table, [{"m": "text"}])
    arguments = ("rsa", "sign", table, "-o", out, "--key", keys[2], "--message", "m")
    finished = run(*arguments)
    assert finished.code == 1
    assert str(keys[2]) in finished.err
    password.write_text("wrong\n")
    assert run(*arguments, "--password-file", password).code == 1
    password.write_text("secret\n")
    assert run(*arguments, "--password-file", password).code == 0
    assert not list(tmp_path.glob("*.parts"))


def test_digests(tmp_path: Path, keys: list[Path]) -> None:
    table, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    digest = hashes.Hash(hashes.SHA512())
    digest.update(b"text")
    write_arrow(table, pa.table({"d": pa.array([digest.finalize(), b"short"], pa.binary())}))
    how = ("--hash", "sha512", "--prehashed", "--salt-length", 11)
    assert run("rsa", "sign", table, "-o", out, "--key", keys[0], "--message", "d", *how).code == 3
    result = read_arrow(out)
    assert result["status"].to_pylist() == ["ok", "rsa_length"]
    pss = padding.PSS(padding.MGF1(hashes.SHA512()), 11)
    peer_key().public_key().verify(result["result"][0].as_py(), b"text", pss, hashes.SHA512())


def test_wrong_usage(tmp_path: Path, keys: list[Path]) -> None:
    table, out, junk = tmp_path / "in.parquet", tmp_path / "out.csv", tmp_path / "junk.key"
    write_arrow(table, pa.table({"m": ["text"], "number": [5]}))
    junk.write_text("no key")
    arguments = ("rsa", "sign", table, "-o", out)
    for wrong, code, said in [
        (("--key", keys[0], "--message", "absent"), 2, "columns: m, number"),
        (("--key", keys[0], "--message", "number"), 2, "holds no bytes"),
        (("--key", keys[0], "--message", "m", "--key-column", "absent"), 2, "columns: m, number"),
        (("--key", keys[0], "--message", "m", "--padding", "oaep"), 2, "oaep"),
        (("--key", keys[0], "--message", "m", "--salt-length", "long"), 2, "number of bytes"),
        (("--key", keys[0], "--message", "m", "--salt-length", "auto"), 2, "verification alone"),
        (("--key", keys[0], "--message", "m", "--salt-length", "9999"), 2, "salt_length"),
        (("--key", keys[0], "--message", "m", "--result", "m"), 2, "already has a column"),
        (("--key", keys[3], "--message", "m"), 1, "public key"),
        (("--key", junk, "--message", "m"), 1, "junk.key"),
        (("--message", "m"), 2, "--key"),
    ]:
        finished = run(*arguments, *wrong)
        assert finished.code == code, wrong
        assert said in finished.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("operation", "option"),
    [
        ("sign", ("--salt-length", "digest")),
        ("verify", ("--mgf-hash", "sha256")),
        ("encrypt", ("--label", "inbox")),
        ("decrypt", ("--mgf-hash", "sha256")),
    ],
)
def test_options_that_the_padding_has_no_use_for(
    tmp_path: Path, keys: list[Path], operation: str, option: tuple[str, str]
) -> None:
    table = tmp_path / "in.csv"
    write_table(table, [{"x": "00"}])
    labels = {"verify": ("--message", "x", "--signature", "x"), "decrypt": ("--ciphertext", "x")}
    columns = labels.get(operation, ("--message", "x"))
    arguments = ("rsa", operation, table, "-o", tmp_path / "out.csv", "--key", keys[0], *columns)
    finished = run(*arguments, "--padding", "pkcs1v15", *option)
    assert (finished.code, f"{option[0]} is not for --padding pkcs1v15" in finished.err) == (2, True)
    assert not (tmp_path / "out.csv").exists()


def test_parts_belong_to_one_key(tmp_path: Path, keys: list[Path]) -> None:
    from manymod.tables import key_job

    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    write_table(table, [{"m": message} for message in MESSAGES])
    arguments = (
        "rsa",
        "sign",
        table,
        "-o",
        out,
        "--message",
        "m",
        "--batch-rows",
        10,
        "--padding",
        "pkcs1v15",
    )
    with interrupted_at(2, key_job.KeyWork, "_compute"):
        assert run(*arguments, "--key", keys[0]).code == 130
    other = run(*arguments, "--key", keys[1], "--resume")
    assert (other.code, "keys changed" in other.err) == (1, True)
    assert run(*arguments, "--key", keys[0], "--resume").code == 0
    expected = private_key().sign([message.encode() for message in MESSAGES], "pkcs1v15", "sha256")
    assert [cell(row["result"]) for row in read_table(out)] == expected


def test_bench_reports_every_operation(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    finished = run(
        "bench", "rsa", "--bits", 1024, "--quick", "--threads", 2, "--batch", 8, "--output", report
    )
    assert finished.code == 0, finished.err
    found = json.loads(report.read_text())
    assert [row["op"] for row in found["results"]] == ["sign", "verify", "encrypt", "decrypt"]
    for row in found["results"]:
        assert set(row["rates"]) == {"manymod", "manymod_threads", "openssl", "openssl_threads"}
        assert set(row["ratios"]) == {"one_vs_openssl", "threads_vs_openssl_threads", "threads_vs_one"}
        assert set(row["latency_us"]) == {"manymod", "openssl", *(["signer"] if row["op"] == "sign" else [])}
        assert all(value > 0 for part in ("rates", "ratios", "latency_us") for value in row[part].values())
    assert "Included in the time" in finished.out
    assert "OpenSSL" in found["versions"]["openssl"]
    assert "signer" not in found
    assert run("bench", "rsa", "--bits", 512).code == 2
    assert run("bench", "rsa", "--ops", "hash").code == 2


def test_bench_puts_a_signer_under_load(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ("bench", "rsa", "--bits", 1024, "--ops", "verify", "--quick", "--threads", 2, "--signer")
    finished = run(*arguments, "--output", report)
    assert finished.code == 0, finished.err
    rows = json.loads(report.read_text())["signer"]
    assert [row["threads"] for row in rows] == [1, 2]
    for row in rows:
        assert row["requests"] > 0
        assert row["offered"] == row["peak"] / 2
        assert sorted(row["latency_us"].values()) == list(row["latency_us"].values())
        assert 0 <= row["in_time"] <= row["in_time_of_two"] <= 1
    assert run(*arguments).out.count("Requests come at random") == 1


COMPARED = ("public power (control)", "power", "raw", "raw, not blinded", "OAEP", "PKCS#1 v1.5")


def test_bench_compares_times_of_secrets(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ("bench", "rsa", "--bits", 1024, "--ops", "verify", "--quick", "--threads", 1, "--timing")
    finished = run(*arguments, "--output", report)
    assert finished.code == 0, finished.err
    rows = json.loads(report.read_text())["timing"]
    assert [(row["operation"], row["batch"]) for row in rows] == [
        (operation, batch) for batch in (1, 16) for operation in COMPARED
    ]
    for row in rows:
        assert sum(row["samples"]) == 400
        assert min(row["median_us"]) > 0


def test_t_tells_times_that_differ() -> None:
    source = np.random.default_rng(1)
    kinds = source.integers(2, size=4000).astype(bool)
    times = 1000 + source.normal(0, 10, 4000)
    assert abs(largest_t(times, kinds)) < 4.5
    interrupted = times + np.where(source.random(4000) < 0.05, 1e5 * source.random(4000), 0)
    slower = np.where(kinds, 2.0, 0.0)
    assert largest_t(times + slower, kinds) < -4.5
    assert largest_t(interrupted + slower, kinds) < -4.5  # by a crop without interrupts
    assert largest_t(np.ones(10), np.zeros(10, np.bool_)) == 0
