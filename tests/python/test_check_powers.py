# SPDX-License-Identifier: Apache-2.0
"""tools/check_powers.py: powers of a device against GMP's."""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import check_powers as tool
import manymod

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/check_powers.py"
OBSTACLE = manymod.cuda_support().obstacle


def run(folder: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, report and what is printed."""
    path = folder / "check.json"
    command = [sys.executable, str(TOOL), *options, "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert path.exists(), done.stderr
    return done.returncode, json.loads(path.read_text(encoding="utf-8")), done.stdout


def numbers(operation: str = tool.POWERS, number: int = 0, count: int = 3) -> Any:
    group = tool.Group(operation, 512, operation == tool.FIXED, number, count)
    return tool.make(tool.Part(group, 0, count, 7))


def integers(rows: Any) -> list[int]:
    return [tool.integer(row) for row in rows]


def test_on_the_processor(tmp_path: Path) -> None:
    status, report, printed = run(
        tmp_path, "--device", "cpu", "--items", "300", "--bits", "512,1536", "--processes", "2"
    )
    assert (status, report["differences"]) == (0, 0)
    assert report["items"] == report["wanted"] == sum(row["items"] for row in report["rows"])
    assert report["items"] >= 1.9 * 300 - 8
    kinds = {(row["operation"], row["bits"], row["moduli"], row["timing_class"]) for row in report["rows"]}
    assert kinds == {
        (operation, bits, moduli, timing)
        for operation in (tool.POWERS, tool.FIXED, tool.PRODUCTS)
        for bits in (512, 1536)
        for moduli in ("each", "shared")
        for timing in ("public", "secret")
        if (operation, moduli) != (tool.FIXED, "each") and (operation, timing) != (tool.PRODUCTS, "secret")
    }
    assert printed.endswith("0 differ\n")


def test_time_runs_out(tmp_path: Path) -> None:
    status, report, _ = run(
        tmp_path, "--device", "cpu", "--items", "300", "--bits", "512", "--processes", "1", "--seconds", "0"
    )
    assert status == 1
    assert report["items"] < report["wanted"]


def test_answers_are_those_of_pow() -> None:
    x, y, n, r = map(integers, numbers().rows)
    assert [pow(*operands) for operands in zip(x, y, n, strict=True)] == r
    assert any(value > 1 for value in r)


def test_answers_of_a_fixed_base() -> None:
    x, y, n, r = map(integers, numbers(tool.FIXED).rows)
    assert len(set(x)) == len(set(n)) == 1
    assert [pow(x[0], exponent, n[0]) for exponent in y] == r


def test_answers_are_products_of_as_many_terms_as_the_group_has() -> None:
    for number, terms in enumerate(tool.TERMS):
        given = numbers(tool.PRODUCTS, number)
        bases, exponents, moduli, results = given.rows
        assert bases.shape == exponents.shape == (3, terms, 64)
        for xs, ys, n, r in zip(bases, exponents, integers(moduli), integers(results), strict=True):
            powers = (pow(x, y, n) for x, y in zip(integers(xs), integers(ys), strict=True))
            assert math.prod(powers) % n == r


def test_a_difference_is_counted_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    given = numbers()
    found = given.rows[3].copy()
    found[1, -1] ^= 1
    tally = tool.Tally()
    group = tool.Group(tool.POWERS, 512, False, 0, 3)
    tally.add(group, "public", given, given.rows[3], 0.1)
    assert capsys.readouterr().out == ""
    tally.add(group, "public", given, found, 0.1)
    tally.add(group, "public", given, given.rows[3][:2], 0.1)
    assert tally.rows == [
        {
            "operation": "powmod",
            "bits": 512,
            "moduli": "each",
            "timing_class": "public",
            "calls": 3,
            "items": 8,
            "differences": 1 + 3,
            "seconds": pytest.approx(0.3),
        }
    ]
    assert found[1].tobytes().hex() in capsys.readouterr().out


def test_narrower_answers_are_the_same_numbers() -> None:
    given = numbers()
    given.rows[3] = given.rows[3].copy()
    given.rows[3][:, :8] = 0
    assert tool.differing(given, given.rows[3][:, 8:]) == []


def test_groups_have_all_items() -> None:
    found = list(tool.groups(100000, [512, 8192], list(tool.OPERATIONS)))
    assert sum(group.items for group in found) == pytest.approx(100000, abs=8)
    assert {group.operation for group in found} == set(tool.OPERATIONS)
    assert {(group.bits, group.shared) for group in found if group.operation != tool.FIXED} == {
        (b, s) for b in (512, 8192) for s in (False, True)
    }
    assert all(group.shared for group in found if group.operation == tool.FIXED)
    for group in found:
        assert sum(part.items for part in tool.parts(group, 1)) == group.items


def test_moduli() -> None:
    source = random.Random(1)
    for bits in tool.SHARES:
        found = [tool.modulus(source, bits, refused=False) for _ in range(200)]
        assert all(n % 2 == 1 and tool.least_bits(bits) <= n.bit_length() <= bits for n in found)
        assert {n.bit_length() for n in found} > {bits}
        refused = tool.modulus(source, bits, refused=True)
        assert refused % 2 == 1
        assert refused.bit_length() <= bits
        assert math.gcd(refused, math.prod(tool.REFUSED_PRIMES)) > 1


def test_refused_primes_are_channels_of_base_b() -> None:
    text = (ROOT / "src/modmul/rns/bases.hpp").read_text(encoding="utf-8")
    primes = [int(number) for number in re.findall(r"\b\d{10}\b", text.split("kPrimes[]", 1)[1])]
    base_b = primes[len(primes) // 2 :]
    assert set(tool.REFUSED_PRIMES) <= set(base_b[:18])


def test_parts_are_reproducible() -> None:
    for one, other in zip(numbers().rows, numbers().rows, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.gpu
@pytest.mark.skipif(bool(OBSTACLE), reason=OBSTACLE or "there is a GPU")
def test_residue_number_systems_on_a_gpu(tmp_path: Path) -> None:
    pytest.importorskip("gmpy2", reason="tools/check_powers.py compares with gmpy2")
    usable = {variant.name for variant in manymod.variants() if variant.usable}
    if "rns.cuda.t2" not in usable:
        pytest.skip("rns needs a GPU of compute capability 9.0")
    status, report, printed = run(
        tmp_path, "--device", "cuda", "--variant", "rns.cuda.t2", "--items", "20000"
    )
    assert status == 0, printed
    assert report["differences"] == 0
