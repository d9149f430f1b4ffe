# SPDX-License-Identifier: Apache-2.0
"""Curves and their parameters.

Sources
-------
- SEC 2 (secp256k1); FIPS 186-4, appendix D (P-256, P-384, P-521); GB/T 32918.5 (SM2); RFC 5639 (brainpool).
- BN254: Barreto, Naehrig, with the parameter u = 4965661367192848881 (EIP-196); BLS12-381: Bowe 2017,
  draft-irtf-cfrg-pairing-friendly-curves.
- RFC 7748 (curve25519, curve448); RFC 8032 (edwards25519, edwards448).

A point is a pair of integers below p. ``None`` is the point at infinity of a Weierstrass curve.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.ecc.numbers import PrimeField

Affine = tuple[int, int]
Point = Affine | None


@dataclass(frozen=True)
class Weierstrass:
    """``y^2 = x^3 + a x + b`` modulo p, ``n cofactor`` points, n prime; the generator has order n."""

    name: str
    p: int
    a: int
    b: int
    n: int
    generator: Affine
    cofactor: int = 1

    @property
    def field(self) -> PrimeField:
        """A new field with counters at 0."""
        return PrimeField(self.p)

    @property
    def bytes(self) -> int:
        """Bytes of a coordinate."""
        return -(-self.p.bit_length() // 8)

    @property
    def scalar_bytes(self) -> int:
        """Bytes of a scalar."""
        return -(-self.n.bit_length() // 8)

    @property
    def is_nonsingular(self) -> bool:
        """Whether ``4 a^3 + 27 b^2`` is not 0."""
        return (4 * self.a**3 + 27 * self.b**2) % self.p != 0

    def right_side(self, x: int) -> int:
        """``x^3 + a x + b``."""
        return (x * x * x + self.a * x + self.b) % self.p

    def contains(self, point: Point) -> bool:
        """Whether a point is on the curve and its coordinates are canonical.

        >>> P256.contains(P256.generator), P256.contains((1, 1)), P256.contains(None)
        (True, False, True)
        """
        if point is None:
            return True
        x, y = point
        return 0 <= x < self.p and 0 <= y < self.p and (y * y - self.right_side(x)) % self.p == 0

    def lift_x(self, x: int, odd: int) -> Affine | None:
        """The point with this x and with y of this parity; ``None`` if there is none, or if ``x >= p``."""
        if not 0 <= x < self.p:
            return None
        y = self.field.sqrt(self.right_side(x))
        if y is None or (y == 0 and odd):
            return None
        return x, y if y % 2 == odd else self.p - y


@dataclass(frozen=True)
class Edwards:
    """``a x^2 + y^2 = 1 + d x^2 y^2`` modulo p; complete if a is a square and d is none."""

    name: str
    p: int
    a: int
    d: int
    n: int
    generator: Affine
    cofactor: int

    @property
    def field(self) -> PrimeField:
        """A new field with counters at 0."""
        return PrimeField(self.p)

    @property
    def is_complete(self) -> bool:
        """Whether the addition law has no exceptions (Bernstein et al. 2008, section 6)."""
        f = self.field
        return f.sqrt(self.a) is not None and f.sqrt(self.d) is None and self.a * self.d % self.p != 0

    def contains(self, point: Affine) -> bool:
        """Whether a point is on the curve and its coordinates are canonical.

        >>> EDWARDS25519.contains((0, 1)), EDWARDS25519.contains((1, 1))
        (True, False)
        """
        x, y = point
        xx, yy = x * x, y * y
        on_curve = (self.a * xx + yy - 1 - self.d * xx * yy) % self.p == 0
        return 0 <= x < self.p and 0 <= y < self.p and on_curve

    def x_squared(self, y: int) -> int:
        """``x^2`` of the points with this y: ``(y^2 - 1) / (d y^2 - a)``; the denominator is never 0."""
        return (y * y - 1) * pow(self.d * y * y - self.a, -1, self.p) % self.p


@dataclass(frozen=True)
class Montgomery:
    """``v^2 = u^3 + A u^2 + u`` modulo p, for ladders on u alone (RFC 7748)."""

    name: str
    p: int
    a: int
    u: int
    n: int
    cofactor: int
    bits: int  #: of scalars and coordinates

    @property
    def a24(self) -> int:
        """``(A - 2) / 4``."""
        return (self.a - 2) // 4


def _hex(*parts: str) -> int:
    return int("".join(parts), 16)


SECP256K1 = Weierstrass(
    name="secp256k1",
    p=2**256 - 2**32 - 977,
    a=0,
    b=0x7,
    n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    generator=(
        0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
        0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
    ),
)

P256 = Weierstrass(
    name="P-256",
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    a=-3,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    generator=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
)

P384 = Weierstrass(
    name="P-384",
    p=2**384 - 2**128 - 2**96 + 2**32 - 1,
    a=-3,
    b=0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
    n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    generator=(
        0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
        0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
    ),
)

P521 = Weierstrass(
    name="P-521",
    p=2**521 - 1,
    a=-3,
    b=_hex(
        "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e",
        "156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
    ),
    n=_hex(
        "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
    ),
    generator=(
        _hex(
            "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3db",
            "aa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66",
        ),
        _hex(
            "011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e66",
            "2c97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650",
        ),
    ),
)

SM2 = Weierstrass(
    name="SM2",
    p=2**256 - 2**224 - 2**96 + 2**64 - 1,
    a=-3,
    b=0x28E9FA9E9D9F5E344D5A9E4BCF6509A7F39789F515AB8F92DDBCBD414D940E93,
    n=0xFFFFFFFEFFFFFFFFFFFFFFFFFFFFFFFF7203DF6B21C6052B53BBF40939D54123,
    generator=(
        0x32C4AE2C1F1981195F9904466A39C9948FE30BBFF2660BE1715A4589334C74C7,
        0xBC3736A2F4F6779C59BDCEE36B692153D0A9877CC62A474002DF32E52139F0A0,
    ),
)

BRAINPOOL_P256R1 = Weierstrass(
    name="brainpoolP256r1",
    p=0xA9FB57DBA1EEA9BC3E660A909D838D726E3BF623D52620282013481D1F6E5377,
    a=0x7D5A0975FC2C3057EEF67530417AFFE7FB8055C126DC5C6CE94A4B44F330B5D9,
    b=0x26DC5C6CE94A4B44F330B5D9BBD77CBF958416295CF7E1CE6BCCDC18FF8C07B6,
    n=0xA9FB57DBA1EEA9BC3E660A909D838D718C397AA3B561A6F7901E0E82974856A7,
    generator=(
        0x8BD2AEB9CB7E57CB2C4B482FFC81B7AFB9DE27E1E3BD23C23A4453BD9ACE3262,
        0x547EF835C3DAC4FD97F8461A14611DC9C27745132DED8E545C1D54C72F046997,
    ),
)

BRAINPOOL_P384R1 = Weierstrass(
    name="brainpoolP384r1",
    p=0x8CB91E82A3386D280F5D6F7E50E641DF152F7109ED5456B412B1DA197FB71123ACD3A729901D1A71874700133107EC53,
    a=0x7BC382C63D8C150C3C72080ACE05AFA0C2BEA28E4FB22787139165EFBA91F90F8AA5814A503AD4EB04A8C7DD22CE2826,
    b=0x4A8C7DD22CE28268B39B55416F0447C2FB77DE107DCD2A62E880EA53EEB62D57CB4390295DBC9943AB78696FA504C11,
    n=0x8CB91E82A3386D280F5D6F7E50E641DF152F7109ED5456B31F166E6CAC0425A7CF3AB6AF6B7FC3103B883202E9046565,
    generator=(
        0x1D1C64F068CF45FFA2A63A81B7C13F6B8847A3E77EF14FE3DB7FCAFE0CBD10E8E826E03436D646AAEF87B2E247D4AF1E,
        0x8ABE1D7520F9C2A45CB1EB8E95CFD55262B70B29FEEC5864E19C054FF99129280E4646217791811142820341263C5315,
    ),
)

BRAINPOOL_P512R1 = Weierstrass(
    name="brainpoolP512r1",
    p=_hex(
        "aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca70330871",
        "7d4d9b009bc66842aecda12ae6a380e62881ff2f2d82c68528aa6056583a48f3",
    ),
    a=_hex(
        "7830a3318b603b89e2327145ac234cc594cbdd8d3df91610a83441caea9863bc",
        "2ded5d5aa8253aa10a2ef1c98b9ac8b57f1117a72bf2c7b9e7c1ac4d77fc94ca",
    ),
    b=_hex(
        "3df91610a83441caea9863bc2ded5d5aa8253aa10a2ef1c98b9ac8b57f1117a7",
        "2bf2c7b9e7c1ac4d77fc94cadc083e67984050b75ebae5dd2809bd638016f723",
    ),
    n=_hex(
        "aadd9db8dbe9c48b3fd4e6ae33c9fc07cb308db3b3c9d20ed6639cca70330870",
        "553e5c414ca92619418661197fac10471db1d381085ddaddb58796829ca90069",
    ),
    generator=(
        _hex(
            "81aee4bdd82ed9645a21322e9c4c6a9385ed9f70b5d916c1b43b62eef4d0098e",
            "ff3b1f78e2d0d48d50d1687b93b97d5f7c6d5047406a5e688b352209bcb9f822",
        ),
        _hex(
            "7dde385d566332ecc0eabfa9cf7822fdf209f70024a57b1aa000c55b881f8111",
            "b2dcde494a5f485e5bca4bd88a2763aed1ca2b2fa8f0540678cd1e0f3ad80892",
        ),
    ),
)

BN254_G1 = Weierstrass(
    name="BN254 G1",
    p=21888242871839275222246405745257275088696311157297823662689037894645226208583,
    a=0,
    b=3,
    n=21888242871839275222246405745257275088548364400416034343698204186575808495617,
    generator=(1, 2),
)

BLS12_381_G1 = Weierstrass(
    name="BLS12-381 G1",
    p=0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB,
    a=0,
    b=4,
    n=0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001,
    generator=(
        0x17F1D3A73197D7942695638C4FA9AC0FC3688C4F9774B905A14E3A3F171BAC586C55E83FF97A1AEFFB3AF00ADB22C6BB,
        0x08B3F481E3AAA0F1A09E30ED741D8AE4FCF5E095D5D00AF600DB18CB2C04B3EDD03CC744A2888AE40CAA232946C5E7E1,
    ),
    cofactor=0x396C8C005555E1568C00AAAB0000AAAB,
)

EDWARDS25519 = Edwards(
    name="edwards25519",
    p=2**255 - 19,
    a=-1,
    d=-121665 * pow(121666, -1, 2**255 - 19) % (2**255 - 19),
    n=2**252 + 27742317777372353535851937790883648493,
    generator=(
        15112221349535400772501151409588531511454012693041857206046113283949847762202,
        46316835694926478169428394003475163141307993866256225615783033603165251855960,
    ),
    cofactor=8,
)

EDWARDS448 = Edwards(
    name="edwards448",
    p=2**448 - 2**224 - 1,
    a=1,
    d=-39081,
    n=2**446 - 13818066809895115352007386748515426880336692474882178609894547503885,
    generator=(
        _hex(
            "4f1970c66bed0ded221d15a622bf36da9e146570470f1767ea6de324",
            "a3d3a46412ae1af72ab66511433b80e18b00938e2626a82bc70cc05e",
        ),
        _hex(
            "693f46716eb6bc248876203756c9c7624bea73736ca3984087789c1e",
            "05a0c2d73ad3ff1ce67c39c4fdbd132c4ed7c8ad9808795bf230fa14",
        ),
    ),
    cofactor=4,
)

CURVE25519 = Montgomery("curve25519", 2**255 - 19, 486662, 9, EDWARDS25519.n, 8, 255)
CURVE448 = Montgomery("curve448", 2**448 - 2**224 - 1, 156326, 5, EDWARDS448.n, 4, 448)

WEIERSTRASS = (
    SECP256K1,
    P256,
    P384,
    P521,
    SM2,
    BRAINPOOL_P256R1,
    BRAINPOOL_P384R1,
    BRAINPOOL_P512R1,
    BN254_G1,
    BLS12_381_G1,
)
EDWARDS = (EDWARDS25519, EDWARDS448)
