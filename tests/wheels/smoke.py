# SPDX-License-Identifier: Apache-2.0
"""What a fresh installation of a wheel does with NumPy alone; tools/try_wheels.py runs it in bare systems.

Where there is a CUDA device, or a driver that says so, it computes there too; with the argument `cuda` there
must be one.
"""

from __future__ import annotations

import concurrent.futures
import gc
import platform
import random
import sys

import numpy as np

import manymod
from manymod import ecc, rsa

#: Of 1024 bits and encrypted by AES-256-CBC with the password "wheel"; for this test alone.
ENCRYPTED_KEY = """-----BEGIN ENCRYPTED PRIVATE KEY-----
MIIC3TBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIynjxk9Pxhe4CAggA
MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBCBbA3F96QMR0uu8CkGEv6kBIIC
gKj4qqdsvxbeY8nmKVwIXDoKVAB2LejSac2Jwh7wmIc2XwnklwaiV2x0rdiUt96u
puLUakjuH6Gq6RgKunmHDhgV5cjt36W85SXIXLpfrz/VijYpp4tQ71IR8ByNLLOQ
r3spK5eXtQGVDHEI13UUDTz+NxQVdVPdFuco9l2mtc9Gbc+BLRSFb7T916dzPqeJ
Ae5MOPdDndh1Ot2RObVDzNNlmqgG2bUAdOQcSF+w9tcF1WhtulI8UDTA0J1lvit9
kmfnD4d5HNZjgWlqJNChmX6fBF7cXEUIV8eYKxRbuzU+/SUc4BziMghC+cSnngfq
8JaJecSbVqkaEKM9pyHOlgHzEn/SwZmmbaQnENBKiyN28qvnqyMRH+6gIFDTP+Xy
/fxy0vwZzLLK+BCVf2dYC0aJPbqdnviL2idm9GKZzG9ApmMutEDWkkbBF4zXU+Cc
tne/KtPVP7x1AZgyINRNq9uSiI84vNWgZOiJqv34ziXHLAnBFs40mRP6oq+bRVm+
Y8pxP1kWfY50mVcyjCNXndI8rZtKK+YDLeAQCFAqCXxV701vGqdzCHk/MQFvpBEu
I7KjT/EZ33q2Gfo+TYcSQAPG7l6WzCkRz3Uh2ST4WmTjlDZqzpCtQN5NhDGoPn7T
EGZ4kkHXV6JVQy4Us7ZL/1AfDGEaIfeaEyYKjGGAPyVDQCg1iOaDM/4j2FhqGyzp
tW/99VNLftosuvezaPViXW/ZBf4or9Ls/Mef4/YDbrElID6yDfZV058qCAWrg9oQ
PCIcaJeaIGu3qVDfsCMAcgI0+QMp+VRyFinw7h3XfYiheyFVjCVwesXAv0x15ZnV
q5gcHOsxNVXzcG19rs/FaT8=
-----END ENCRYPTED PRIVATE KEY-----
"""


def check_powers(random_numbers: random.Random) -> int:
    """Compare every variant of this processor with Python's pow; return how many there are."""
    usable = [variant for variant in manymod.variants() if variant.usable and variant.backend == "cpu"]
    for variant in usable:
        bits = max(192, variant.min_bits)
        modulus = random_numbers.getrandbits(bits) | 1 << (bits - 1) | 1
        numbers = [random_numbers.getrandbits(bits) for _ in range(19)]
        powers = [pow(number, 65537, modulus) for number in numbers]
        products = [number * 65537 % modulus for number in numbers]
        for operation, call, expected in (
            ("powmod", manymod.powmod, powers),
            ("mulmod", manymod.mulmod, products),
        ):
            if operation in variant.public_ops:
                assert call(numbers, 65537, modulus, variant=variant.name) == expected, variant
    return len(usable)


def check_integers(random_numbers: random.Random) -> None:
    """Ints of all lengths and signs, arrays and bytes survive the way there and back."""
    numbers = [0, 1, -1, 2**30, -(2**30), 2**60 - 1, -(2**60), 2**64, -(2**64) + 1]
    numbers += [
        random_numbers.choice((-1, 1)) * random_numbers.getrandbits(bits) for bits in range(1, 2000, 37)
    ]
    modulus = 2**2048 - 1
    assert manymod.addmod(numbers, 0, modulus) == [number % modulus for number in numbers]
    assert manymod.IntArray.from_ints(numbers).to_ints() == numbers
    assert np.asarray(manymod.addmod(np.array([1, 2]), 5, 7)).ravel().tolist() == [6, 0]
    for wrong in ("text", None, 1.5):
        message = ""
        try:
            manymod.mulmod([1, wrong], 2, 3)
        except TypeError as error:
            message = str(error)
        assert f"is not an integer: {type(wrong).__name__}" in message, message


def check_rsa() -> None:
    """An encrypted key, signatures, encryption, and single requests of many threads."""
    key = rsa.PrivateKey.from_pem(ENCRYPTED_KEY, password=b"wheel")
    messages = [b"message %d" % i for i in range(20)]
    signatures = key.sign(messages, "pss", "sha256")
    assert all(key.public_key().verify(signatures, messages, "pss", "sha256"))
    assert not any(key.public_key().verify(signatures, messages[::-1], "pss", "sha256"))
    assert key.decrypt(key.public_key().encrypt(messages, "oaep"), "oaep") == messages
    with rsa.Signer(key, "pkcs1v15", "sha256") as signer, concurrent.futures.ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(signer.sign, messages))
    assert all(key.public_key().verify(answers, messages, "pkcs1v15", "sha256"))


def check_curves() -> None:
    """Signatures on two kinds of curves."""
    for curve in (ecc.P256, ecc.ED25519):
        secrets, public_keys = curve.generate(5)
        signatures = curve.sign(secrets, [b"message"] * 5)
        assert curve.verify(public_keys, signatures, [b"message"] * 5) == [True] * 5
        assert curve.verify(public_keys, signatures, [b"another"] * 5) == [False] * 5


def check_gpus(random_numbers: random.Random) -> list[str]:
    """Powers, RSA and curves on each CUDA device, beside Python and the CPU; return the devices' names."""
    devices = [device.name for device in manymod.devices() if device.name.startswith("cuda")]
    moduli = [random_numbers.getrandbits(2048) | 1 << 2047 | 1 for _ in range(40)]
    numbers = [random_numbers.randrange(modulus) for modulus in moduli]
    key = rsa.PrivateKey.from_pem(ENCRYPTED_KEY, password=b"wheel")
    messages = [b"message %d" % i for i in range(40)]
    for device in devices:
        powers = manymod.powmod(numbers, 65537, moduli, device=device)
        assert powers == [pow(*item) for item in zip(numbers, [65537] * 40, moduli, strict=True)], device
        ring = rsa.KeyRing([key], device=device)
        assert ring.sign(messages, None, "pkcs1v15", "sha256") == key.sign(messages, "pkcs1v15", "sha256")
        secrets, public_keys = ecc.P256.generate(40, device=device)
        assert np.array_equal(public_keys, ecc.P256.public_keys(secrets, device="cpu")), device
        signatures = ecc.P256.sign(secrets, messages, device=device)
        assert ecc.P256.verify(public_keys, signatures, messages, device="cpu") == [True] * 40, device
        wrong = ecc.P256.verify(public_keys, signatures, messages[::-1], device=device)
        assert wrong == [False] * 40, device
    return devices


def main() -> None:
    """Check everything, and say what is there."""
    random_numbers = random.Random(1)
    variants = check_powers(random_numbers)
    check_integers(random_numbers)
    check_rsa()
    check_curves()
    devices = check_gpus(random_numbers)
    gc.collect()
    cuda = manymod.cuda_support()
    assert devices or "cuda" not in sys.argv, cuda.obstacle
    system = f"Python {platform.python_version()}, {' '.join(platform.libc_ver())}"
    kernels = f"{'with' if cuda.built else 'without'} code for GPUs ({', '.join(devices) or cuda.obstacle})"
    print(f"manymod {manymod.__version__}, {system}: {variants} variants of this CPU, {kernels}")


if __name__ == "__main__":
    main()
