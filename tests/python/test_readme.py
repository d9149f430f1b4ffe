# SPDX-License-Identifier: Apache-2.0
"""README.md against the repository: its examples run, and its tables have the numbers of their reports."""

from __future__ import annotations

import csv
import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE)


def example(language: str) -> str:
    """The one block of code in this language."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1, language
    return str(blocks[0])


def report(name: str) -> Any:
    """A report that README.md links."""
    assert f"](bench/results/{name}.json)" in TEXT
    return json.loads((ROOT / f"bench/results/{name}.json").read_text(encoding="utf-8"))


def test_the_python_example_runs() -> None:
    test = doctest.DocTestParser().get_doctest(example("python"), {}, "README.md", "README.md", 0)
    assert len(test.examples) >= 4
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_c_example_is_part_of_a_program_that_ctest_runs() -> None:
    source = (ROOT / "examples/powmod.c").read_text(encoding="utf-8")
    assert textwrap.indent(example("c"), "  ") in source


def test_the_commands_run(tmp_path: Path) -> None:
    """As they stand, with the `manymod` of this interpreter."""
    program = tmp_path / "bin/manymod"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m manymod "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    subprocess.run(
        ["sh", "-euc", example("sh")],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"},
        check=True,
        capture_output=True,
        timeout=120,
    )
    with (tmp_path / "powers.csv").open(newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert len(written) == 2
    for row in written:
        power = pow(int(row["message"]), 65537, int(row["modulus"]))
        assert (int(row["result"]), row["status"]) == (power, "ok")


def test_the_first_result_is_what_its_comment_says() -> None:
    (line,) = [line for line in TEXT.splitlines() if line.startswith("python -c ")]
    _, _, code, *said = shlex.split(line, comments=False)
    assert said[0] == "#"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == said[1:]


def test_nothing_is_left_to_fill_in() -> None:
    assert re.search(r"@[A-Z0-9_]+@", TEXT) is None


def rate(value: float | None) -> str:
    """Three significant digits, or whole items, of items a second.

    >>> rate(20042.0), rate(999_600.0), rate(45.9), rate(None)
    ('20.0 k', '1.00 M', '46', '-')
    """
    if value is None:
        return "-"
    for unit, scale in (("M", 1e6), ("k", 1e3)):
        if value >= 0.9995 * scale:
            rounded = float(f"{value / scale:.3g}")
            return f"{rounded:.{2 - len(str(int(rounded))) + 1}f} {unit}"
    return f"{value:.0f}"


def markdown(rows: list[list[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    head, *body = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def median(found: Any, peer: str, operations: str | tuple[str, ...], bits: int) -> float | None:
    """The best of these medians of bench/peers/peers.py, if there is one."""
    names = (operations,) if isinstance(operations, str) else operations
    rows = [
        float(row["median"])
        for row in found["results"]
        if (row["peer"], row["bits"]) == (peer, bits) and row["operation"] in names
    ]
    assert len(rows) <= len(names)
    return max(rows, default=None)


def cpu_table() -> str:
    """Of the reports: powers on one machine, RSA on another."""
    powers, rsa = report("peers_emerald_rapids"), report("rsa_peers_zen4")
    rows = [["operation", "bits", "manymod", "crypto_mb", "OpenSSL", "GMP"]]
    for bits in (512, 1024, 2048, 3072, 4096):
        alone = "BN_mod_exp_mont_consttime"
        rates = [
            median(powers, "manymod", "powmod, batch 64", bits),
            median(powers, "crypto_mb", "mbx_exp_mb8, batch 64", bits),
            median(powers, "OpenSSL", (alone, f"{alone}_x2"), bits),
            median(powers, "GMP", "mpz_powm_sec", bits),
        ]
        rows.append(["`powmod`", str(bits), *map(rate, rates)])
    for name, bare in (("sign", "mbx_rsa_private_crt_mb8"), ("verify", "mbx_rsa_public_mb8")):
        for bits in (2048, 3072, 4096):
            rates = [
                median(rsa, "manymod", f"RSA {name} PKCS#1 v1.5, batch 64, one key", bits),
                median(rsa, "crypto_mb", f"{bare}, batch 64", bits),
                median(rsa, "OpenSSL", f"RSA {name} PKCS#1 v1.5", bits),
                None,
            ]
            rows.append([f"RSA {name}", str(bits), *map(rate, rates)])
    return markdown(rows)


def gpu_table() -> str:
    """Of the reports: kernels and CGBN, and calls."""
    kernels, calls = report("rns_h100"), report("end_to_end_h100")

    def best(bits: int, timing: str) -> float:
        return max(
            float(row["per_second"])
            for row in kernels["rows"]
            if (row["operation"], row["bits"], row.get("timing_class")) == ("power", bits, timing)
            and row["moduli"] == "each"
        )

    def call(bits: int, timing: str, device: str) -> float:
        members = ("operation", "bits", "timing_class", "device", "kind", "exponents", "arrays", "results")
        wanted = ("powmod", bits, timing, device, "large", "each", "host", "kept")
        found = [row for row in calls["rows"] if tuple(row.get(name) for name in members) == wanted]
        assert len(found) == 1
        return float(found[0]["items_per_second"])

    def peer(bits: int) -> float:
        rows = [row for row in kernels["peer"]["runs"] if (row["operation"], row["bits"]) == ("power", bits)]
        return max(float(row["per_second"]) for row in rows)

    head = ["bits", "variable-time, kernels", "calls", "constant-time, kernels", "calls", "CGBN"]
    rows = [[*head, "variable-time / CGBN", "CPU, constant-time"]]
    for bits in (512, 1024, 1536, 2048, 3072, 4096):
        ours = [best(bits, "public"), call(bits, "public", "cuda"), best(bits, "secret")]
        ours += [call(bits, "secret", "cuda"), peer(bits)]
        ratio = f"{ours[0] / peer(bits):.2f}x"
        rows.append([str(bits), *map(rate, ours), ratio, rate(call(bits, "secret", "cpu"))])
    return markdown(rows)


def test_the_cpu_table_is_that_of_its_reports() -> None:
    assert cpu_table() in TABLES


def test_the_gpu_table_is_that_of_its_reports() -> None:
    assert gpu_table() in TABLES
