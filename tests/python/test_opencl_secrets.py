# SPDX-License-Identifier: Apache-2.0
"""The data flow of OpenCL kernels in PTX: no branch and no address depends on a secret."""

from __future__ import annotations

import shutil
from pathlib import Path

import check_opencl_secrets
import opencl_ptx
import pytest

CLANG = shutil.which("clang-19") or shutil.which("clang")

#: Each kernel that calls in constant time use, and a shape of each form of the techniques.
KERNELS = (
    "mm_residue",
    "mm_garner_difference",
    "mm_garner_sum",
    "cios32_1x8",
    "division32_1x8",
    "dpf52_1x5",
    "dpf52_1x20",
    "dpf52_1x30",
    "dpf52_2x10",
    "reduced_radix_1x5",
    "reduced_radix_1x28",
    "reduced_radix_4x10",
    "rns_float_1x44",
    "ecc_any160_multiply",
    "ecc_three160_base",
    "ecc_zero160_affine",
    "ecc_minus160_multiply",
    "ecc_twisted160_base",
    "ecc_montgomery160_ladder",
)

LEAK = """
__kernel void mm_leaks(__constant const ulong* job, __global uchar* m0, __global uchar* m1,
                       __global uchar* m2, __global uchar* m3, __local uint* local_words) {
  __global uint* const words = (__global uint*)(m0 + job[0]);
  const uint secret = words[get_global_id(0)];
  LEAK
}
"""


def compiled(text: str, options: list[str]) -> str:
    if CLANG is None:
        pytest.skip("there is no clang, which compiles OpenCL C to PTX")
    return opencl_ptx.compiled(text, options, CLANG)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_in_constant_time(kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = check_opencl_secrets.check(compiled(*opencl_ptx.source(kernel)), kernel)
    assert found == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("leak", "finding"),
    [
        (
            "if (secret > 5) words[0] = words[1] / 3 + get_local_size(0);",
            "whether memory is accessed|a branch",
        ),
        ("words[0] = words[secret & 15];", "an address"),
        ("words[secret & 15] = 0;", "an address"),
        ("words[0] = 1000 / secret;", "an instruction whose time"),
        ("local_words[get_local_id(0)] = secret; words[0] = words[local_words[0] & 3];", "an address"),
        ("for (uint i = 0; i < secret; ++i) words[i] = 1;", "a branch"),
    ],
)
def test_leaks_are_found(leak: str, finding: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = check_opencl_secrets.check(compiled(LEAK.replace("LEAK\n", leak + "\n"), []), "a leak")
    assert found > 0
    printed = capsys.readouterr().out
    assert any(kind in printed for kind in finding.split("|")), printed


def test_tables_that_are_read_by_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls in variable time read the entry of a digit: that is what the byte of constant time excludes."""
    monkeypatch.setattr(check_opencl_secrets, "TRUE", {"*": set()})
    assert check_opencl_secrets.check(compiled(*opencl_ptx.source("cios32_1x8")), "cios32") > 0


def test_binaries_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = compiled(*opencl_ptx.source("mm_garner_difference"))
    file = tmp_path / "kernel.bin"
    file.write_bytes(b"manymod1" + bytes(32) + text.encode() + b"\0")
    monkeypatch.setattr("sys.argv", ["check", str(file)])
    assert check_opencl_secrets.main() == 0
    file.write_bytes(b"manymod1" + bytes(32) + b"no PTX")
    assert check_opencl_secrets.main() == 1
