// SPDX-License-Identifier: Apache-2.0
// The numbers of the curves over special primes, for the host and, at compile time, for device code. Sources:
// FIPS 186-4, appendix D (P-256, P-384, P-521); SEC 2 (secp256k1); GB/T 32918.5 (SM2).
#pragma once

namespace manymod::ecc::hex_curves {

/// Hexadecimal numbers in lower case, big-endian: y^2 = x^3 + a x + b modulo p, a generator and its order.
struct HexCurve {
  const char *p, *a, *b, *x, *y, *n;
};

inline constexpr HexCurve kP256{"ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
                                "ffffffff00000001000000000000000000000000fffffffffffffffffffffffc",
                                "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
                                "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
                                "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
                                "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"};

inline constexpr HexCurve kP384{
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff"
    "0000000000000000ffffffff",
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff"
    "0000000000000000fffffffc",
    "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d"
    "8a2ed19d2a85c8edd3ec2aef",
    "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25d"
    "bf55296c3a545e3872760ab7",
    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce"
    "1d7e819d7a431d7c90ea0e5f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db2"
    "48b0a77aecec196accc52973"};

inline constexpr HexCurve kP521{
    "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffc",
    "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e1561939"
    "51ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
    "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e"
    "77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
    "011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee"
    "72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
    "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa5186"
    "8783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409"};

inline constexpr HexCurve kSecp256k1{"fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
                                     "00",
                                     "07",
                                     "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
                                     "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8",
                                     "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"};

inline constexpr HexCurve kSm2{"fffffffeffffffffffffffffffffffffffffffff00000000ffffffffffffffff",
                               "fffffffeffffffffffffffffffffffffffffffff00000000fffffffffffffffc",
                               "28e9fa9e9d9f5e344d5a9e4bcf6509a7f39789f515ab8f92ddbcbd414d940e93",
                               "32c4ae2c1f1981195f9904466a39c9948fe30bbff2660be1715a4589334c74c7",
                               "bc3736a2f4f6779c59bdcee36b692153d0a9877cc62a474002df32e52139f0a0",
                               "fffffffeffffffffffffffffffffffff7203df6b21c6052b53bbf40939d54123"};

}  // namespace manymod::ecc::hex_curves
