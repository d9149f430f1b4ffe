#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Demonstration on real data: verify the self-signatures of the web's root certificates in batched calls.

Every root certificate of the `certifi` bundle signs itself. For those with an RSA key (2048 and 4096 bits,
mixed) the signature s, the exponent e and the modulus n go into one call s^e mod n, and each answer is
compared with the PKCS#1 v1.5 encoding of the certificate's hash; those with a key on an elliptic curve
(P-256, P-384 and P-521, mixed) are verified in one call, too. Then a large batch of full-length powers
shows the throughput. At last new keys, RSA and Ed25519, sign many messages.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import certifi
import gmpy2
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import manymod
from manymod import ecc
from manymod.rsa import PrivateKey, supported

# DER of DigestInfo up to the hash itself: RFC 8017, section 9.2, note 1.
DIGEST_INFO = {
    "md5": bytes.fromhex("3020300c06082a864886f70d020505000410"),
    "sha1": bytes.fromhex("3021300906052b0e03021a05000414"),
    "sha224": bytes.fromhex("302d300d06096086480165030402040500041c"),
    "sha256": bytes.fromhex("3031300d060960864801650304020105000420"),
    "sha384": bytes.fromhex("3041300d060960864801650304020205000430"),
    "sha512": bytes.fromhex("3051300d060960864801650304020305000440"),
}
WEAK_HASHES = {"md5", "sha1"}
BATCH_BITS = 2048
T = TypeVar("T")


@dataclass
class Root:
    """A root certificate with an RSA key and a PKCS#1 v1.5 self-signature."""

    name: str
    certificate: x509.Certificate
    key: rsa.RSAPublicKey
    hash: hashes.HashAlgorithm
    verified: bool = False

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Signature, exponent and modulus as integers."""
        public = self.key.public_numbers()
        return int.from_bytes(self.certificate.signature, "big"), public.e, public.n


@dataclass
class CurveRoot:
    """A root certificate with a key on an elliptic curve and an ECDSA self-signature."""

    name: str
    certificate: x509.Certificate
    key: ec.EllipticCurvePublicKey
    hash: hashes.HashAlgorithm
    verified: bool = False

    @property
    def digest(self) -> bytes:
        """Digest of the signed part."""
        digest = hashes.Hash(self.hash)
        digest.update(self.certificate.tbs_certificate_bytes)
        return digest.finalize()


def subject(certificate: x509.Certificate) -> str:
    """A short name for display."""
    names = x509.NameOID
    for kind in (names.COMMON_NAME, names.ORGANIZATIONAL_UNIT_NAME, names.ORGANIZATION_NAME):
        if attributes := certificate.subject.get_attributes_for_oid(kind):
            return str(attributes[0].value)
    return certificate.subject.rfc4514_string()


def load_roots() -> tuple[list[Root], list[CurveRoot], list[tuple[str, str]]]:
    """RSA and ECDSA roots of the certifi bundle, and its others with the reason why each is not used."""
    roots: list[Root] = []
    on_curves: list[CurveRoot] = []
    others: list[tuple[str, str]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old roots stretch the rules for serial numbers
        certificates = x509.load_pem_x509_certificates(Path(certifi.where()).read_bytes())
    for certificate in certificates:
        name, key = subject(certificate), certificate.public_key()
        algorithm = certificate.signature_hash_algorithm
        if certificate.issuer != certificate.subject:
            others.append((name, "not self-signed"))
        elif isinstance(key, ec.EllipticCurvePublicKey) and algorithm is not None:
            on_curves.append(CurveRoot(name, certificate, key, algorithm))
        elif not isinstance(key, rsa.RSAPublicKey):
            others.append((name, "neither RSA nor ECDSA"))
        elif not isinstance(certificate.signature_algorithm_parameters, padding.PKCS1v15):
            others.append((name, "RSA, but not PKCS#1 v1.5"))
        elif algorithm is None or algorithm.name not in DIGEST_INFO:
            others.append((name, f"RSA, hash {algorithm.name if algorithm else 'unknown'}"))
        else:
            roots.append(Root(name, certificate, key, algorithm))
    return roots, on_curves, others


def encoded_message(root: Root) -> int:
    """EMSA-PKCS1-v1_5 of the signed part as an integer: 00 01 ff .. 00 DigestInfo hash (RFC 8017, 9.2)."""
    digest = hashes.Hash(root.hash)
    digest.update(root.certificate.tbs_certificate_bytes)
    tail = b"\x00" + DIGEST_INFO[root.hash.name] + digest.finalize()
    length = (root.key.key_size + 7) // 8
    return int.from_bytes(b"\x00\x01" + b"\xff" * (length - 2 - len(tail)) + tail, "big")


def verify(roots: Sequence[Root]) -> float:
    """Verify all roots in one call and return its time in seconds."""
    signatures, exponents, moduli = (list(column) for column in zip(*(r.numbers for r in roots), strict=True))
    start = time.perf_counter()
    powers = manymod.powmod(signatures, exponents, moduli)
    seconds = time.perf_counter() - start
    for root, power, signature, modulus in zip(roots, powers, signatures, moduli, strict=True):
        root.verified = signature < modulus and power == encoded_message(root)
    return seconds


def agrees(root: Root) -> bool:
    """Whether the cryptography package agrees on the signature."""
    certificate = root.certificate
    try:
        root.key.verify(
            certificate.signature, certificate.tbs_certificate_bytes, padding.PKCS1v15(), root.hash
        )
    except InvalidSignature:
        return not root.verified
    return root.verified


def verdict(root: Root) -> str:
    """The outcome as text."""
    if not root.verified:
        return "[red]WRONG"
    return "[yellow]verified, weak hash" if root.hash.name in WEAK_HASHES else "[green]verified"


def show_roots(console: Console) -> bool:
    """Verify the roots and print the outcome; True if every signature is valid and cross-checked."""
    roots, on_curves, others = load_roots()
    seconds = verify(roots)
    table = Table("subject", "bits", "exponent", "hash", "verdict", title="RSA root certificates of certifi")
    for root in roots:
        row = (root.name, str(root.key.key_size), str(root.numbers[1]), root.hash.name, verdict(root))
        table.add_row(*row)
    console.print(table)
    agreeing = sum(map(agrees, roots))
    good = sum(root.verified for root in roots)
    widths = sorted({root.key.key_size for root in roots})
    counts = ", ".join(f"{sum(r.key.key_size == bits for r in roots)} of {bits} bits" for bits in widths)
    console.print(
        f"{len(roots)} RSA roots ({counts}) in one powmod call of {seconds * 1e3:.2f} ms: {good} verified, "
        f"{len(roots) - good} wrong; the cryptography package agrees on {agreeing} of {len(roots)}."
    )
    kinds = sorted({kind for _, kind in others})
    for kind in kinds:
        names = [name for name, other in others if other == kind]
        console.print(f"[dim]left out, {kind} ({len(names)}): {'; '.join(names)}")
    return bool(roots) and good == agreeing == len(roots) and show_curve_roots(console, on_curves)


def show_curve_roots(console: Console, roots: Sequence[CurveRoot]) -> bool:
    """Verify the roots on elliptic curves in one call; True if every signature is valid."""
    if not ecc.supported() or not roots:
        return True
    ring = ecc.KeyRing([ecc.Key.from_cryptography(root.key) for root in roots])
    signatures, digests = [root.certificate.signature for root in roots], [root.digest for root in roots]
    hashed = ecc.Prehashed("sha256")  # of whatever hash: ECDSA takes digests of any length
    indices = list(range(len(roots)))
    verdicts, seconds = timed(
        lambda: ring.verify(signatures, digests, indices, algorithm=hashed, encoding="der")
    )
    for root, good in zip(roots, verdicts, strict=True):
        root.verified = good
    counts = {name: sum(key.curve.name == name for key in ring) for name in ("P-256", "P-384", "P-521")}
    listed = ", ".join(f"{count} on {name}" for name, count in counts.items() if count)
    console.print(
        f"{len(roots)} ECDSA roots ({listed}) in one call of {seconds * 1e3:.2f} ms: "
        f"{sum(verdicts)} verified, {len(roots) - sum(verdicts)} wrong."
    )
    swapped = ring.verify(signatures, digests[1:] + digests[:1], indices, algorithm=hashed, encoding="der")
    console.print(f"With the digests of their neighbours {sum(swapped)} of them verify.")
    return all(verdicts) and not any(swapped)


def timed(work: Callable[[], list[T]]) -> tuple[list[T], float]:
    """The result of one call and its time in seconds."""
    start = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - start


def show_throughput(console: Console, count: int, sample: int) -> bool:
    """Compare the time of a batch with gmpy2's; True if the sampled results agree."""
    source = random.Random(2048)
    top = 1 << (BATCH_BITS - 1)
    moduli = [source.getrandbits(BATCH_BITS) | top | 1 for _ in range(count)]
    bases = [source.randrange(modulus) for modulus in moduli]
    exponents = [source.getrandbits(BATCH_BITS) | top for _ in range(count)]
    mpz = [[gmpy2.mpz(value) for value in column[:sample]] for column in (bases, exponents, moduli)]

    def peer() -> list[int]:
        return list(map(gmpy2.powmod, *mpz))

    console.print(f"\n{count:,} powers of {BATCH_BITS} bits, exponents of full length, one modulus each:")
    expected, before = timed(peer)
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("powmod", total=count)

        def advance(done: int, _total: int) -> None:
            bar.update(task, completed=done)

        powers, seconds = timed(lambda: manymod.powmod(bases, exponents, moduli, progress=advance))
        bar.update(task, completed=count)
    _, after = timed(peer)
    peer_rate = 2 * sample / (before + after)
    table = Table("", "items", "seconds", "items a second")
    threads = manymod.get_threads()
    table.add_row(f"manymod, {threads} threads", f"{count:,}", f"{seconds:.2f}", f"{count / seconds:,.0f}")
    extrapolated = f"{count / peer_rate:.1f} extrapolated"
    table.add_row("gmpy2.powmod, 1 thread", f"{sample:,} timed", extrapolated, f"{peer_rate:,.0f}")
    console.print(table)
    same = powers[:sample] == expected
    console.print(
        f"{count / seconds / peer_rate:.2f}x gmpy2's rate; the first {sample} answers "
        f"{'are the same' if same else 'DIFFER'}. "
        "The time includes Python ints in and out for manymod, mpz in and out for gmpy2."
    )
    return same


def show_signing(console: Console, count: int, sample: int) -> bool:
    """Sign the roots' signed parts with a new key and compare with OpenSSL; True if all is correct."""
    if not supported():
        console.print("\nThis build has no RSA: it was made without OpenSSL's libcrypto.")
        return True
    original = rsa.generate_private_key(65537, BATCH_BITS)
    key, scheme, sha256 = PrivateKey.from_cryptography(original), padding.PKCS1v15(), hashes.SHA256()
    roots = [root.certificate.tbs_certificate_bytes for root in load_roots()[0]]
    messages = (roots * (count // len(roots) + 1))[:count]

    def peer() -> list[bytes]:
        return [original.sign(message, scheme, sha256) for message in messages[:sample]]

    console.print(
        f"\n{count:,} RSA-{BATCH_BITS} signatures (PKCS#1 v1.5, SHA-256) of what the roots certify:"
    )
    expected, before = timed(peer)
    signatures, seconds = timed(lambda: key.sign(messages, scheme, sha256))
    _, after = timed(peer)
    verdicts, verifying = timed(lambda: key.public_key().verify(signatures, messages, scheme, sha256))
    peer_rate = 2 * sample / (before + after)
    table = Table("", "signatures", "seconds", "signatures a second")
    table.add_row(
        f"manymod, {manymod.get_threads()} threads", f"{count:,}", f"{seconds:.2f}", f"{count / seconds:,.0f}"
    )
    extrapolated = f"{count / peer_rate:.1f} extrapolated"
    table.add_row("cryptography (OpenSSL), 1 thread", f"{sample:,} timed", extrapolated, f"{peer_rate:,.0f}")
    console.print(table)
    same = signatures[:sample] == expected
    console.print(
        f"Blinded, and each checked before it is given out. The first {sample} are "
        f"{'the same as' if same else 'OTHERS than'} OpenSSL's; {sum(verdicts):,} of {count:,} verified in "
        f"{verifying:.2f} s, {count / verifying:,.0f} a second."
    )
    return same and all(verdicts)


def show_curve_signing(console: Console, count: int, sample: int) -> bool:
    """Sign and verify messages with Ed25519, a key for each, beside OpenSSL; True if all is correct."""
    if not ecc.supported():
        console.print("\nThis build has no elliptic curves: it was made without OpenSSL's libcrypto.")
        return True
    secrets, public_keys = ecc.ED25519.generate(count)
    messages = [b"message %d" % number for number in range(count)]
    originals = [ed25519.Ed25519PrivateKey.from_private_bytes(row.tobytes()) for row in secrets[:sample]]
    publics = [original.public_key() for original in originals]
    first = messages[:sample]

    def peer_sign() -> list[bytes]:
        return [original.sign(message) for original, message in zip(originals, first, strict=True)]

    expected, peer_signing = timed(peer_sign)
    signatures, signing = timed(lambda: ecc.ED25519.sign(secrets, messages))
    verdicts, verifying = timed(lambda: ecc.ED25519.verify(public_keys, signatures, messages))
    same = signatures[:sample] == expected

    def peer_verify() -> list[None]:
        triples = zip(publics, signatures, first, strict=False)
        return [public.verify(signature, message) for public, signature, message in triples]

    _, peer_verifying = timed(peer_verify)
    together, one_verdict = timed(
        lambda: [ecc.ED25519.verify_all(public_keys, signatures, messages, policy="zip215")]
    )
    console.print(f"\n{count:,} Ed25519 signatures, each by a key of its own:")
    table = Table("", "signed a second", "verified a second", "verified together, a second")
    rates = (count / signing, count / verifying, count / one_verdict)
    table.add_row(f"manymod, {manymod.get_threads()} threads", *(f"{rate:,.0f}" for rate in rates))
    peer_rates = (sample / peer_signing, sample / peer_verifying)
    table.add_row("cryptography (OpenSSL), 1 thread", *(f"{rate:,.0f}" for rate in peer_rates), "-")
    console.print(table)
    console.print(
        f"The first {sample} are {'the same as' if same else 'OTHERS than'} OpenSSL's; {sum(verdicts):,} of "
        f"{count:,} verified one by one, and {'all' if together[0] else 'NOT ALL'} of them together."
    )
    return same and all(verdicts) and together[0]


def main() -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small batch for the throughput")
    quick = parser.parse_args().quick
    console = Console()
    verified = show_roots(console)
    same = show_throughput(console, count=400 if quick else 20_000, sample=20 if quick else 300)
    signed = show_signing(console, count=400 if quick else 10_000, sample=20 if quick else 300)
    on_curves = show_curve_signing(console, count=1000 if quick else 100_000, sample=20 if quick else 300)
    return 0 if verified and same and signed and on_curves else 1


if __name__ == "__main__":
    sys.exit(main())
