# SPDX-License-Identifier: Apache-2.0
"""Reports of rates beside those of OpenSSL, as the cryptography package calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from manymod.cli.bench.contenders import BatchSettings
from manymod.cli.bench.report import machine, number, versions

__all__ = ["environment", "rates_table"]

_LATENCIES = {
    "manymod": "1-item call",
    "signer": "idle Signer",
    "openssl": "OpenSSL call",
    "libsecp256k1": "libsecp256k1 call",
}


def environment(settings: BatchSettings, included: Mapping[str, str]) -> dict[str, Any]:
    """The head of a report: machine, versions, and how rates were measured."""
    import cryptography  # noqa: PLC0415 (optional)
    from cryptography.hazmat.backends.openssl import backend  # noqa: PLC0415

    found = {
        **versions(),
        "cryptography": cryptography.__version__,
        "openssl": backend.openssl_version_text(),
    }
    return {
        **machine(),
        "versions": found,
        "threads": settings.threads,
        "included": dict(included),
        "method": f"medians of {settings.repetitions} interleaved repetitions of about {settings.seconds} s; "
        "spreads are (highest - lowest) / median; ratios are medians of the ratios within a repetition; "
        "latencies are medians of single calls",
    }


def rates_table(report: Mapping[str, Any], columns: Mapping[str, str]) -> Table:
    """Rates and latencies of a report.

    Args:
        report: with `results` of `interleaved`.
        columns: members of a result by their headings.
    """
    table = Table(title="items a second", title_justify="left")
    for heading in columns:
        table.add_column(heading)
    results = report["results"]
    rates, latencies = _rate_headings(results, report["threads"]), _latency_headings(results)
    limited = any("percent_of_limit" in row for row in results)
    for heading in (*rates.values(), *(["of limit"] if limited else []), *latencies.values()):
        table.add_column(heading, justify="right")
    for row in results:
        cells = [_rate(row, name) for name in rates]
        if limited:
            cells.append(f"{row['percent_of_limit']:.0f} %" if "percent_of_limit" in row else "")
        cells += [_latency(row, name) for name in latencies]
        table.add_row(*(str(row[member]) for member in columns.values()), *cells)
    return table


def _rate_headings(results: Sequence[Mapping[str, Any]], threads: int) -> dict[str, str]:
    """Headings of the rates and ratios that some result has."""
    headings = {
        "manymod": "manymod, 1 thread",
        "openssl": "OpenSSL, 1 thread",
        "one_vs_openssl": "ratio",
        "manymod_threads": f"manymod, {threads} threads",
        "openssl_threads": f"OpenSSL, {threads} threads",
        "threads_vs_openssl_threads": "ratio",
        "libsecp256k1": "libsecp256k1, 1 thread",
        "one_vs_libsecp256k1": "ratio",
        "crypto_mb": "crypto_mb, 1 thread",
        "one_vs_crypto_mb": "ratio",
        "manymod_ring": "manymod, KeyRing",
        "ring_vs_crypto_mb": "ratio",
        "manymod_bare": "manymod, as crypto_mb",
        "bare_vs_crypto_mb": "ratio",
    }
    measured = {name for row in results for name in (*row["rates"], *row["ratios"])}
    return {name: heading for name, heading in headings.items() if name in measured}


def _latency_headings(results: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Headings of the latencies that some result has."""
    measured = {name for row in results for name in row["latency_us"]}
    return {name: heading for name, heading in _LATENCIES.items() if name in measured}


def _rate(row: Mapping[str, Any], name: str) -> str:
    return f"{row['ratios'][name]:.2f}x" if name in row["ratios"] else number(row["rates"].get(name))


def _latency(row: Mapping[str, Any], name: str) -> str:
    return f"{row['latency_us'][name]:,.0f} us" if name in row["latency_us"] else ""
