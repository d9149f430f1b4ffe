// SPDX-License-Identifier: Apache-2.0
#include "ecc/curve_checks.hpp"

#include <algorithm>
#include <string>

#include "abi/enum_value.hpp"
#include "abi/required.hpp"
#include "crypto/libcrypto.hpp"
#include "ecc/scalar64/engine.hpp"
#include "repr/bytes.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

using crypto::Number;
using crypto::require_crypto;

void require_key(bool holds, const std::string& otherwise) {
  if (!holds) throw StatusError(MM_ERR_KEY, otherwise);
}

/// A number without leading zeros, of at most `max_bits` bits. On input: max_bits >= 1.
std::vector<Limb> read_number(mm_bytes bytes, const char* name, std::size_t max_bits) {
  if (bytes.size > 0) required(bytes.data, name);
  ByteSpan digits(bytes.data, bytes.size);
  while (!digits.empty() && digits.front() == 0) digits = digits.subspan(1);
  const std::string too_wide = std::string(name) + " has more than " + std::to_string(max_bits) + " bits";
  require_key(digits.size() <= (max_bits + 7) / 8, too_wide);
  std::vector<Limb> number(std::max<std::size_t>(1, limbs_for_bits(8 * digits.size())));
  limbs_from_bytes(number, digits);
  require_key(limbs::bit_length_var(number) <= max_bits, too_wide);
  return number;
}

/// A number below p, of as many limbs.
std::vector<Limb> read_residue(mm_bytes bytes, const char* name, const Curve& curve) {
  std::vector<Limb> number = read_number(bytes, name, curve.field_bits);
  number.resize(curve.limbs());
  require_key(limbs::less_var(number, curve.p), std::string(name) + " is not below p");
  return number;
}

/// Numbers and functions of libcrypto. All numbers are public.
class Arithmetic {
 public:
  Arithmetic() : context_(BN_CTX_new()) { require_crypto(context_ != nullptr, "BN_CTX_new"); }

  static Number zero() {
    Number number(BN_new());
    require_crypto(number != nullptr, "BN_new");
    return number;
  }
  static Number word(unsigned long value) {
    Number number = zero();
    require_crypto(BN_set_word(number.get(), value) == 1, "BN_set_word");
    return number;
  }
  static Number of(std::span<const Limb> limbs) {
    std::vector<std::uint8_t> bytes(8 * limbs.size());
    bytes_from_limbs(bytes, limbs);
    Number number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
    require_crypto(number != nullptr, "BN_bin2bn");
    return number;
  }
  bool is_prime(const Number& x) {
    const int verdict = BN_check_prime(x.get(), context_.get(), nullptr);
    require_crypto(verdict >= 0, "BN_check_prime");
    return verdict == 1;
  }
  Number product(const Number& x, const Number& y) {
    Number r = zero();
    require_crypto(BN_mul(r.get(), x.get(), y.get(), context_.get()) == 1, "BN_mul");
    return r;
  }
  static Number sum(const Number& x, const Number& y) {
    Number r = zero();
    require_crypto(BN_add(r.get(), x.get(), y.get()) == 1, "BN_add");
    return r;
  }
  static Number difference(const Number& x, const Number& y) {
    Number r = zero();
    require_crypto(BN_sub(r.get(), x.get(), y.get()) == 1, "BN_sub");
    return r;
  }
  bool divides(const Number& p, const Number& x) {
    Number remainder = zero();
    require_crypto(BN_nnmod(remainder.get(), x.get(), p.get(), context_.get()) == 1, "BN_nnmod");
    return BN_is_zero(remainder.get()) == 1;
  }
  /// The Legendre symbol (x / p): 1 for squares, -1 for others, 0 for multiples of p.
  int legendre(const Number& x, const Number& p) {
    const int symbol = BN_kronecker(x.get(), p.get(), context_.get());
    require_crypto(symbol >= -1, "BN_kronecker");
    return symbol;
  }

 private:
  crypto::Libcrypto<BN_CTX> context_;
};

/// 2^(MM_ECC_MIN_BITS - 1) < p < 2^MM_ECC_MAX_BITS, a prime.
void check_field(Arithmetic& arithmetic, const Curve& curve) {
  require_key(curve.field_bits >= MM_ECC_MIN_BITS,
              "p has less than " + std::to_string(MM_ECC_MIN_BITS) + " bits");
  require_key(arithmetic.is_prime(Arithmetic::of(curve.p)), "p is not a prime");
}

/// 4 a^3 + 27 b^2 != 0 modulo p.
void check_weierstrass(Arithmetic& arithmetic, const Number& a, const Number& b, const Number& p) {
  const Number cube = arithmetic.product(arithmetic.product(a, a), a);
  const Number square = arithmetic.product(b, b);
  const Number discriminant = Arithmetic::sum(arithmetic.product(Arithmetic::word(4), cube),
                                              arithmetic.product(Arithmetic::word(27), square));
  require_key(!arithmetic.divides(p, discriminant), "the curve is singular: 4 a^3 + 27 b^2 = 0 modulo p");
}

/// A square a and no square b also mean that a b (a - b) != 0, so that the curve is not singular.
void check_edwards(Arithmetic& arithmetic, const Number& a, const Number& b, const Number& p) {
  require_key(arithmetic.legendre(a, p) == 1, "the curve is not complete: a is not a square modulo p");
  require_key(arithmetic.legendre(b, p) == -1, "the curve is not complete: b is a square modulo p");
}

/// n is an odd prime other than p, and n cofactor is within Hasse's bounds: (n cofactor - p - 1)^2 <= 4 p.
void check_order(Arithmetic& arithmetic, const Curve& curve) {
  const Number p = Arithmetic::of(curve.p);
  const Number n = Arithmetic::of(curve.n);
  require_key(BN_is_odd(n.get()) == 1 && arithmetic.is_prime(n), "n is not an odd prime");
  require_key(BN_cmp(n.get(), p.get()) != 0, "n = p: discrete logarithms on the curve are easy");
  const Number cofactor = Arithmetic::of(curve.cofactor);
  const Number trace =
      Arithmetic::difference(arithmetic.product(n, cofactor), Arithmetic::sum(p, Arithmetic::word(1)));
  const Number bound = arithmetic.product(Arithmetic::word(4), p);
  require_key(BN_cmp(arithmetic.product(trace, trace).get(), bound.get()) <= 0,
              "n cofactor is outside of Hasse's bounds");
}

/// n G = infinity, as (n - 1) G = -G. As n is a prime and G is not the neutral element, n is G's order.
void check_generator(const Curve& curve) {
  const std::unique_ptr<const PointEngine> engine = scalar64::variant().make(curve, {});
  const PointRows generator{{curve.x.data(), 0}, {curve.y.data(), 0}, nullptr};
  std::uint8_t valid = 0;
  engine->check(&valid, generator, {0, 1});
  require_key(valid == 1, "the generator is not on the curve");
  if (curve.form == MM_ECC_EDWARDS) {
    // (0, 1) is the neutral element, and (0, -1) has order 2.
    require_key(limbs::normalized_size_var(curve.x) > 0, "the generator's order is not n");
  }

  std::vector<Limb> k = curve.n;
  k[0] -= 1;
  std::vector<Limb> x(curve.limbs()), y(curve.limbs()), minus(curve.limbs());
  std::uint8_t infinity = 0;
  const bool edwards = curve.form == MM_ECC_EDWARDS;
  engine->multiply({x.data(), y.data(), edwards ? nullptr : &infinity}, {k.data(), 0}, generator, {0, 1},
                   TimingClass::public_, {});
  limbs::negate_mod(minus, edwards ? curve.x : curve.y, curve.p);
  const bool opposite = edwards ? x == minus && y == curve.y : x == curve.x && y == minus;
  require_key(infinity == 0 && opposite, "the generator's order is not n");
}

}  // namespace

Curve make_curve(const mm_ecc_curve_numbers& numbers) {
  if (enum_value(numbers.form) != MM_ECC_WEIERSTRASS && enum_value(numbers.form) != MM_ECC_EDWARDS)
    throw StatusError(MM_ERR_ARGUMENT, "only Weierstrass and Edwards curves can be created");
  const crypto::QuietErrors quiet;
  Arithmetic arithmetic;
  Curve curve;
  curve.form = numbers.form;
  curve.p = read_number(numbers.p, "p", MM_ECC_MAX_BITS);
  curve.field_bits = limbs::bit_length_var(curve.p);
  check_field(arithmetic, curve);
  curve.a = read_residue(numbers.a, "a", curve);
  curve.b = read_residue(numbers.b, "b", curve);
  curve.x = read_residue(numbers.x, "x", curve);
  curve.y = read_residue(numbers.y, "y", curve);
  const auto check_form = curve.form == MM_ECC_EDWARDS ? check_edwards : check_weierstrass;
  check_form(arithmetic, Arithmetic::of(curve.a), Arithmetic::of(curve.b), Arithmetic::of(curve.p));
  // By Hasse's bound n cofactor <= p + 1 + 2 sqrt(p) < 2^(field_bits + 1).
  curve.n = read_number(numbers.n, "n", curve.field_bits + 1);
  curve.order_bits = limbs::bit_length_var(curve.n);
  curve.cofactor = numbers.cofactor.size == 0
                       ? std::vector<Limb>{1}
                       : read_number(numbers.cofactor, "the cofactor", curve.field_bits + 1);
  check_order(arithmetic, curve);
  check_generator(curve);
  return curve;
}

}  // namespace manymod::ecc
