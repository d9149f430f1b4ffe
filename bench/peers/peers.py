# SPDX-License-Identifier: Apache-2.0
"""Measures other libraries on this machine, on one core, every operation in turn; see README.md beside this.

python bench/peers/peers.py DRIVER [--bits 1024,2048] [--rsa 2048] [--quick] [--json FILE]

It makes operands, runs the driver (manymod_peers), compares every answer with pow, verifies every signature
and prints medians and bests. Needs the package manymod, for its limit, cryptography, for RSA, and uses gmpy2
where it is there.
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

from manymod.cli.bench.limit import LANES, LIMIT, power_cost

WIDTHS = "512,1024,1536,2048,3072,4096"
RSA_WIDTHS = "1024,2048,3072,4096"
ITEMS = 64
#: Each of so many primes p with each of as many primes q: keys that differ.
RSA_PRIMES = 8
#: Share of the best number of instructions issued a cycle that counts as undisturbed.
QUIET = 0.9
#: Of so many such numbers the highest is taken for an error: the frequency may change within one.
OUTLIERS = 20
#: Issue width, at least, of the processors that have the limit's instruction.
LEAST_WIDTH = 5.0
PUBLIC_EXPONENT = 65537
#: Of an input, what is signed.
MESSAGE_BYTES = 100

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


def rsa_key(p: int, q: int) -> dict[str, int]:
    """Numbers of a key."""
    n, d = p * q, pow(PUBLIC_EXPONENT, -1, (p - 1) * (q - 1))
    key = {"n": n, "e": PUBLIC_EXPONENT, "d": d, "p": p, "q": q}
    return key | {"dp": d % (p - 1), "dq": d % (q - 1), "qinv": pow(q, -1, p)}


def rsa_items(bits: int, source: random.Random) -> list[dict[str, int]]:
    """Inputs, below all moduli, and a key for each."""
    primes = [prime(bits // 2, source) for _ in range(2 * RSA_PRIMES)]
    keys = [rsa_key(p, q) for p in primes[:RSA_PRIMES] for q in primes[RSA_PRIMES:]]
    least = min(key["n"] for key in keys)
    return [{"input": source.randrange(least), **key} for key in keys]


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
        bits, operation = result["bits"], result["operation"]
        if not is_rsa(result):
            return self.powers[bits]
        items = self.rsa[bits]
        if "halves" in operation:
            return [
                (item["input"], item[exponent], item[prime])
                for item in items
                for exponent, prime in (("dp", "p"), ("dq", "q"))
            ]
        if "public" in operation:
            return [(item["input"], item["e"], item["n"]) for item in items]
        if "private_crt" in operation:
            return [(item["input"], item["d"], item["n"]) for item in items]
        return [(item["input"], items[0]["d"], items[0]["n"]) for item in items]

    def _are_right(self, result: dict[str, Any], answers: list[int]) -> bool:
        if "verify" in result["operation"]:
            return all(answer == 1 for answer in answers)
        if "sign" in result["operation"]:
            items = self.rsa[result["bits"]]
            own = "a key each" in result["operation"]
            return all(
                is_signature(answer, item["input"], (item if own else items[0])["n"], result)
                for answer, item in zip(answers, items, strict=False)
            )
        return answers == [self._right_answer(item) for item in self._items(result)[: len(answers)]]

    def check(self, result: dict[str, Any]) -> None:
        """Raise ArithmeticError unless all answers of a row are right."""
        answers = [int(text, 16) for text in result.pop("answers")]
        if not answers or not self._are_right(result, answers):
            raise ArithmeticError(
                f"{result['peer']}: {result['operation']}, {result['bits']} bits: wrong answer"
            )
        result["checked"] = len(answers)


def is_signature(number: int, signed: int, n: int, result: dict[str, Any]) -> bool:
    """Whether a number is the signature of the first bytes of another one, by the cryptography package."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 (for RSA alone)
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import padding, rsa  # noqa: PLC0415

    size = result["bits"] // 8
    sha256 = hashes.SHA256()
    pss = padding.PSS(padding.MGF1(sha256), padding.PSS.DIGEST_LENGTH)
    chosen = pss if "PSS" in result["operation"] else padding.PKCS1v15()
    key = rsa.RSAPublicNumbers(PUBLIC_EXPONENT, n).public_key()
    message = signed.to_bytes(size, "big")[:MESSAGE_BYTES]
    try:
        key.verify(number.to_bytes(size, "big"), message, chosen, sha256)
    except InvalidSignature:
        return False
    return True


def is_rsa(result: dict[str, Any]) -> bool:
    """An RSA operation, else a power."""
    return "rsa" in result["operation"].lower()


def is_public(result: dict[str, Any]) -> bool:
    """A power with the public exponent."""
    return "public" in result["operation"] or "verify" in result["operation"]


def quiet_repetitions(best: float, *measured: dict[str, Any]) -> list[int]:
    """Repetitions in which none of them was disturbed by another process on the same core."""
    issued = zip(*(row["issued"] for row in measured), strict=True)
    return [i for i, numbers in enumerate(issued) if min(numbers) >= QUIET * best]


def median_ratio(best: float, row: dict[str, Any], by: dict[str, Any]) -> tuple[float, bool]:
    """Median ratio of rates within a repetition, and whether there was none that is undisturbed."""
    quiet = quiet_repetitions(best, row, by)
    used = quiet or range(len(row["rates"]))
    return statistics.median(row["rates"][i] / by["rates"][i] for i in used), not quiet


def percent_of_limit(row: dict[str, Any], limit: dict[str, Any] | None) -> float | None:
    """Median rate against the one that vpmadd52 alone would allow; a private operation is two powers.

    Not within a repetition, of which a neighbour may have disturbed one of the two.
    """
    if limit is None or is_public(row):
        return None
    bits = row["bits"]
    cost = 2 * power_cost(bits // 2) if is_rsa(row) else power_cost(bits)
    share: float = cost / LANES * row["median"] / limit["median"]
    return 100 * share


#: Operations of manymod and what they are compared with: those whose name contains this.
AGAINST = {
    "powmod, batch 1": ("BN_mod_exp_mont_consttime", "mpz_powm_sec"),
    "powmod, batch 8": ("mbx_exp_mb8, batch 8",),
    "powmod, batch 64": ("mbx_exp_mb8, batch 64", "BN_mod_exp_mont_consttime_x2"),
    "RSA halves, batch 8": ("mbx_rsa_private_crt_mb8, batch 8", "RSA private operation"),
    **{
        f"RSA {operation} {padding}, batch {ITEMS}, {keys}": (peer, f"RSA {operation} {padding}")
        for operation, peer in (
            ("sign", f"mbx_rsa_private_crt_mb8, batch {ITEMS}"),
            ("verify", f"mbx_rsa_public_mb8, batch {ITEMS}"),
        )
        for padding in ("PKCS#1 v1.5", "PSS")
        for keys in ("one key", "a key each")
    },
}


def ratios(best: float, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rates of manymod by those of its peers at one width."""
    named = {result["operation"]: result for result in results}
    found = []
    for own, others in AGAINST.items():
        for peer in others:
            if own not in named or peer not in named:
                continue
            ratio, disturbed = median_ratio(best, named[own], named[peer])
            words = {name: named[own][name] for name in ("bits", "operation", "variant")}
            found.append({**words, "against": peer, "ratio": ratio, "disturbed": disturbed})
    return found


def best_issued(report: dict[str, Any]) -> float:
    """Instructions that an undisturbed core issues a cycle, 0 where they were not measured."""
    measured = [
        row for width in report["widths"] for row in (*width["instructions"].values(), *width["results"])
    ]
    numbers = sorted(number for row in measured for number in row["issued"])
    least = LEAST_WIDTH if any(LIMIT in width["instructions"] for width in report["widths"]) else 0.0
    return max(least, numbers[-1 - len(numbers) // OUTLIERS]) if numbers else 0


def condensed(best: float, row: dict[str, Any]) -> dict[str, Any]:
    """A row with median and best of its undisturbed rates, or where there are none of all, in their place."""
    rates, quiet = row.pop("rates"), quiet_repetitions(best, row)
    del row["issued"]
    used = [rates[i] for i in quiet] or rates
    return row | summary(used) | {"repetitions": len(used), "disturbed": not quiet}


def measure(driver: str, peers: Peers, seconds: float, repetitions: int) -> dict[str, Any]:
    """Run the driver and condense what it says."""
    command = [driver, str(seconds), str(repetitions)]
    done = subprocess.run(command, input=peers.lines(), stdout=subprocess.PIPE, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    best = best_issued(report)
    rows, instructions, compared = [], {}, []
    for width in report["widths"]:
        loops, results = width["instructions"], width["results"]
        compared += ratios(best, results)
        for result in results:
            peers.check(result)
            if not result["variant"]:
                del result["variant"]
        rates = {name: condensed(best, loop) for name, loop in loops.items()}
        instructions[width["bits"]] = rates
        condensed_rows = [condensed(best, result) for result in results]
        rows += [
            row | {"percent_of_limit": percent_of_limit(row, rates.get(LIMIT))} for row in condensed_rows
        ]
    return {
        "versions": report["versions"],
        "best_issued": best,
        "instructions": instructions,
        "results": rows,
        "manymod_against": compared,
    }


def cpu_model() -> str:
    """What Linux calls the processor."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="ascii", errors="replace").splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def mark(row: dict[str, Any]) -> str:
    """Behind a row without an undisturbed repetition."""
    return " *" if row["disturbed"] else ""


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver", help="the program manymod_peers")
    parser.add_argument("--bits", default=WIDTHS, type=numbers, help="widths of modular powers")
    parser.add_argument("--rsa", default=RSA_WIDTHS, type=numbers, help="widths of RSA keys")
    parser.add_argument("--json", type=Path, help="file to write the report to")
    parser.add_argument("--note", default="", help="said in the report, such as a peer's compiler")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter samples")
    options = parser.parse_args()
    seconds, repetitions = (0.01, 3) if options.quick else (0.1, 9)
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "note": options.note,
        "method": "one thread; items a second of processor time, medians and bests of "
        f"{repetitions} interleaved repetitions of about {seconds} s, less those in which another process on "
        f"the same core took its share (a loop that fills the issue width did less than {QUIET:.0%} of the "
        "best number a cycle just before or after, in four attempts); rows marked * have no other; every "
        "answer compared with pow, signatures verified",
        **measure(options.driver, Peers(options.bits, options.rsa), seconds, repetitions),
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"{report['cpu']}; {report['versions']} {options.note}")
    for bits, rates in report["instructions"].items():
        print(bits, {name: f"{rate['median'] / 1e9:.2f} G/s" for name, rate in rates.items()})
    print(f"{'operation':55}{'bits':>6}{'median/s':>12}{'best/s':>12}{'of limit':>10}")
    for row in report["results"]:
        name = f"{row['peer']}: {row['operation']}"
        percent = "" if row["percent_of_limit"] is None else f"{row['percent_of_limit']:.1f} %"
        rates = f"{row['median']:12,.0f}{row['best']:12,.0f}"
        print(f"{name:55}{row['bits']:6}{rates}{percent:>10}{mark(row)}")
    for row in report["manymod_against"]:
        name = f"{row['operation']} ({row['variant']}) / {row['against']}"
        print(f"{name}: {row['bits']:5} {row['ratio']:6.2f}x{mark(row)}")


if __name__ == "__main__":
    main()
