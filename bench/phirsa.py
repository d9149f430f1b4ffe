# SPDX-License-Identifier: Apache-2.0
"""Tables 1, 3, 4 and 7 of the PhiRSA paper on this machine, beside the paper's own figures.

python bench/phirsa.py MANYMOD_BENCH [--peers FILE] [--quick] [--json FILE]

MANYMOD_BENCH is the C++ benchmark program, which counts instructions and times the kernels; FILE a report of
bench/peers/peers.py, for table 7. The paper: Zhao, Pan, Lin, Liu, Xue, Zheng, "PhiRSA: Exploiting the
Computing Power of Vector Instructions on Intel Xeon Phi for RSA", measured on a Xeon Phi 7120P (61
cores, 1.33 GHz, 244 threads).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import manymod
from manymod import _core
from manymod.cli.bench.cpu import AUTO, Case, Contender, random_items
from manymod.cli.bench.report import machine, versions

MONTGOMERY_BITS = (512, 1024, 2048)
RSA_BITS = (1024, 2048, 4096)
CHAINS = "vcpc512.avx512f"
REDUNDANT = "radix29.avx512f"
#: Set beside them in tables 4 and 7: one instance across vectors with IFMA, and eight side by side.
OTHERS = ("ifma52.row", "ifma52.avx512")
#: 512-bit instructions a cycle on processors with two such ports.
PORTS = 2
#: Both halves of one decryption, and of many.
PAIR = 2
MANY = 128

PAPER: dict[str, dict[int, dict[str, float]]] = {
    "montgomery": {
        512: {"vector_instructions": 218, "cycles": 948, "per_second": 343.78e6, "latency_us": 0.71},
        1024: {"vector_instructions": 724, "cycles": 3076, "per_second": 105.73e6, "latency_us": 2.31},
        2048: {"vector_instructions": 2797, "cycles": 12211, "per_second": 26.64e6, "latency_us": 9.16},
    },
    "rsa_one_thread": {
        1024: {"per_second": 1466, "latency_ms": 0.68},
        2048: {"per_second": 336, "latency_ms": 2.98},
        4096: {"per_second": 45, "latency_ms": 22.29},
    },
    "rsa_all_threads": {
        1024: {"per_second": 258370, "latency_ms": 0.94},
        2048: {"per_second": 41803, "latency_ms": 5.84},
        4096: {"per_second": 5358, "latency_ms": 45.54},
    },
    "openssl_1_0_1f_4_cores_of_i7_4770R": {
        1024: {"per_second": 25850, "latency_ms": 0.16},
        2048: {"per_second": 3427, "latency_ms": 1.17},
        4096: {"per_second": 485, "latency_ms": 8.26},
    },
}


def ceiling(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


def redundant_formula(bits: int) -> int:
    """Instructions of the redundant representation by table 1: 32-bit elements, 3 bits of each kept free."""
    element, free, elements, vector = 32, 3, 16, 512
    return ceiling(bits, element - free) * (10 * ceiling(bits, vector - free * elements) + 4)


def chain_formula(bits: int) -> int:
    """Instructions of the vector carry propagation chains by table 1."""
    return ceiling(bits, 32) * (9 * ceiling(bits, 512) + 4)


class Kernels:
    """What the C++ benchmark program says about the kernels."""

    def __init__(self, program: str, quick: bool) -> None:
        seconds = "0.01" if quick else "0.2"
        repetitions = "1" if quick else "5"
        output = subprocess.run(
            [
                program,
                f"--benchmark_filter=^montgomery/mul(_chain)?/({CHAINS}|{REDUNDANT})/(512|1024|2048)(/.*)?$",
                "--benchmark_format=json",
                f"--benchmark_min_time={seconds}",
                f"--benchmark_repetitions={repetitions}",
            ],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        # Nothing is printed where the CPU can run none of these kernels.
        found = json.loads(output)["benchmarks"] if output.strip() else []
        self.runs = [run for run in found if run["run_type"] == "iteration"]

    def median(self, kind: str, technique: str, bits: int, field: str, threads: int = 1) -> float | None:
        """Median of a field over the repetitions, if the kernel ran."""
        name = f"montgomery/{kind}/{technique}/{bits}"
        found = [
            float(run[field])
            for run in self.runs
            if run["run_name"].split("/real_time")[0] == name and run["threads"] == threads and field in run
        ]
        return statistics.median(found) if found else None


def table1(kernels: Kernels) -> list[dict[str, Any]]:
    """Instructions of one Montgomery multiplication: the paper's formulas, and counted as they execute.

    The paper spreads one instance over the vector in both; radix29 has an instance in each lane, so its count
    is that of a call divided by its lanes.
    """
    rows = []
    for bits in MONTGOMERY_BITS:
        lanes = kernels.median("mul", REDUNDANT, bits, "lanes")
        redundant = kernels.median("mul", REDUNDANT, bits, "vector_instructions")
        rows.append(
            {
                "bits": bits,
                "redundant_formula": redundant_formula(bits),
                "redundant_counted": redundant / lanes if redundant and lanes else None,
                "chains_formula": chain_formula(bits),
                "chains_counted": kernels.median("mul", CHAINS, bits, "vector_instructions"),
                "chains_mask_counted": kernels.median("mul", CHAINS, bits, "mask_instructions"),
                "paper_counted": PAPER["montgomery"][bits]["vector_instructions"],
            }
        )
    return rows


def table3(kernels: Kernels, threads: int) -> list[dict[str, Any]]:
    """Montgomery multiplication by vcpc512: instructions, cycles, throughput and latency.

    Cycles are the time of one multiplication in a stream of independent ones; latency is that of a chain.
    """
    rows = []
    for bits in MONTGOMERY_BITS:
        rate = kernels.median("mul", CHAINS, bits, "items_per_second")
        hertz = kernels.median("mul", CHAINS, bits, "hertz")
        vector = kernels.median("mul", CHAINS, bits, "vector_instructions")
        chain = kernels.median("mul_chain", CHAINS, bits, "items_per_second")
        cycles = hertz / rate if hertz and rate else None
        rows.append(
            {
                "bits": bits,
                "vector_instructions": vector,
                "cycles": cycles,
                "vector_port_use": vector / (PORTS * cycles) if vector and cycles else None,
                "per_second_one_thread": rate,
                f"per_second_{threads}_threads": kernels.median(
                    "mul", CHAINS, bits, "items_per_second", threads
                ),
                "latency_us": 1e6 / chain if chain else None,
                "paper": PAPER["montgomery"][bits],
            }
        )
    return rows


def decryptions(bits: int, variants: list[str], threads: int, quick: bool) -> list[dict[str, Any]]:
    """A row for each variant and number of threads; two powers of half the width are one decryption."""
    cases = {
        (kind, used): Case("powmod", bits // 2, shared=False, batch=batch, threads=used)
        for used in {1, threads}
        for kind, batch in (("latency", PAIR), ("throughput", MANY))
    }
    contenders = {
        (name, key): Contender(name, case, case.threads, random_items(case, seed=1))
        for name in variants
        for key, case in cases.items()
    }
    for contender in contenders.values():
        contender.prepare(0.005 if quick else 0.05)
    hertz = []
    rates: dict[tuple[str, tuple[str, int]], list[float]] = {key: [] for key in contenders}
    for _ in range(2 if quick else 7):
        hertz.append(_core.instruction_rate("add_chain", 0.005 if quick else 0.02) or 0)
        for key, contender in contenders.items():
            rates[key].append(contender.measure())
    rows = []
    for name in variants:
        for used in sorted({1, threads}):
            pair = statistics.median(rates[name, ("latency", used)])
            many = statistics.median(rates[name, ("throughput", used)]) / PAIR
            rows.append(
                {
                    "bits": bits,
                    "variant": name,
                    "runs": contenders[name, ("throughput", used)].variant,
                    "threads": used,
                    "cycles": statistics.median(hertz) * used / many,
                    "per_second": many,
                    "latency_ms": 1e3 * PAIR / pair,
                    "paper": PAPER["rsa_one_thread" if used == 1 else "rsa_all_threads"][bits],
                }
            )
    return rows


def table7(rows: list[dict[str, Any]], peers: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Decryptions a second and latency: this library, the peers measured on this machine, the paper's."""
    table = [
        {"bits": row["bits"], "who": f"manymod {row['variant']}", "threads": row["threads"]}
        | {"per_second": row["per_second"], "latency_ms": row["latency_ms"]}
        for row in rows
    ]
    if peers:
        table += [
            {"bits": row["bits"], "who": f"{row['peer']} {peers['versions'][row['peer']]}", "threads": 1}
            | {"per_second": row["median"], "latency_ms": 1e3 * row["items"] / row["median"]}
            for row in peers["results"]
            if "rsa" in row["operation"].lower() and row["bits"] in RSA_BITS
        ]
    for who, threads in (("rsa_all_threads", 244), ("openssl_1_0_1f_4_cores_of_i7_4770R", 8)):
        name = (
            "PhiRSA, Xeon Phi 7120P (paper)"
            if who == "rsa_all_threads"
            else "OpenSSL 1.0.1f, i7-4770R (paper)"
        )
        table += [
            {"bits": bits, "who": name, "threads": threads} | figures for bits, figures in PAPER[who].items()
        ]
    return sorted(table, key=lambda row: row["bits"])


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows with their common columns."""

    def text(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
        return "" if value is None else str(value)

    names = [name for name in rows[0] if name != "paper"]
    papers = list(rows[0].get("paper", {}))
    lines = [[*names, *(f"paper: {name}" for name in papers)]]
    lines += [
        [text(row[name]) for name in names] + [text(row["paper"][name]) for name in papers] for row in rows
    ]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    print(f"\n{title}")
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("program", help="manymod_bench")
    parser.add_argument("--peers", type=Path, help="report of bench/peers/peers.py")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    threads = manymod.get_threads()
    usable = {variant.name for variant in manymod.variants() if variant.usable}
    variants = [AUTO, *(name for name in (CHAINS, *OTHERS) if name in usable)]
    kernels = Kernels(options.program, options.quick)
    peers = json.loads(options.peers.read_text(encoding="utf-8")) if options.peers else None
    rsa = [row for bits in RSA_BITS for row in decryptions(bits, variants, threads, options.quick)]
    report = {
        **machine(),
        "bench": "phirsa",
        "versions": versions(),
        "threads": threads,
        "method": "medians; instructions counted as they execute, by single steps; cycles: time by the "
        "rate of a chain of additions; a decryption is two powers of half the width with secret exponents of "
        "full length, without their recombination; latency: one decryption in a call; throughput: "
        f"{MANY // PAIR} in a call",
        "table1": table1(kernels),
        "table3": table3(kernels, threads),
        "table4": rsa,
        "table7": table7(rsa, peers),
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"{report['cpu']}; manymod {manymod.__version__}; commit {report['commit'] or 'unknown'}")
    show("Table 1: instructions of a Montgomery multiplication", report["table1"])
    show("Table 3: Montgomery multiplication by vcpc512", report["table3"])
    show("Table 4: RSA decryption as two powers of half the width", report["table4"])
    show("Table 7: RSA decryption beside others", report["table7"])


if __name__ == "__main__":
    main()
