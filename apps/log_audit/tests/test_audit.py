# SPDX-License-Identifier: Apache-2.0
"""Audits of damaged logs against what was damaged, and against the cryptography package."""

from __future__ import annotations

import base64
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

import pairwise
from log_audit import Audit, LogError, SigningKeys, TreeHead, audit, generate, verify_head
from log_audit.__main__ import main
from log_audit.bench import bench
from log_audit.entries import MAX_MESSAGE, MAX_SIGNATURE, Entry, encode_entry, read_entries
from manymod import ecc

Log = tuple[bytes, SigningKeys, ec.EllipticCurvePublicKey, TreeHead]


@pytest.fixture(scope="module")
def log() -> Log:
    stream = io.BytesIO()
    made = generate(stream, 100, keys=4)
    return (stream.getvalue(), *made)


def bad_into(found: list[tuple[int, str]]) -> Callable[[int, str], None]:
    return lambda index, reason: found.append((index, reason))


def audited(data: bytes, keys: SigningKeys, batch: int = 8) -> tuple[Audit, list[tuple[int, str]]]:
    bad: list[tuple[int, str]] = []
    return audit(io.BytesIO(data), keys, bad_into(bad), batch, 2), bad


def good_by_openssl(entry: Entry, keys: SigningKeys) -> bool:
    key = keys.keys[entry.key]
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(entry.signature, entry.message, padding.PKCS1v15(), hashes.SHA256())
        else:
            key.verify(entry.signature, entry.message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True


@pytest.mark.parametrize("batch", [1, 7, 100, 1000])
def test_a_good_log(log: Log, batch: int) -> None:
    data, keys, log_key, head = log
    result, bad = audited(data, keys, batch)
    assert (result, bad) == (Audit(100, 0, head.root), [])
    assert {int(kind) for kind in keys.kinds} == {0, 1}
    assert verify_head(head, ecc.Key.from_cryptography(log_key))
    log_key.verify(head.signature, head.signed_bytes(), ec.ECDSA(hashes.SHA256()))


def test_bad_entries_are_named(log: Log) -> None:
    data, keys, _, head = log
    entries = list(read_entries(io.BytesIO(data)))

    def changed(index: int, **fields: Any) -> None:
        entries[index] = entries[index]._replace(**fields)

    changed(0, signature=b"")
    changed(9, signature=entries[10].signature)
    changed(17, message=b"")
    changed(18, key=4)
    changed(19, key=65535)
    changed(40, key=(entries[40].key + 1) % 4)
    changed(41, signature=bytes([entries[41].signature[0]]) + bytes(len(entries[41].signature) - 1))
    changed(99, signature=entries[99].signature + b"\0")
    encoded = b"".join(encode_entry(entry.key, entry.signature, entry.message) for entry in entries)
    result, bad = audited(encoded, keys)
    assert dict(bad) == {
        index: "there is no such key" if index in {18, 19} else "signature is not valid"
        for index, entry in enumerate(entries)
        if entry.key >= 4 or not good_by_openssl(entry, keys)
    }
    assert [index for index, _ in bad] == [0, 9, 17, 18, 19, 40, 41, 99]
    assert (result.entries, result.bad) == (100, 8)
    assert result.root != head.root


def test_damaged_entries_of_a_generated_log() -> None:
    stream = io.BytesIO()
    keys, _, head = generate(stream, 20, keys=2, damaged={3, 19})
    result, bad = audited(stream.getvalue(), keys)
    assert [index for index, _ in bad] == [3, 19]
    assert result.root == head.root


def test_one_kind_of_keys_alone(log: Log) -> None:
    data, keys, _, _ = log
    for kind in (0, 1):
        chosen = [entry for entry in read_entries(io.BytesIO(data)) if keys.kinds[entry.key] == kind]
        alone = SigningKeys([keys.keys[number] for number in range(4) if keys.kinds[number] == kind])
        encoded = b"".join(encode_entry(int(keys.places[e.key]), e.signature, e.message) for e in chosen)
        assert audited(encoded, alone)[1] == []


def test_a_stream_that_is_no_log_from_some_entry_on(log: Log) -> None:
    """Errors name it, and what is bad before it was reported."""
    data, keys, _, _ = log
    first = next(read_entries(io.BytesIO(data))).encoded
    damaged = encode_entry(0, b"x", b"y")
    for rest, said in (
        (b"\0", "the log ends within its header"),
        (first[:-1], "the log ends within it"),
        (b"\0\0\xff\xff\0\0\0\0" + bytes(9), "65535 bytes of signature and 0 of message"),
        (b"\0\0\0\0\xff\xff\xff\xff" + bytes(9), "0 bytes of signature and 4294967295 of message"),
    ):
        bad: list[tuple[int, str]] = []
        with pytest.raises(LogError, match=f"^entry 102: {said}") as caught:
            audit(io.BytesIO(data + damaged * 2 + rest), keys, bad_into(bad), 8)
        assert (caught.value.index, [index for index, _ in bad]) == (102, [100, 101])
    largest = encode_entry(0, bytes(MAX_SIGNATURE), bytes(MAX_MESSAGE))
    assert audited(largest, keys)[0].bad == 1


def test_batches_of_long_entries_are_short(log: Log) -> None:
    """What is bad is reported before the log goes on by more than the batches that may be in memory."""
    entry = encode_entry(0, b"", bytes(MAX_MESSAGE))
    stream = io.BytesIO(entry * 50)
    ahead: list[int] = []
    audit(stream, log[1], lambda index, _: ahead.append(stream.tell() - index * len(entry)), 8192, 1)
    assert len(ahead) == 50
    assert max(ahead) <= 2 * (17 << 20)


def test_streams_that_return_what_they_have(log: Log) -> None:
    """As pipes and sockets do without a buffer."""

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(7, size or 0))

    assert list(read_entries(Slow(log[0]))) == list(read_entries(io.BytesIO(log[0])))
    with pytest.raises(LogError, match="entry 0: the log ends within it"):
        list(read_entries(Slow(log[0][:20])))


def test_damage_anywhere_is_found(log: Log) -> None:
    """A bit that is flipped, or an end, anywhere: a bad entry or a LogError, and another root."""
    data, keys, _, head = log
    rng = random.Random(1)
    for _ in range(60):
        at = rng.randrange(len(data))
        for damaged in (data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :], data[:at]):
            bad: list[tuple[int, str]] = []
            end, root = 100, b""
            try:
                result = audit(io.BytesIO(damaged), keys, bad_into(bad), 64)
                end, root = result.entries, result.root
            except LogError as error:
                end = error.index
            assert root != head.root
            assert bad or end < 100
            assert all(index < end for index, _ in bad)


def test_an_empty_log() -> None:
    stream = io.BytesIO()
    keys, _, head = generate(stream, 0, keys=2)
    assert audited(stream.getvalue(), keys) == (Audit(0, 0, head.root), [])


def test_keys(log: Log) -> None:
    _, keys, log_key, _ = log
    assert SigningKeys.from_pem(keys.to_pem()).keys == keys.keys
    with pytest.raises(ValueError, match="one at least"):
        SigningKeys.from_pem(b"nothing")
    other = ed25519.Ed25519PrivateKey.generate().public_key()
    with pytest.raises(ValueError, match="expected keys of RSA or ECDSA"):
        SigningKeys([log_key, other])  # type: ignore[list-item]
    for number in (3, 0, 65538):
        with pytest.raises(ValueError, match="an even number"):
            generate(io.BytesIO(), 1, keys=number)
    with pytest.raises(ValueError, match="entries must be 0 or more"):
        generate(io.BytesIO(), -1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"BEGIN PUBLIC KEY", b"BEGIN PUBLIX KEY"),
        (b"END PUBLIC KEY", b"END PUBLIX KEY"),
        (b"-----BEGIN", b"BEGIN"),
        (b"PUBLIC KEY", b"CERTIFICATE"),
    ],
)
def test_a_damaged_key_does_not_renumber_the_others(log: Log, old: bytes, new: bytes) -> None:
    pem = log[1].to_pem()
    for count in (1, -1):
        damaged = pem.replace(old, new, count) if count == 1 else new.join(pem.rsplit(old, 1))
        with pytest.raises(ValueError, match=r"PEM|key [0-9]+"):
            SigningKeys.from_pem(damaged)


def test_keys_of_unknown_algorithms(log: Log) -> None:
    pem = log[1].to_pem()
    der = bytes.fromhex("300b300506032a0304030200ff")  # of the algorithm 1.2.3.4
    unknown = b"-----BEGIN PUBLIC KEY-----\n" + base64.encodebytes(der) + b"-----END PUBLIC KEY-----\n"
    with pytest.raises(ValueError, match=f"key {len(log[1].keys)}: "):
        SigningKeys.from_pem(pem + unknown)


def test_keys_that_are_refused_are_named(log: Log) -> None:
    """By their number among all keys, whatever their kind."""
    refused = (
        (ec.generate_private_key(ec.SECP224R1()).public_key(), "secp224r1"),
        (rsa.RSAPublicNumbers(3, 2**16400 + 1).public_key(), "more than 16384 bits"),
    )
    for key, said in refused:
        with pytest.raises(ValueError, match=f"^key 4: .*{said}"):
            SigningKeys([*log[1].keys, key])


def test_batches_have_entries(log: Log) -> None:
    for batch, ahead in ((0, 1), (-1, 1), (1, -1)):
        with pytest.raises(ValueError, match="batch must be at least 1"):
            audit(io.BytesIO(), log[1], lambda *_: None, batch, ahead)


def test_heads_that_are_wrong(log: Log) -> None:
    _, keys, log_key, head = log
    key = ecc.Key.from_cryptography(log_key)
    assert TreeHead.from_json(head.to_json()) == head
    for size, root in ((head.size + 1, head.root), (head.size, bytes(32))):
        assert not verify_head(TreeHead(size, head.timestamp, root, head.signature), key)
    damaged = [
        json.dumps(json.loads(head.to_json()) | {name: value})
        for name in ("size", "timestamp")
        for value in (-1, 1 << 64, None, float("inf"), float("nan"), "x")
    ]
    for text in ("", "[]", "{}", head.to_json().replace(head.root.hex(), "00"), "[" * 100_000, *damaged):
        with pytest.raises(ValueError, match="not a tree head"):
            TreeHead.from_json(text)


def test_measurements_need_entries_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairwise, "pin_to_one_cpu", lambda: None)
    with pytest.raises(ValueError, match="among 1: measure more"):
        bench(1, None)


def test_the_command_line(tmp_path: Path, command: Callable[..., Callable[..., str]]) -> None:
    run, folder = command(main), tmp_path / "log"
    for count, keys, bad, said in (
        (5, 2, 6, "damaged must be 0 to 5 entries, not 6"),
        (5, 2, -1, "damaged must be 0 to 5 entries, not -1"),
        (5, 3, 0, "keys must be an even number, 2 to 65536, not 3"),
        (-1, 2, 0, "entries must be 0 or more, not -1"),
    ):
        refused = run("generate", folder, "--entries", count, "--keys", keys, "--damaged", bad)
        assert refused == f"exit: log_audit: {said}"
        assert not folder.exists()
    run("generate", folder, "--entries", 50, "--keys", 2)
    assert (
        run("verify", folder, "--batch", 16)
        == "50 entries, 0 bad\ntree head: of these entries, signature valid\n"
    )
    proof = tmp_path / "proof"
    proof.write_text(run("prove", folder, 17))
    assert run("check", folder, proof) == "entry 17: in the tree, signature valid\n"
    proof.write_text(proof.read_text().replace('"index": 17', '"index": 16'))
    assert run("check", folder, proof) == "exit: 1"
    assert run("prove", folder, 50) == "exit: log_audit: no entry 50 in a tree of 50"
    entries = (folder / "entries").read_bytes()
    (folder / "entries").write_bytes(entries[:-1])
    assert run("verify", folder) == "exit: log_audit: entry 49: the log ends within it"
    (folder / "entries").write_bytes(entries.replace(b"entry 7:", b"entry 8:"))
    assert run("verify", folder) == "exit: 1"
    for text in (b"", b"[]", b"{}", b'{"index": 1e999, "entry": "", "path": []}', b"[" * 100_000, b"\xff"):
        proof.write_bytes(text)
        assert run("check", folder, proof) == f"exit: log_audit: not a proof: {proof}"
    assert run("bench", "--entries", 0) == "exit: 2"
    head = folder / "head.json"
    for text in (b"", b"[]", b"\xff"):
        head.write_bytes(text)
        for arguments in (("verify", folder), ("prove", folder, 17), ("check", folder, proof)):
            assert run(*arguments) == f"exit: log_audit: not a tree head: {head}"
    run("generate", other := tmp_path / "other", "--entries", 5, "--keys", 2)
    for name in ("keys.pem", "log.pem"):
        good = (other / name).read_bytes()
        (other / name).write_bytes(good[:-30])
        assert re.fullmatch(rf"exit: log_audit: .+: {other / name}", run("verify", other))
        (other / name).write_bytes(good)
