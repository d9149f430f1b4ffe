# SPDX-License-Identifier: Apache-2.0
"""The package on CUDA devices that the fake driver makes up: right answers, and what is said of failures."""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any

import pytest
from tests.python import fake_gpu
from tests.python.cli_support import COMMAND


@pytest.fixture(autouse=True)
def _driver() -> None:
    fake_gpu.needed()


ANSWERS = """
import json, sys
import manymod
from tests.python.fake_gpu import count

given = json.load(sys.stdin)
x, y, n = given["x"], given["y"], given["n"]
where = {"device": given["device"]}
powers = manymod.FixedBase(x[0], n[0], exponent_bits=64, **where)
answers = {
    "powmod": manymod.powmod(x, y, n, **where),
    "secret powmod": manymod.powmod(x, y, n, secret=True, **where),
    "one exponent": manymod.powmod(x, 65537, n, **where),
    "one modulus": manymod.powmod(x, y, n[0], **where),
    "mulmod": manymod.mulmod(x, y, n, **where),
    "fixed base": powers.powmod(y),
}
answers = {name: list(values) for name, values in answers.items()}
names = ["launches", "to_device_bytes", "to_host_bytes", "misuses", "unwiped", "context_depth"]
json.dump({"answers": answers, "counts": {name: count(name) for name in names}}, sys.stdout)
"""

# What happens on a device that fails, and on device auto.
OUTCOME = """
import json, sys
import manymod

numbers = json.load(sys.stdin)
outcome = {"devices": [device.name for device in manymod.devices()]}
for device in ("cuda", "auto"):
    try:
        outcome[device] = list(manymod.powmod(*numbers, device=device))
    except Exception as error:
        outcome[device] = [type(error).__name__, str(error)]
json.dump(outcome, sys.stdout)
"""


def numbers(bits: int, items: int) -> tuple[list[int], list[int], list[int]]:
    """Bases of any sign and some longer than the moduli, exponents of up to 64 bits, odd moduli."""
    source = random.Random(bits)
    x = [source.choice([1, -1]) * source.getrandbits(bits + 40) for _ in range(items)]
    y = [source.getrandbits(source.choice([5, 64])) for _ in range(items)]
    n = [source.getrandbits(bits) | 1 | 1 << (bits - 1) for _ in range(items)]
    return x, y, n


def expected(x: list[int], y: list[int], n: list[int]) -> dict[str, list[int]]:
    powers = [pow(*item) for item in zip(x, y, n, strict=True)]
    return {
        "powmod": powers,
        "secret powmod": powers,
        "one exponent": [pow(base, 65537, modulus) for base, modulus in zip(x, n, strict=True)],
        "one modulus": [pow(base, exponent, n[0]) for base, exponent in zip(x, y, strict=True)],
        "mulmod": [a * b % modulus for a, b, modulus in zip(x, y, n, strict=True)],
        "fixed base": [pow(x[0], exponent, n[0]) for exponent in y],
    }


@pytest.mark.parametrize(("bits", "device"), [(61, "cuda"), (128, "cuda:1"), (320, "cuda")])
def test_lists_of_integers(bits: int, device: str) -> None:
    x, y, n = numbers(bits, 20)
    given = {"x": x, "y": y, "n": n, "device": device}
    found = fake_gpu.run(ANSWERS, given, devices=2, multiprocessors=2)
    assert found["answers"] == expected(x, y, n)
    counts = found["counts"]
    assert counts["launches"] >= 6
    assert counts["to_device_bytes"] > 0
    assert counts["to_host_bytes"] > 0
    assert (counts["misuses"], counts["unwiped"], counts["context_depth"]) == (0, 0, 0)


def test_info_shows_the_devices() -> None:
    finished = subprocess.run(
        [*COMMAND, "info", "--json"],
        env=fake_gpu.environment(devices=2, multiprocessors=7),
        capture_output=True,
        text=True,
        check=True,
    )
    shown = json.loads(finished.stdout)
    gpus = [device for device in shown["devices"] if device["backend"] == "cuda"]
    assert [gpu["name"] for gpu in gpus] == ["cuda:0", "cuda:1"]
    assert {(gpu["model"], gpu["units"]) for gpu in gpus} == {("Fake GPU", 7)}
    usable = {variant["name"] for variant in shown["variants"] if variant["usable"]}
    assert "row32.cuda.t1" in usable


def outcome_with(**settings: int) -> dict[str, Any]:
    """Of 5000 powers, enough for device auto to take a GPU; those of auto must be right."""
    x, y, n = numbers(61, 5000)
    y = [exponent % 32 for exponent in y]
    outcome: dict[str, Any] = fake_gpu.run(OUTCOME, [x, y, n], multiprocessors=1, **settings)
    right = [pow(*item) for item in zip(x, y, n, strict=True)]
    assert outcome["auto"] == right
    if len(outcome["cuda"]) > 2:
        assert outcome["cuda"] == right
    return outcome


def test_sound_device() -> None:
    outcome = outcome_with()
    assert outcome["devices"] == ["cpu", "cuda:0"]
    assert len(outcome["cuda"]) == 5000


FAILURES: list[tuple[dict[str, int], str, str]] = [
    ({"load_result": 209}, "DeviceError", "CUDA_ERROR_NO_BINARY_FOR_GPU"),
    ({"lost_at_call": 34}, "DeviceError", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ({"faulting_launch": 1}, "DeviceError", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ({"failing_launch": 0}, "DeviceError", "cuLaunchKernel failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
    ({"memory_bytes": 1000}, "MemoryError", "cuMemAlloc"),
    ({"host_memory_bytes": 1000}, "MemoryError", "cuMemHostAlloc"),
]


@pytest.mark.parametrize(("settings", "kind", "text"), FAILURES, ids=lambda value: str(value))
def test_failures_are_said_or_made_up_for(settings: dict[str, int], kind: str, text: str) -> None:
    outcome = outcome_with(**settings)
    assert outcome["devices"] == ["cpu", "cuda:0"]
    assert outcome["cuda"][0] == kind
    assert text in outcome["cuda"][1]


@pytest.mark.parametrize("settings", [{"version": 11080}, {"devices": 0}], ids=str)
def test_drivers_that_do_not_serve(settings: dict[str, int]) -> None:
    outcome = outcome_with(**settings)
    assert outcome["devices"] == ["cpu"]
    assert outcome["cuda"][0] == "DeviceError"
