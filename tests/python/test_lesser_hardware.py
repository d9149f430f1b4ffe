# SPDX-License-Identifier: Apache-2.0
"""What is chosen and computed where instruction sets are missing: each level hides them from a process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

import manymod

AVX512 = ["avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512ifma", "avx512vbmi"]
LEVELS = {
    "nothing": [],
    "ifma": ["avx512ifma"],
    "avx512": AVX512,
    "avx2": [*AVX512, "avx2", "fma"],
    "everything": ["all"],
}
SIZES = [64, 256, 512, 1024, 2048, 4096]
BATCHES = [1, 3, 8, 1000]

PROGRAM = """
import json, sys
import manymod

case = json.load(sys.stdin)
x, y, n = ([int(value, 16) for value in case[name]] for name in "xyn")
variants = [variant for variant in manymod.variants() if variant.usable]
usable = [variant.name for variant in variants]
powering = [variant.name for variant in variants if "powmod" in variant.public_ops]
found = {"usable": usable, "chosen": {}, "results": {}, "refused": {}}
for secret in (False, True):
    for bits in case["sizes"]:
        plan = manymod.Plan("powmod", modulus_bits=bits, secret=secret)
        for items in case["batches"]:
            found["chosen"][f"{bits} bits, {items} items, secret {secret}"] = plan.variant_for(items)
    for name in [None, *powering]:
        powers = manymod.powmod(x, y, n, secret=secret, variant=name)
        found["results"][f"{name}, secret {secret}"] = [hex(power) for power in powers]
for variant in manymod.variants():
    if not variant.usable:
        try:
            operation = "powmod" if "powmod" in variant.public_ops else "mulmod"
            manymod.Plan(operation, modulus_bits=1024, variant=variant.name)
        except manymod.VariantError as error:
            found["refused"][variant.name] = str(error)
json.dump(found, sys.stdout)
"""


def operands() -> dict[str, list[int]]:
    """Eleven items: a full vector and a ragged one, moduli of several lengths."""
    source = random.Random(1)
    bits = [1024, 1023, 512, 100, 1024, 768, 64, 1000, 1024, 3, 521]
    return {
        "x": [source.getrandbits(1100) for _ in bits],
        "y": [source.getrandbits(size) for size in bits],
        "n": [source.getrandbits(size) | 1 | 1 << (size - 1) for size in bits],
    }


@cache
def without(level: str) -> dict[str, Any]:
    """What a process finds from which a level's features are hidden."""
    case: dict[str, Any] = {name: [hex(value) for value in values] for name, values in operands().items()}
    case |= {"sizes": SIZES, "batches": BATCHES}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MANYMOD_")}
    environment |= {"MANYMOD_HIDE_CPU": " ".join(LEVELS[level]), "MANYMOD_HIDE_OPENCL": "1"}
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(case),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(finished.stdout)
    return found


def hidden(level: str) -> set[str]:
    names = set(LEVELS[level])
    every = {need for variant in manymod.variants() for need in variant.needs}
    return every if "all" in names else names


@pytest.mark.parametrize("level", LEVELS)
def test_only_variants_of_the_hardware_are_chosen(level: str) -> None:
    found = without(level)
    needs = {variant.name: set(variant.needs) for variant in manymod.variants() if variant.backend == "cpu"}
    for name in [*found["usable"], *found["chosen"].values()]:
        assert name in found["usable"]
        assert not needs[name] & hidden(level), name


@pytest.mark.parametrize("level", LEVELS)
def test_results_are_the_same(level: str) -> None:
    given = operands()
    expected = [hex(pow(x, y, n)) for x, y, n in zip(given["x"], given["y"], given["n"], strict=True)]
    results = without(level)["results"]
    assert len(results) >= 4
    for how, powers in results.items():
        assert powers == expected, how


@pytest.mark.parametrize("level", [level for level in LEVELS if level != "nothing"])
def test_hidden_variants_are_refused_by_name(level: str) -> None:
    found = without(level)
    for variant in manymod.variants():
        if variant.backend == "cpu" and set(variant.needs) & hidden(level):
            assert variant.name in found["refused"]
            assert "lacks" in found["refused"][variant.name]


def test_each_level_falls_back_to_another_variant() -> None:
    """Large batches of 1024 bits: what was chosen is another variant as soon as its hardware is hidden."""
    chosen = [without(level)["chosen"]["1024 bits, 1000 items, secret True"] for level in LEVELS]
    needs = {variant.name: set(variant.needs) for variant in manymod.variants()}
    for before, after, level in zip(chosen, chosen[1:], list(LEVELS)[1:], strict=False):
        assert (before != after) == bool(needs[before] & hidden(level)), (before, after, level)
    assert needs[chosen[-1]] == set()
