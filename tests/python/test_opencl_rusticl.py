# SPDX-License-Identifier: Apache-2.0
"""Mesa's OpenCL driver rusticl, on the CPU: what is computed there is right, what would be wrong is refused.

Its first version, 22.3, which Debian 12 has, gives launches of a kernel the arguments of earlier ones,
sometimes. The test of a kernel before its first use finds that for some kernels and not for others, so that
the devices of that version are not used.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
from reference.ecc.curves import P256
from reference.ecc.encodings import encode_point
from reference.ecc.groups import multiply
from tests.python.opencl_support import run

FOLDER = Path(sys.prefix) / "rusticl"
ITEMS = 70  # more than a work-group has

PROGRAM = """
import json, sys
import manymod
from manymod import ecc

given = json.load(sys.stdin)
[device] = [device for device in manymod.devices() if device.backend == "opencl"]
answers = {}
for name, expression in given["expressions"].items():
    try:
        answers[name] = eval(expression)
    except (manymod.DeviceError, manymod.VariantError) as error:
        answers[name] = str(error)
print(json.dumps({"model": device.model, "reason": device.obstacle, "answers": answers}))
"""


def check_answers(folder: Path, given: dict[str, Any], expected: dict[str, tuple[str, object]]) -> None:
    """Compare the values of expressions of `given`, unless they are refused.

    `expected`: the expression and its value, by name.
    """
    if not (FOLDER / "rusticl.icd").exists():
        pytest.skip("Mesa's rusticl is not there (make test unpacks it, as root, where there is apt)")
    found = run(
        PROGRAM,
        folder,
        given | {"expressions": {name: expression for name, (expression, _) in expected.items()}},
        OCL_ICD_VENDORS=str(FOLDER),
        RUSTICL_ENABLE="swrast,llvmpipe",
        GALLIUM_PIPE_SEARCH_DIR=str(next(FOLDER.rglob("gallium-pipe"), FOLDER)),
        MANYMOD_OPENCL_SECRET="1",
    )
    assert "llvmpipe" in found["model"]
    for name, (_, value) in expected.items():
        answer = found["answers"][name]
        if found["reason"]:
            assert "rusticl of Mesa 22." in found["reason"]
            assert isinstance(answer, str), name
        elif isinstance(answer, str):
            assert "computes wrong results" in answer
        else:
            assert answer == value, name


@pytest.mark.parametrize("bits", [1, 250, 4000])
@pytest.mark.parametrize("parity", ["odd", "even"])
def test_element_wise_operations(tmp_path: Path, bits: int, parity: str) -> None:
    source = random.Random(bits)
    low = 1 if parity == "odd" else 0
    n = [source.getrandbits(bits + 1) & ~1 | low | 1 << bits for _ in range(ITEMS)]
    x, y, z = ([source.choice([0, 1, 2**bits - 1, source.getrandbits(bits)]) for _ in n] for _ in range(3))
    rows = list(zip(x, y, z, n, strict=True))

    def call(name: str, *operands: str) -> str:
        values = ", ".join(f"given['{operand}']" for operand in (*operands, "n"))
        return f"list(manymod.{name}({values}, device='opencl'))"

    check_answers(
        tmp_path,
        {"x": x, "y": y, "z": z, "n": n},
        {
            "addmod": (call("addmod", "x", "y"), [(a + b) % m for a, b, _, m in rows]),
            "submod": (call("submod", "x", "y"), [(a - b) % m for a, b, _, m in rows]),
            "negmod": (call("negmod", "x"), [-a % m for a, _, _, m in rows]),
            "mulmod": (call("mulmod", "x", "y"), [a * b % m for a, b, _, m in rows]),
            "sqrmod": (call("sqrmod", "x"), [a * a % m for a, _, _, m in rows]),
            "fmamod": (call("fmamod", "x", "y", "z"), [(a * b + c) % m for a, b, c, m in rows]),
        },
    )


@pytest.mark.parametrize("technique", ["cios32", "reduced_radix"])
def test_powers(tmp_path: Path, technique: str) -> None:
    source = random.Random(3)
    n = [source.getrandbits(250) | 1 | 1 << 249 for _ in range(ITEMS)]
    x, y = [source.getrandbits(250) for _ in n], [source.getrandbits(40) for _ in n]
    powers = [pow(*row) for row in zip(x, y, n, strict=True)]
    operands = "given['x'], given['y'], given['n']"
    where = f"device='opencl', variant='{technique}.opencl.t1'"
    base = f"manymod.FixedBase(given['x'][0], given['n'][0], exponent_bits=40, {where})"
    check_answers(
        tmp_path,
        {"x": x, "y": y, "n": n},
        {
            "powmod": (f"list(manymod.powmod({operands}, {where}))", powers),
            "secret powmod": (f"list(manymod.powmod({operands}, secret=True, {where}))", powers),
            "fixed base": (
                f"list({base}.powmod(given['y']))",
                [pow(x[0], exponent, n[0]) for exponent in y],
            ),
        },
    )


def test_curves(tmp_path: Path) -> None:
    """Calls of different numbers of items: launches with the arguments of earlier ones would be wrong."""
    points = [multiply(P256, k, P256.generator) for k in range(1, 41)]
    keys = [encode_point(P256, point, compressed=False).hex() for point in points if point]
    check_answers(
        tmp_path,
        {"secrets": list(range(1, 41))},
        {
            str(count): (
                f"[key.hex() for key in ecc.P256.public_keys(given['secrets'][:{count}], device='opencl')]",
                keys[:count],
            )
            for count in (40, 8, 9)
        },
    )
