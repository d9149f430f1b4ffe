# SPDX-License-Identifier: Apache-2.0
"""Encodings of RSA keys: what is read, in every layout, and what the error says of anything else."""

from __future__ import annotations

import contextlib
import datetime
import json
import pathlib
import pickle
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519
from cryptography.hazmat.primitives.asymmetric import rsa as peer
from cryptography.hazmat.primitives.serialization import pkcs12
from tests.python.cli_support import read_arrow, run, write_table
from tests.python.rsa_support import FOLDER, peer_key, private_key

import manymod
from manymod import rsa

PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER
PKCS8 = serialization.PrivateFormat.PKCS8
TRADITIONAL = serialization.PrivateFormat.TraditionalOpenSSL
SPKI = serialization.PublicFormat.SubjectPublicKeyInfo
PLAIN = serialization.NoEncryption()
SECRET = serialization.BestAvailableEncryption(b"secret")
KEYS = Path(__file__).parent / "keys"
NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "manymod")])
DAY = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)


def text_of(key: Any = None, form: Any = PKCS8, encryption: Any = PLAIN, encoding: Any = PEM) -> bytes:
    """A private key's encoding."""
    encoded: bytes = (key or peer_key(1024)).private_bytes(encoding, form, encryption)
    return encoded


def certificate_of(key: Any) -> x509.Certificate:
    """A certificate of a private key by itself."""
    builder = x509.CertificateBuilder(NAME, NAME, key.public_key(), 1, DAY, DAY + datetime.timedelta(1))
    return builder.sign(key, None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256())


LAYOUTS: dict[str, Any] = {
    "as it is": lambda text: text,
    "without line breaks": lambda text: text.replace("\n", ""),
    "spaces for line breaks": lambda text: text.replace("\n", " "),
    "escaped line breaks": lambda text: text.replace("\n", "\\n"),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR": lambda text: text.replace("\n", "\r"),
    "byte order mark": lambda text: "\ufeff" + text,
    "text around it": lambda text: f"Bag Attributes\n  name: key\n{text}and an end\n",
    "indented": lambda text: "".join(f"    {line}\n" for line in text.splitlines()),
    "short lines": lambda text: text.replace("/", "/\n"),
    "as bytes": str.encode,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pem_in_every_layout(layout: str) -> None:
    change, key = LAYOUTS[layout], peer_key(1024)
    for encryption in (PLAIN, SECRET):
        assert rsa.PrivateKey.from_pem(change(text_of(None, PKCS8, encryption).decode()), "secret").n == n_of(
            key
        )
    public = change(key.public_key().public_bytes(PEM, SPKI).decode())
    assert rsa.PublicKey.from_pem(public).n == n_of(key)
    if layout not in {"without line breaks", "short lines"}:  # headers need something between them
        traditional = change(text_of(None, TRADITIONAL, SECRET).decode())
        assert rsa.PrivateKey.from_pem(traditional, b"secret").n == n_of(key)


def n_of(key: Any) -> int:
    """The modulus of a key of the cryptography package."""
    modulus: int = key.private_numbers().public_numbers.n
    return modulus


def test_certificates_and_bundles() -> None:
    key, other = peer_key(1024), ec.generate_private_key(ec.SECP256R1())
    certificate = certificate_of(key)
    text, encrypted = certificate.public_bytes(PEM), text_of(None, PKCS8, SECRET)
    assert rsa.PublicKey.from_der(certificate.public_bytes(DER)).n == n_of(key)
    foreign = certificate_of(other).public_bytes(PEM)
    for bundle in (text + text_of(), text_of() + text, foreign + text_of() + text, text + encrypted):
        assert rsa.PrivateKey.from_pem(bundle, "secret").n == n_of(key)
        assert rsa.PublicKey.from_pem(bundle).n == n_of(key)
        assert rsa.PublicKey.from_pem(bundle.replace(b"\n", b" ")).n == n_of(key)
    with pytest.raises(rsa.InvalidKeyError, match="a certificate, where a private key is needed"):
        rsa.PrivateKey.from_pem(text)
    with pytest.raises(rsa.InvalidKeyError, match="a certificate of an EC public key, not RSA"):
        rsa.PublicKey.from_pem(foreign)
    with pytest.raises(rsa.InvalidKeyError, match="its password is wrong"):
        rsa.PrivateKey.from_pem(text + encrypted, "false")
    with pytest.raises(rsa.InvalidKeyError, match="a private key, where a public one is needed"):
        rsa.PublicKey.from_pem(encrypted)


# ---- RSASSA-PSS -----------------------------------------------------------------------------------------

LIMITS = {
    "rsa_pss_2048.pem": rsa.PssLimits(),
    "rsa_pss_2048_hash.pem": rsa.PssLimits("sha256", "sha1", 20),
    "rsa_pss_2048_hash_mask.pem": rsa.PssLimits("sha256", "sha256", 20),
    "rsa_pss_2048_hash_mask_diff.pem": rsa.PssLimits("sha256", "sha512", 20),
    "rsa_pss_2048_hash_mask_salt.pem": rsa.PssLimits("sha256", "sha256", 32),
}


@pytest.mark.parametrize("name", LIMITS)
def test_keys_for_pss_alone_keep_their_limits(name: str) -> None:
    key = rsa.PrivateKey.from_pem((FOLDER / "PKCS8" / name).read_bytes())
    public, limits = key.public_key(), LIMITS[name]
    assert (key.pss_limits, public.pss_limits) == (limits, limits)
    assert "RSASSA-PSS" in repr(key)
    copied = pickle.loads(pickle.dumps(public))
    assert (copied, copied.pss_limits) == (public, limits)
    assert public != rsa.PublicKey.from_numbers(n=key.n, e=key.e)
    algorithm = limits.algorithm or "sha384"
    how = rsa.Padding("pss", mgf=limits.mgf, salt_length=max(limits.salt_length, 9))
    signature = key.sign(b"a", how, algorithm)
    automatic = rsa.Padding("pss", mgf=limits.mgf, salt_length="auto")
    assert public.verify([signature] * 2, b"a", how, algorithm) == [True, True]
    assert public.verify(signature, b"a", automatic, algorithm)


REFUSED = [
    ("pkcs1v15", "sha256"),
    (rsa.Padding("pss", salt_length="max"), "sha384"),
    (rsa.Padding("pss", salt_length="max", mgf="sha1"), "sha256"),
    (rsa.Padding("pss", salt_length=31), "sha256"),
]


@pytest.mark.parametrize(("how", "algorithm"), REFUSED, ids=str)
def test_what_a_key_for_pss_alone_excludes(how: Any, algorithm: str) -> None:
    path = FOLDER / "PKCS8" / "rsa_pss_2048_hash_mask_salt.pem"
    key = rsa.PrivateKey.from_pem(path.read_bytes())
    free = rsa.PrivateKey.from_cryptography(serialization.load_pem_private_key(path.read_bytes(), None))
    assert (free.n, free.pss_limits) == (key.n, None)
    signature, status = free.sign(b"a", how, algorithm), manymod.Status.RSA_PADDING
    with pytest.raises(manymod.ItemValueError, match="RSASSA-PSS alone"):
        key.sign(b"a", how, algorithm)
    with pytest.raises(ValueError, match="not one that the key allows: .*sha256"):
        key.public_key().verify(signature, b"a", how, algorithm)
    assert key.public_key().verify(signature, b"a", how, algorithm, errors="status") == (False, status)
    ring = rsa.KeyRing([free, key])
    valid, statuses = ring.verify([signature] * 2, b"a", [0, 1], how, algorithm, errors="status")
    assert (valid, statuses.tolist()) == ([True, False], [0, status])
    assert ring.verify([signature] * 2, b"a", [0, 1], how, algorithm) == [True, False]


def test_keys_for_pss_alone_do_nothing_else() -> None:
    key = rsa.PrivateKey.from_pem((FOLDER / "PKCS8" / "rsa_pss_2048.pem").read_bytes())
    for call in (
        lambda: key.raw(bytes(256)),
        lambda: key.public_key().raw(bytes(256)),
        lambda: key.public_key().encrypt(b"a", "oaep"),
        lambda: key.decrypt(bytes(256), "oaep"),
        lambda: key.decrypt(bytes(256), "pkcs1v15"),
    ):
        with pytest.raises(manymod.ItemValueError, match="RSASSA-PSS alone"):
            call()


def test_salts_that_are_too_short_are_found_in_signatures() -> None:
    path = FOLDER / "PKCS8" / "rsa_pss_2048_hash_mask_salt.pem"
    free = rsa.PrivateKey.from_cryptography(serialization.load_pem_private_key(path.read_bytes(), None))
    public = rsa.PrivateKey.from_pem(path.read_bytes()).public_key()
    signatures = [free.sign(b"a", rsa.Padding("pss", salt_length=size), "sha256") for size in (0, 31, 32, 33)]
    automatic = rsa.Padding("pss", salt_length="auto")
    assert public.verify(signatures, b"a", automatic, "sha256") == [False, False, True, True]


def test_certificates_of_keys_for_pss_alone() -> None:
    key = rsa.PublicKey.from_pem((KEYS / "pss_certificate.pem").read_bytes())
    assert (key.key_size, key.pss_limits) == (1024, rsa.PssLimits("sha256", "sha256", 32))


# ---- the cryptography package as an oracle --------------------------------------------------------------

PASSWORDS = [None, b"123456", b"foobar", b"password", b"baz", b"1234", b"hunter2", b"a123456", b"passwd"]
PASSWORDS += [b"Red Hat Enterprise Linux 7.4"]
#: Private keys that libcrypto reads and the cryptography package does not: PKCS#8 that is called PKCS#1, and
#: PKCS#1 of a wrong version.
ALSO_READ = {"wrong-pem-delimiter-rsa.pem", "rsa-wrong-version.pem"}
FOLDERS = ["PEM_Serialization", "DER_Serialization", "PKCS8", "Traditional_OpenSSL_Serialization", "public"]


def files() -> Iterator[Path]:
    """All files with keys among the vectors."""
    for folder in FOLDERS:
        paths = sorted((FOLDER / folder).rglob("*"))
        yield from (path for path in paths if path.suffix in {".pem", ".der"})


def private_by_peer(data: bytes, pem: bool) -> tuple[Any, bytes | None]:
    """The private key that the cryptography package reads, and its password."""
    load: Any = serialization.load_pem_private_key if pem else serialization.load_der_private_key
    for password in PASSWORDS:
        with contextlib.suppress(ValueError, TypeError, UnsupportedAlgorithm):
            return load(data, password), password
    return None, None


def public_by_peer(data: bytes, pem: bool) -> Any:
    """The public key that the cryptography package reads."""
    load: Any = serialization.load_pem_public_key if pem else serialization.load_der_public_key
    with contextlib.suppress(ValueError, TypeError, UnsupportedAlgorithm):
        return load(data)
    return None


@pytest.mark.parametrize("path", list(files()), ids=lambda path: path.name)
def test_the_same_keys_are_read_as_by_the_cryptography_package(path: Path) -> None:
    data = path.read_bytes()
    pem = b"-----BEGIN" in data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        private, password = private_by_peer(data, pem)
        public = public_by_peer(data, pem)
    how = "from_pem" if pem else "from_der"
    if isinstance(private, peer.RSAPrivateKey) or path.name in ALSO_READ:
        key = getattr(rsa.PrivateKey, how)(data, password)
        assert private is None or key.n == n_of(private)
    else:
        with pytest.raises(rsa.InvalidKeyError, match="RSA key: "):
            getattr(rsa.PrivateKey, how)(data, password)
    if isinstance(public, peer.RSAPublicKey):
        assert getattr(rsa.PublicKey, how)(data).n == public.public_numbers().n
    else:
        with pytest.raises(rsa.InvalidKeyError, match="RSA key: "):
            getattr(rsa.PublicKey, how)(data)


# ---- what the error says --------------------------------------------------------------------------------


def request() -> bytes:
    """A certificate request."""
    return x509.CertificateSigningRequestBuilder(NAME).sign(peer_key(1024), hashes.SHA256()).public_bytes(PEM)


def revocations() -> bytes:
    """A certificate revocation list."""
    builder = x509.CertificateRevocationListBuilder(NAME, DAY, DAY + datetime.timedelta(1))
    return builder.sign(peer_key(1024), hashes.SHA256()).public_bytes(PEM)


def der_of(pem: bytes) -> bytes:
    """The content of a PEM block."""
    import base64

    return base64.b64decode(b"".join(pem.splitlines()[1:-1]))


def wrong_inputs() -> dict[str, tuple[bytes, str]]:
    """Inputs that hold no RSA key, with a part of the message."""
    good, ed = text_of(), ed25519.Ed25519PrivateKey.generate()
    certificate = certificate_of(ed).public_bytes(PEM)
    curve, old = ec.generate_private_key(ec.SECP256R1()), dsa.generate_private_key(1024)
    archive = pkcs12.serialize_key_and_certificates(b"a", peer_key(1024), None, None, PLAIN)
    return {
        "EC": (text_of(curve), "an EC private key, not RSA"),
        "EC, traditional": (text_of(curve, TRADITIONAL), "an EC private key, not RSA"),
        "EC, DER": (text_of(curve, encoding=DER), "an EC private key, not RSA"),
        "EC, encrypted": (text_of(curve, PKCS8, SECRET), "an EC private key, not RSA"),
        "Ed25519": (text_of(ed), "an ED25519 private key, not RSA"),
        "Ed25519, public": (ed.public_key().public_bytes(DER, SPKI), "an ED25519 public key, not RSA"),
        "Ed25519, certificate": (certificate, "a certificate of an ED25519 public key"),
        "DSA": (text_of(old), "a DSA private key, not RSA"),
        "request": (request(), "a certificate request"),
        "request, DER": (der_of(request()), "a certificate request"),
        "revocations": (revocations(), "a certificate revocation list"),
        "revocations, DER": (der_of(revocations()), "a certificate revocation list"),
        "PKCS#12": (archive, "a PKCS#12 file"),
        "JWK": (json.dumps({"kty": "RSA", "n": "AQAB"}).encode(), "a JSON Web Key"),
        "OpenSSH, public": (
            b"ssh-ed25519 AAAAC3NzaC1lZDI1 user",
            "public key of ssh-ed25519, not RSA",
        ),
        "PuTTY": (b"PuTTY-User-Key-File-3: ssh-rsa\n", "a PuTTY key"),
        "file name": (b"server.pem", "path of a file"),
        "path": (b"/etc/ssl/private/server", "path of a file"),
        "relative path": (b"../keys/server.key\n", "path of a file"),
        "empty": (b"", "empty input"),
        "blank": (b" \r\n\t", "empty input"),
        "UTF-16": (good.decode().encode("utf-16"), "UTF-16"),
        "no END": (good[:-30], "truncated PEM"),
        "half": (good[: len(good) // 2], "truncated PEM"),
        "half a BEGIN": (b"-----BEGIN PRIVATE KEY\nAAAA", "its BEGIN line is incomplete"),
        "bad base64": (good[:90] + b"!" + good[91:], "base64 is damaged"),
        "base64 alone": (b"".join(good.splitlines()[1:-1]), "base64 without the BEGIN and END lines"),
        "other PEM": (good.replace(b"PRIVATE KEY", b"SOMETHING").replace(b"MII", b"AII"), "SOMETHING"),
        "label that is no text": (
            good[:-30].replace(b"BEGIN PRIVATE", b"BEGIN PR\xffVATE\n"),
            r"no END line for PR\?VATE\? KEY",
        ),
        "noise": (b"hello", "neither PEM nor DER"),
    }


@pytest.mark.parametrize("name", list(wrong_inputs()))
def test_the_error_says_what_was_found(name: str) -> None:
    data, message = wrong_inputs()[name]
    for read in (rsa.PrivateKey.from_pem, rsa.PrivateKey.from_der):
        if read == rsa.PrivateKey.from_der and b"-----BEGIN" in data:
            message = "PEM, not DER"
        with pytest.raises(rsa.InvalidKeyError, match=message):
            read(data, b"secret")


def test_the_error_says_what_is_wrong_with_the_encryption() -> None:
    for form in (PKCS8, TRADITIONAL):
        text = text_of(None, form, SECRET)
        with pytest.raises(rsa.InvalidKeyError, match="its password is needed"):
            rsa.PrivateKey.from_pem(text)
        for password in (b"", "wrong", b"x" * 5000, "secret\n"):
            with pytest.raises(rsa.InvalidKeyError, match="its password is wrong"):
                rsa.PrivateKey.from_pem(text, password)
        assert rsa.PrivateKey.from_pem(text, bytearray(b"secret")).n == n_of(peer_key(1024))
    broken = text_of(None, TRADITIONAL, SECRET).replace(b"DEK-Info: ", b"DEK-Info: NO-")
    with pytest.raises(rsa.InvalidKeyError, match="encrypted with NO-AES-256-CBC"):
        rsa.PrivateKey.from_pem(broken, "secret")


OLD = ["rsa-pbewithmd5anddescbc.pem", "rsa-rc2-cbc.pem", "rsa-40bitrc2.pem", "enc-ec-sha1-128-rc4.pem"]


@pytest.mark.parametrize("name", OLD)
def test_the_error_says_what_is_wrong_with_an_old_encryption(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FOLDER / "PKCS8" / name).read_bytes()
    with pytest.raises(ValueError, match="Incorrect|deserialize|Unknown") as refused:
        serialization.load_pem_private_key(text, b"wrong")
    if "Unknown key encryption" in str(refused.value):
        pytest.skip("this version of the cryptography package lacks it")
    for data, read in ((text, rsa.PrivateKey.from_pem), (der_of(text), rsa.PrivateKey.from_der)):
        with pytest.raises(rsa.InvalidKeyError, match="encrypted: its password is needed"):
            read(data)
        for password in ("", "wrong"):
            with pytest.raises(rsa.InvalidKeyError, match="encrypted: its password is wrong"):
                read(data, password)
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(rsa.InvalidKeyError, match="encrypted with .*, which libcrypto does not provide"):
        rsa.PrivateKey.from_pem(text)


def test_the_error_says_that_nobody_has_an_encryption() -> None:
    text = (FOLDER / "PKCS8" / "rsa-rc2-cbc-effective-key-length.pem").read_bytes()
    for password in (None, "", "any"):
        with pytest.raises(
            rsa.InvalidKeyError, match="encrypted with rc2-cbc, which libcrypto does not provide"
        ):
            rsa.PrivateKey.from_pem(text, password)


def test_the_contents_decide_and_not_the_label() -> None:
    public = peer_key(1024).public_key()
    text = public.public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    mislabelled = text.replace(b"PUBLIC KEY", b"PRIVATE KEY")
    with pytest.raises(rsa.InvalidKeyError, match="a public key, where a private key is needed"):
        rsa.PrivateKey.from_pem(mislabelled)
    assert rsa.PublicKey.from_pem(mislabelled).n == public.public_numbers().n


def test_headers_without_an_empty_line_behind_them() -> None:
    plain = text_of()
    commented = plain.replace(b"KEY-----\n", b"KEY-----\nComment: mine\n", 1)
    assert rsa.PrivateKey.from_pem(commented).n == rsa.PrivateKey.from_pem(plain).n


def test_primes_are_below_n() -> None:
    """They are not multiplied before that is known: an encoding may have numbers of any length."""
    numbers = peer_key(1024).private_numbers()
    longer = numbers.p + 2 * numbers.public_numbers.n
    with pytest.raises(rsa.InvalidKeyError, match="p is not below n"):
        rsa.PrivateKey.from_numbers(n=numbers.public_numbers.n, e=65537, d=numbers.d, p=longer, q=numbers.q)


def test_a_prime_has_no_factors_to_be_found() -> None:
    n = peer_key(2048).private_numbers().p
    with pytest.raises(rsa.InvalidKeyError, match="n is prime"):
        rsa.PrivateKey.from_numbers(n=n, e=65537, d=pow(65537, -1, n - 1))


def test_wrong_types_and_forms() -> None:
    wrong: Any
    for wrong in (None, 5, ["-----BEGIN"]):
        with pytest.raises(TypeError, match="data must be bytes or str"):
            rsa.PrivateKey.from_pem(wrong)
    with pytest.raises(TypeError, match="contents of the file, not its path"):
        rsa.PublicKey.from_pem(pathlib.Path("key.pem"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="password must be bytes or str"):
        rsa.PrivateKey.from_pem(text_of(), 5)  # type: ignore[arg-type]
    with pytest.raises(rsa.InvalidKeyError, match="no Unicode text"):
        rsa.PrivateKey.from_pem("\udc80")
    with pytest.raises(rsa.InvalidKeyError, match="DER, not PEM: use from_der"):
        rsa.PrivateKey.from_pem(text_of(encoding=DER))
    with pytest.raises(rsa.InvalidKeyError, match="PEM, not DER: use from_pem"):
        rsa.PrivateKey.from_der(text_of())


# ---- the command ----------------------------------------------------------------------------------------


def test_the_command_reads_bundles_and_says_what_it_found(tmp_path: Path) -> None:
    key = peer_key(1024)
    certificate = certificate_of(key).public_bytes(PEM)
    table, signed, checked = (tmp_path / f"{stem}.arrow" for stem in ("in", "signed", "checked"))
    write_table(table, [{"m": "a"}, {"m": "b"}])
    (tmp_path / "bundle").write_bytes(certificate + text_of(key))
    (tmp_path / "encrypted").write_bytes(certificate + text_of(key, PKCS8, SECRET))
    (tmp_path / "request").write_bytes(request())
    how = ("--padding", "pkcs1v15")
    sign = ("rsa", "sign", table, "-o", signed, "--message", "m", *how)
    verify = ("rsa", "verify", signed, "-o", checked, "--message", "m", "--signature", "result", *how)
    assert run(*sign, "--key", tmp_path / "bundle").code == 0
    for name in ("bundle", "encrypted"):
        assert run(*verify, "--status-column", "s", "--key", tmp_path / name).code == 0
    for command in (sign, verify):
        finished = run(*command, "--key", tmp_path / "request")
        assert (finished.code, "a certificate request" in finished.err) == (1, True)


def test_the_command_pads_signatures_on_request(tmp_path: Path) -> None:
    texts = [f"{number}" for number in range(2000)]
    signatures = private_key(1024).sign([text.encode() for text in texts], "pkcs1v15", "sha256")
    item = next(i for i, signature in enumerate(signatures) if signature[0] == 0)
    table, checked, key = tmp_path / "in.arrow", tmp_path / "out.arrow", tmp_path / "k.pem"
    write_table(
        table, [{"m": texts[item], "s": given.hex()} for given in (signatures[item], signatures[item][1:])]
    )
    key.write_bytes(text_of())
    command = ("rsa", "verify", table, "-o", checked, "--key", key, "--message", "m", "--signature", "s")
    finished = run(*command, "--padding", "pkcs1v15")
    assert (finished.code, "1 rsa_signature_length" in finished.err) == (3, True)
    assert read_arrow(checked)["valid"].to_pylist() == [True, False]
    assert run(*command, "--padding", "pkcs1v15", "--left-pad").code == 0
    assert read_arrow(checked)["valid"].to_pylist() == [True, True]


def test_the_command_says_that_a_key_excludes_the_padding(tmp_path: Path) -> None:
    table, signed = tmp_path / "in.arrow", tmp_path / "out.arrow"
    write_table(table, [{"m": "a"}])
    key = FOLDER / "PKCS8" / "rsa_pss_2048_hash_mask_salt.pem"
    command = ("rsa", "sign", table, "-o", signed, "--key", key, "--message", "m")
    finished = run(*command, "--padding", "pkcs1v15")
    assert (finished.code, "1 rsa_padding" in finished.err) == (3, True)
    assert run(*command).code == 0
