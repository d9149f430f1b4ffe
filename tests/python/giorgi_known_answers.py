# SPDX-License-Identifier: Apache-2.0
"""Known answers for the C++ tests of src/ecc/giorgi: multiples of points, by the oracle of reference/ecc.

Run as a program from the root of the repository, it writes them to ``HEADER``.
"""

from __future__ import annotations

import random
from pathlib import Path

from reference.ecc.curves import Weierstrass
from reference.ecc.groups import JacobianGroup
from reference.ecc.scalar.variable_base import right_to_left

HEADER = Path(__file__).parents[1] / "cpp/ecc/giorgi/known_answers.hpp"

#: RFC 5639: p, a, b, n, generator. r1 curves have any a, their twists t1 have a = -3.
CURVES = [
    Weierstrass(
        name="brainpoolP160r1",
        p=0xE95E4A5F737059DC60DFC7AD95B3D8139515620F,
        a=0x340E7BE2A280EB74E2BE61BADA745D97E8F7C300,
        b=0x1E589A8595423412134FAA2DBDEC95C8D8675E58,
        n=0xE95E4A5F737059DC60DF5991D45029409E60FC09,
        generator=(
            0xBED5AF16EA3F6A4F62938C4631EB5AF7BDBCDBC3,
            0x1667CB477A1A8EC338F94741669C976316DA6321,
        ),
    ),
    Weierstrass(
        name="brainpoolP160t1",
        p=0xE95E4A5F737059DC60DFC7AD95B3D8139515620F,
        a=-3,
        b=0x7A556B6DAE535B7B51ED2C4D7DAA7A0B5C55F380,
        n=0xE95E4A5F737059DC60DF5991D45029409E60FC09,
        generator=(
            0xB199B13B9B34EFC1397E64BAEB05ACC265FF2378,
            0xADD6718B7C7C1961F0991B842443772152C9E0AD,
        ),
    ),
    Weierstrass(
        name="brainpoolP256r1",
        p=0xA9FB57DBA1EEA9BC3E660A909D838D726E3BF623D52620282013481D1F6E5377,
        a=0x7D5A0975FC2C3057EEF67530417AFFE7FB8055C126DC5C6CE94A4B44F330B5D9,
        b=0x26DC5C6CE94A4B44F330B5D9BBD77CBF958416295CF7E1CE6BCCDC18FF8C07B6,
        n=0xA9FB57DBA1EEA9BC3E660A909D838D718C397AA3B561A6F7901E0E82974856A7,
        generator=(
            0x8BD2AEB9CB7E57CB2C4B482FFC81B7AFB9DE27E1E3BD23C23A4453BD9ACE3262,
            0x547EF835C3DAC4FD97F8461A14611DC9C27745132DED8E545C1D54C72F046997,
        ),
    ),
    Weierstrass(
        name="brainpoolP256t1",
        p=0xA9FB57DBA1EEA9BC3E660A909D838D726E3BF623D52620282013481D1F6E5377,
        a=-3,
        b=0x662C61C430D84EA4FE66A7733D0B76B7BF93EBC4AF2F49256AE58101FEE92B04,
        n=0xA9FB57DBA1EEA9BC3E660A909D838D718C397AA3B561A6F7901E0E82974856A7,
        generator=(
            0xA3E8EB3CC1CFE7B7732213B23A656149AFA142C47AAFBC2B79A191562E1305F4,
            0x2D996C823439C56D7F7B22E14644417E69BCB6DE39D027001DABE8F35B25C9BE,
        ),
    ),
    Weierstrass(
        name="brainpoolP384r1",
        p=0x8CB91E82A3386D280F5D6F7E50E641DF152F7109ED5456B412B1DA197FB71123ACD3A729901D1A71874700133107EC53,
        a=0x7BC382C63D8C150C3C72080ACE05AFA0C2BEA28E4FB22787139165EFBA91F90F8AA5814A503AD4EB04A8C7DD22CE2826,
        b=0x4A8C7DD22CE28268B39B55416F0447C2FB77DE107DCD2A62E880EA53EEB62D57CB4390295DBC9943AB78696FA504C11,
        n=0x8CB91E82A3386D280F5D6F7E50E641DF152F7109ED5456B31F166E6CAC0425A7CF3AB6AF6B7FC3103B883202E9046565,
        generator=(
            0x1D1C64F068CF45FFA2A63A81B7C13F6B8847A3E77EF14FE3DB7FCAFE0CBD10E8E826E03436D646AAEF87B2E247D4AF1E,
            0x8ABE1D7520F9C2A45CB1EB8E95CFD55262B70B29FEEC5864E19C054FF99129280E4646217791811142820341263C5315,
        ),
    ),
    Weierstrass(
        name="brainpoolP384t1",
        p=0x8CB91E82A3386D280F5D6F7E50E641DF152F7109ED5456B412B1DA197FB71123ACD3A729901D1A71874700133107EC53,
        a=-3,
        b=0x7F519EADA7BDA81BD826DBA647910F8C4B9346ED8CCDC64E4B1ABD11756DCE1D2074AA263B88805CED70355A33B471EE,
        n=0x8CB91E82A3386D280F5D6F7E50E641DF152F7109ED5456B31F166E6CAC0425A7CF3AB6AF6B7FC3103B883202E9046565,
        generator=(
            0x18DE98B02DB9A306F2AFCD7235F72A819B80AB12EBD653172476FECD462AABFFC4FF191B946A5F54D8D0AA2F418808CC,
            0x25AB056962D30651A114AFD2755AD336747F93475B7A1FCA3B88F2B6A208CCFE469408584DC2B2912675BF5B9E582928,
        ),
    ),
]


def scalars(curve: Weierstrass) -> list[int]:
    """n - 2 and n - 6 end in the doubling that additions miss; the last one is n or more."""
    bits = curve.p.bit_length()
    chance = random.Random(curve.name)
    return [1, curve.n - 2, curve.n - 6, chance.randrange(curve.n), (1 << bits) - 1]


def text() -> str:
    """What the header must hold."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        "// Multiples k G of points of brainpool curves (RFC 5639), written by",
        "// tests/python/giorgi_known_answers.py.",
        "#pragma once",
        "",
        "namespace manymod::test {",
        "",
        "/// (x, y) = k (gx, gy) on y^2 = x^3 + a x + b modulo p; hexadecimal digits.",
        "struct KnownMultiple {",
        "  unsigned bits;",
        "  const char *p, *a, *gx, *gy, *k, *x, *y;",
        "};",
        "",
        "// clang-format off",
        "inline constexpr KnownMultiple kKnownMultiples[] = {",
    ]
    for curve in CURVES:
        bits = curve.p.bit_length()
        group = JacobianGroup(curve)
        for k in scalars(curve):
            point = group.affine(right_to_left(group, k, group.point(curve.generator), bits))
            assert point is not None
            numbers = [curve.p, curve.a % curve.p, *curve.generator, k, *point]
            strings = [f'     "{number:0{bits // 4}x}"' for number in numbers]
            lines += [f"    {{{bits},", ",\n".join(strings) + "},"]
    lines += ["};", "// clang-format on", "", "}  // namespace manymod::test", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    HEADER.write_text(text(), encoding="utf-8")
