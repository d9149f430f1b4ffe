# SPDX-License-Identifier: Apache-2.0
"""Tables of the technique rns, beside CGBN's. Used by tables.py beside this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from device_report import MISSING, Cells, Peer, Report, Row, markdown, number, ratio, scaled

FORM = "rns"
PIPES = ("IMAD", "tensor", "IMAD.WIDE and tensor")
PEER_COLUMNS = ("CGBN stock", "CGBN, R^2 given")


def best(report: Report, operation: str, **wanted: Any) -> Row | None:
    """The fastest row of the technique."""
    return report.best(operation, form=FORM, **wanted)


def rates_of_peer(peer: Peer | None, operation: str, bits: int) -> list[float | None]:
    """CGBN's, stock and of all shapes. Its instances have moduli of their own."""
    return [peer.rate(operation, bits, stock) if peer else None for stock in (True, False)]


def pipes(row: Row | None) -> Cells:
    """How busy each pipe is, and what comes from the second-level cache in a clock."""
    if row is None:
        return [MISSING] * (len(PIPES) + 1)
    busy = [f"{row['percent_of_pipes'][pipe]:.0f} %" for pipe in PIPES]
    return [*busy, number(row.get("matrix_bytes_per_clock"))]


def rate(row: Row | None) -> float | None:
    """Operations a second."""
    return float(row["per_second"]) if row else None


def products_table(report: Report, peer: Peer | None) -> str:
    """Montgomery multiplications and squarings."""
    heading = ["bits", "moduli", "mul, M/s", "sqr, M/s", "clocks of an SM", "IMAD", "tensor cores", "both"]
    heading += ["matrices, bytes a clock", "CGBN, M/s", "rns / CGBN"]
    rows = []
    for bits in report.widths("mul", form=FORM):
        other = rates_of_peer(peer, "mul", bits)[1]
        for moduli in ("each", "shared"):
            mul, sqr = (best(report, name, bits=bits, moduli=moduli) for name in ("mul", "sqr"))
            if mul is None:
                continue
            rates = [scaled(rate(row), 1e6) for row in (mul, sqr)]
            cells = [str(bits), moduli, *rates, number(mul["clocks"]), *pipes(mul)]
            rows.append([*cells, scaled(other, 1e6), ratio(rate(mul), other)])
    return markdown(heading, rows)


def with_window(row: Row | None) -> str:
    """Thousands a second, and the window."""
    return f"{scaled(rate(row), 1e3)} ({row['window_bits']})" if row else MISSING


def powers_table(report: Report, peer: Peer | None) -> str:
    """Powers, exponents as long as the moduli."""
    heading = [
        "bits",
        "moduli",
        "public, k/s (window)",
        "secret, k/s (window)",
        "IMAD",
        "tensor cores",
        "both",
    ]
    heading += ["matrices, bytes a clock", *(f"{name}, k/s" for name in PEER_COLUMNS)]
    heading += ["public / CGBN", "secret / CGBN"]
    rows = []
    for bits in report.widths("power", form=FORM):
        others = rates_of_peer(peer, "power", bits)
        for moduli in ("each", "shared"):
            found = [
                best(report, "power", bits=bits, moduli=moduli, timing_class=name)
                for name in ("public", "secret")
            ]
            if found == [None, None]:
                continue
            cells = [str(bits), moduli, *map(with_window, found), *pipes(found[0])]
            cells += [scaled(other, 1e3) for other in others]
            rows.append([*cells, *(", ".join(ratio(rate(row), other) for other in others) for row in found)])
    return markdown(heading, rows)


def batches_table(report: Report) -> Iterator[str]:
    """Public powers by the number of items, in waves: so many as the device works on at a time."""
    found = report.select("batch", form=FORM) + report.select("batch", form=FORM, moduli="shared")
    if not found:
        return
    waves = sorted({row["waves"] for row in found})
    rows = []
    for bits, moduli in sorted({(row["bits"], row["moduli"]) for row in found}):
        line = {row["waves"]: row for row in found if (row["bits"], row["moduli"]) == (bits, moduli)}
        wave = next((str(round(row["instances"] / row["waves"])) for row in line.values()), MISSING)
        rows.append([str(bits), moduli, wave, *(scaled(rate(line.get(part)), 1e3) for part in waves)])
    yield "### Powers by batch, thousands a second, variable-time"
    yield markdown(["bits", "moduli", "items of a wave", *(f"{part:g} waves" for part in waves)], rows)


def checked(check: Row | None) -> str:
    """What was compared with GMP's results."""
    if not check:
        return "Results were not compared with GMP's."
    whole = "" if check["items"] == check["wanted"] else f" (of {check['wanted']:,} that were wanted)"
    variant = check["variant"] or "the library's choice"
    return (
        f"{check['items']:,} results{whole} by {variant} were compared with those of {check['gmp']}: "
        f"{check['differences']:,} differ."
    )


def rns_tables(report: Report, peer: Peer | None) -> Iterator[str]:
    """All of them."""
    yield "### Multiplications"
    yield products_table(report, peer)
    yield "### Powers"
    yield powers_table(report, peer)
    yield from batches_table(report)
    yield (
        "Kernels alone, each row at its best window, which is said with the rate. IMAD, tensor cores: the "
        "part of the time that their instructions take at least; both: that of the tensor cores and of "
        "products with high words, which exclude each other (`pipe_limits.hpp`). Matrices that do not "
        "fit shared memory come from the second-level cache. CGBN has a modulus to each instance."
    )
    yield checked(report.document.get("check"))
