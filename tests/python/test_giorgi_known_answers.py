# SPDX-License-Identifier: Apache-2.0
"""The known answers of the C++ tests of src/ecc/giorgi are those of the oracle, on curves of their orders."""

from __future__ import annotations

from reference.ecc.groups import AffineGroup
from reference.ecc.scalar.variable_base import right_to_left
from tests.python.giorgi_known_answers import CURVES, HEADER, text


def test_the_header_is_what_the_oracle_writes() -> None:
    assert HEADER.read_text(encoding="utf-8") == text()


def test_the_generators_have_the_orders_that_are_stated() -> None:
    for curve in CURVES:
        assert curve.contains(curve.generator)
        group = AffineGroup(curve)
        last = right_to_left(group, curve.n - 1, curve.generator, curve.n.bit_length())
        assert last == group.inv(curve.generator)
