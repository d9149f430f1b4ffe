# SPDX-License-Identifier: Apache-2.0
"""Constants that the package takes from the extension: none is missing, none is made up."""

from __future__ import annotations

import re
from pathlib import Path

import manymod
from manymod import _core
from manymod._hashes import CURVE_HASHES, HASHES
from manymod.plan import MAX_MODULUS_BITS, OPERANDS, OPERATIONS

HEADERS = Path(__file__).resolve().parents[2] / "include/manymod"


def declared(name: str) -> dict[str, int]:
    """Enumerators and numeric macros of the headers that match a name."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(HEADERS.glob(name)))
    found = re.findall(r"\b(MM_\w+) =\s+(-?\d+)", text, re.MULTILINE)
    found += re.findall(r"^#define (MM_\w+) \(?(-?\d+)\)?", text, re.MULTILINE)
    return {name: int(value) for name, value in found}


def test_constants_are_those_of_the_headers() -> None:
    values = declared("*.h")
    shared = {name: value for name, value in vars(_core).items() if name.startswith("MM_")}
    assert shared
    assert shared == {name: values[name] for name in shared}


def test_every_status_has_its_name() -> None:
    names = {number: _core.status_name(number) for number in range(64)}
    known = {number: name for number, name in names.items() if name != "MM_?"}
    statuses = {int(status): status.name for status in manymod.Status}
    assert statuses == {
        number: name.removeprefix("MM_").removeprefix("ITEM_") for number, name in known.items()
    }


def test_every_error_of_a_call_has_its_exception() -> None:
    from manymod.errors import _CALL_ERRORS

    errors = {name: value for name, value in declared("status.h").items() if name.startswith("MM_ERR_")}
    del errors["MM_ERR_TIMEOUT"]  # of waiting for a ticket
    assert set(errors.values()) - {_core.MM_ERR_ITEMS, _core.MM_ERR_INTERNAL} == set(_CALL_ERRORS)


def test_operations_and_hashes() -> None:
    header = declared("types.h")
    assert {f"MM_OP_{name.upper()}": number for name, number in OPERATIONS.items()} == {
        name: value for name, value in header.items() if re.match(r"MM_OP_(?!COUNT)", name)
    }
    assert set(OPERANDS) < set(OPERATIONS)
    assert header["MM_MAX_MODULUS_BITS"] == MAX_MODULUS_BITS
    assert len(HASHES | CURVE_HASHES) == declared("bytes.h")["MM_HASH_COUNT"] - 1


def test_facts_of_variants() -> None:
    for variant in manymod.variants():
        assert variant.comparison_only == (variant.technique in {"two_pass16", "fios", "rns_float"})
        assert not variant.wants_fast_doubles or variant.technique == "dpf52"


def test_device_indices_are_those_of_their_backend() -> None:
    for device in manymod.devices():
        assert device.name == ("cpu" if device.backend == "cpu" else f"{device.backend}:{device.index}")
    assert manymod.devices()[0].index == 0
