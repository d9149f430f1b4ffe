# SPDX-License-Identifier: Apache-2.0
"""Measures other libraries on this machine, on one core, every operation in turn; see README.md beside this.

python bench/peers/peers.py DRIVER [--bits 1024,2048] [--rsa 2048] [--quick] [--json FILE]

It makes operands, runs the driver (manymod_peers), compares every answer with pow and prints medians and
bests. Needs the package manymod, for its limit, and uses gmpy2 where it is there.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import statistics
import subprocess
from pathlib import Path
from typing import Any

from manymod.cli.bench_limit import LANES, LIMIT, power_cost

WIDTHS = "512,1024,1536,2048,3072,4096"
RSA_WIDTHS = "1024,2048,3072,4096"
ITEMS = 64
RSA_ITEMS = 8
#: Share of the best rate a cycle that counts as undisturbed.
QUIET = 0.93
PUBLIC_EXPONENT = 65537

try:
    import gmpy2

    _power: Any = gmpy2.powmod
except ImportError:
    _power = pow


def is_probable_prime(n: int, source: random.Random) -> bool:
    """Trial division by small primes, then 20 rounds of Miller and Rabin's test."""
    if any(n % small == 0 for small in range(3, 2000, 2)):
        return False
    odd = n - 1
    twos = (odd & -odd).bit_length() - 1
    odd >>= twos
    for _ in range(20):
        x = int(_power(source.randrange(2, n - 1), odd, n))
        if x in {1, n - 1}:
            continue
        if not any((x := x * x % n) == n - 1 for _ in range(twos - 1)):
            return False
    return True


def prime(bits: int, source: random.Random) -> int:
    """A prime p of `bits` bits, its two top bits set, with p - 1 prime to the public exponent."""
    while True:
        p = source.getrandbits(bits) | 3 << (bits - 2) | 1
        if p % PUBLIC_EXPONENT != 1 and is_probable_prime(p, source):
            return p


def powers(bits: int, source: random.Random) -> list[tuple[int, int, int]]:
    """Bases, exponents of full length, odd moduli of full length."""
    top = 1 << (bits - 1)
    moduli = [source.getrandbits(bits) | top | 1 for _ in range(ITEMS)]
    return [(source.randrange(n), source.getrandbits(bits) | top, n) for n in moduli]


def rsa_items(bits: int, source: random.Random) -> list[dict[str, int]]:
    """Inputs of the private operation of one key."""
    p, q = (prime(bits // 2, source) for _ in range(2))
    n, d = p * q, pow(PUBLIC_EXPONENT, -1, (p - 1) * (q - 1))
    key = {"n": n, "e": PUBLIC_EXPONENT, "d": d, "p": p, "q": q}
    key |= {"dp": d % (p - 1), "dq": d % (q - 1), "qinv": pow(q, -1, p)}
    return [{"input": source.randrange(n), **key} for _ in range(RSA_ITEMS)]


def numbers(text: str) -> list[int]:
    """Widths of a comma-separated list."""
    return [int(part) for part in text.split(",") if part]


def summary(rates: list[float]) -> dict[str, float]:
    """Median and best of rates."""
    return {"median": statistics.median(rates), "best": max(rates)}


class Peers:
    """The operands of a run and what became of them."""

    def __init__(self, widths: list[int], rsa_widths: list[int]) -> None:
        source = random.Random(1)
        self.powers = {bits: powers(bits, source) for bits in widths}
        self.rsa = {bits: rsa_items(bits, source) for bits in rsa_widths}
        self._right: dict[tuple[int, int, int], int] = {}

    def lines(self) -> str:
        """Operands as the driver reads them."""
        rows = [("power", bits, list(item)) for bits, items in self.powers.items() for item in items]
        rows += [("rsa", bits, list(item.values())) for bits, items in self.rsa.items() for item in items]
        return "".join(f"{kind} {bits} {' '.join(f'{n:x}' for n in values)}\n" for kind, bits, values in rows)

    def _right_answer(self, item: tuple[int, int, int]) -> int:
        if item not in self._right:
            self._right[item] = int(_power(*item))
        return self._right[item]

    def _items(self, result: dict[str, Any]) -> list[tuple[int, int, int]]:
        bits = result["bits"]
        if not is_rsa(result):
            return self.powers[bits]
        if "halves" in result["operation"]:
            return [
                (item["input"], item[exponent], item[prime])
                for item in self.rsa[bits]
                for exponent, prime in (("dp", "p"), ("dq", "q"))
            ]
        return [(item["input"], item["d"], item["n"]) for item in self.rsa[bits]]

    def check(self, result: dict[str, Any]) -> None:
        """Raise ArithmeticError unless all answers of a row are right."""
        items = self._items(result)
        answers = [int(text, 16) for text in result.pop("answers")]
        right = [self._right_answer(item) for item in items[: len(answers)]]
        if not answers or answers != right:
            raise ArithmeticError(
                f"{result['peer']}: {result['operation']}, {result['bits']} bits: wrong answer"
            )
        result["checked"] = len(answers)


def is_rsa(result: dict[str, Any]) -> bool:
    """A private operation, else a power."""
    return "rsa" in result["operation"].lower()


def percent_of_limit(result: dict[str, Any], instructions: dict[str, list[float]]) -> float | None:
    """Median, over the repetitions, of a rate against the one that vpmadd52 alone would allow.

    A private operation is two powers of half the width.
    """
    bits = result["bits"]
    cost = 2 * power_cost(bits // 2) if is_rsa(result) else power_cost(bits)
    limits: list[float] = [LANES * rate / cost for rate in instructions.get(LIMIT, [])]
    if not limits:
        return None
    rates: list[float] = result["rates"]
    return 100 * statistics.median(rate / limit for rate, limit in zip(rates, limits, strict=True))


#: Operations of manymod and what they are compared with: those whose name contains this.
AGAINST = {
    "powmod, batch 1": ("BN_mod_exp_mont_consttime", "mpz_powm_sec"),
    "powmod, batch 8": ("mbx_exp_mb8, batch 8",),
    "powmod, batch 64": ("mbx_exp_mb8, batch 64", "BN_mod_exp_mont_consttime_x2"),
    f"RSA halves, batch {RSA_ITEMS}": ("mbx_rsa_private_crt_mb8", "RSA private operation"),
}


def ratios(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rates of manymod by those of its peers at one width: medians over the repetitions."""
    named = {result["operation"]: result for result in results}
    return [
        {
            "bits": named[own]["bits"],
            "operation": own,
            "variant": named[own]["variant"],
            "against": peer,
            "ratio": statistics.median(
                a / b for a, b in zip(named[own]["rates"], named[peer]["rates"], strict=True)
            ),
        }
        for own, others in AGAINST.items()
        for peer in others
        if own in named and peer in named
    ]


def keep_quiet(width: dict[str, Any]) -> int:
    """Drop the repetitions in which a neighbour slowed the multiplier down; return how many are left.

    Another process on the core's other hardware thread takes part of the multiplier: vpmadd52 then completes
    fewer times a cycle than in the best repetition.
    """
    rates: dict[str, list[float]] = width["instructions"]
    a_cycle = [a / b for a, b in zip(rates.get(LIMIT, []), rates.get("add_chain", []), strict=False)]
    quiet = [i for i, value in enumerate(a_cycle) if value >= QUIET * max(a_cycle)]
    if len(quiet) < 3:
        return max((len(result["rates"]) for result in width["results"]), default=0)
    for holder in (rates, *width["results"]):
        for name, values in list(holder.items()):
            if isinstance(values, list) and name != "answers":
                holder[name] = [values[i] for i in quiet]
    return len(quiet)


def measure(driver: str, peers: Peers, seconds: float, repetitions: int) -> dict[str, Any]:
    """Run the driver and condense what it says."""
    command = [driver, str(seconds), str(repetitions)]
    done = subprocess.run(command, input=peers.lines(), stdout=subprocess.PIPE, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    rows, instructions, compared = [], {}, []
    for width in report["widths"]:
        kept = keep_quiet(width)
        compared += ratios(width["results"])
        instructions[width["bits"]] = {name: summary(rates) for name, rates in width["instructions"].items()}
        for result in width["results"]:
            peers.check(result)
            percent = percent_of_limit(result, width["instructions"])
            if not result["variant"]:
                del result["variant"]
            rows.append(
                result | summary(result.pop("rates")) | {"repetitions": kept, "percent_of_limit": percent}
            )
    return {
        "versions": report["versions"],
        "instructions": instructions,
        "results": rows,
        "manymod_against": compared,
    }


def cpu_model() -> str:
    """What Linux calls the processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="ascii", errors="replace").splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver")
    parser.add_argument("--bits", default=WIDTHS, type=numbers, help="widths of modular powers")
    parser.add_argument("--rsa", default=RSA_WIDTHS, type=numbers, help="widths of RSA keys")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--note", default="", help="said in the report, such as a peer's compiler")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    seconds, repetitions = (0.01, 3) if options.quick else (0.1, 9)
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "note": options.note,
        "method": "one thread; items a second of processor time, medians and bests of "
        f"{repetitions} interleaved repetitions of about {seconds} s, less those in which another process "
        "slowed the multiplier down; every answer compared with pow",
        **measure(options.driver, Peers(options.bits, options.rsa), seconds, repetitions),
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"{report['cpu']}; {report['versions']} {options.note}")
    for bits, rates in report["instructions"].items():
        print(bits, {name: f"{rate['median'] / 1e9:.2f} G/s" for name, rate in rates.items()})
    print(f"{'operation':45}{'bits':>6}{'median/s':>12}{'best/s':>12}{'of limit':>10}")
    for row in report["results"]:
        name = f"{row['peer']}: {row['operation']}"
        percent = "" if row["percent_of_limit"] is None else f"{row['percent_of_limit']:.1f} %"
        print(f"{name:45}{row['bits']:6}{row['median']:12,.0f}{row['best']:12,.0f}{percent:>10}")
    for row in report["manymod_against"]:
        print(
            f"{row['operation']} ({row['variant']}) / {row['against']}: {row['bits']:5} {row['ratio']:6.2f}x"
        )


if __name__ == "__main__":
    main()
