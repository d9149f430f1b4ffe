// SPDX-License-Identifier: Apache-2.0
// Curves on short primes, whose kernels drivers compile soon.
#pragma once

#include "ecc/test_curves.hpp"

namespace manymod::test {

/// secp160k1 of SEC 2 (version 1), whose order is longer than p, and a curve that is isomorphic to secp112r1
/// by (x, y) -> (4 x, 8 y).
inline constexpr HexCurve kZero{"a = 0",
                                MM_ECC_WEIERSTRASS,
                                "fffffffffffffffffffffffffffffffeffffac73",
                                "00",
                                "07",
                                "3b4c382ce37aa192a4019e763036f4f5dd4d7ebb",
                                "938cf935318fdced6bc28286531733c3f03c4fee",
                                "0100000000000000000001b8fa16dfab9aca16b6b3",
                                "01"};
inline constexpr HexCurve kAny{"any a",
                               MM_ECC_WEIERSTRASS,
                               "db7c2abf62e35e668076bead208b",
                               "db7c2abf62e35e668076bead205b",
                               "8aad56d2da840a1b14d0c26e18c1",
                               "2521c8e665697b9dad57e70bc260",
                               "1ffe2cffe7d1ceaaeda807ace4be",
                               "db7c2abf62e35e7628dfac6561c5",
                               "01"};

/// a = -1 and d = 48, modulo the largest prime of 64 bits. The order was counted by baby and giant steps.
inline constexpr HexCurve kShortEdwards{"a = -1", MM_ECC_EDWARDS,     "ffffffffffffffc5", "ffffffffffffffc4",
                                        "30",     "a9b61f7f4215a655", "01c2c13cfac3a239", "1fffffffcdfdeecd",
                                        "08"};

}  // namespace manymod::test
