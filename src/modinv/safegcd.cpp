// SPDX-License-Identifier: Apache-2.0
#include "modinv/safegcd.hpp"

#include <algorithm>
#include <bit>

#include "arch/scalar/word.hpp"
#include "repr/limbs.hpp"

namespace manymod {
namespace {

using word::SignedWide;

constexpr int kDigitBits = 62;
constexpr std::uint64_t kDigitMask = (std::uint64_t{1} << kDigitBits) - 1;

std::int64_t low_digit(SignedWide x) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) & kDigitMask);
}

/// Digits that hold a signed number of `bits` magnitude bits with two bits to spare (|d| < 2n and a sign).
std::size_t digits_for_bits(std::size_t bits) { return (bits + 2) / kDigitBits + 1; }

void digits_from_limbs(std::vector<std::int64_t>& digits, std::span<const Limb> x) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t bit = i * kDigitBits;
    const std::size_t index = bit / kLimbBits;
    const std::size_t shift = bit % kLimbBits;
    Limb value = index < x.size() ? x[index] >> shift : 0;
    if (shift != 0 && index + 1 < x.size()) value |= x[index + 1] << (kLimbBits - shift);
    digits[i] = static_cast<std::int64_t>(value & kDigitMask);
  }
}

void limbs_from_digits(std::span<Limb> x, const std::vector<std::int64_t>& digits) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t bit = i * kLimbBits;
    const std::size_t index = bit / kDigitBits;
    const std::size_t shift = bit % kDigitBits;
    Limb value = index < digits.size() ? static_cast<Limb>(digits[index]) >> shift : 0;
    for (std::size_t have = kDigitBits - shift, k = index + 1; have < kLimbBits && k < digits.size();
         have += kDigitBits, ++k) {
      value |= static_cast<Limb>(digits[k]) << have;
    }
    x[i] = value;
  }
}

void wipe_digits(std::vector<std::int64_t>& digits) {
  wipe_bytes(digits.data(), digits.size() * sizeof(digits[0]));
}

/// Add `addend & mask` digit by digit and multiply by sign (+1 or -1) first: digits = sign * digits + (addend
/// & mask).
void scale_and_add(std::vector<std::int64_t>& digits, std::int64_t sign,
                   const std::vector<std::int64_t>& addend, std::int64_t mask) {
  std::int64_t carry = 0;
  const std::size_t top = digits.size() - 1;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::int64_t value = digits[i] * sign + (addend[i] & mask) + carry;
    digits[i] = i == top ? value : static_cast<std::int64_t>(static_cast<std::uint64_t>(value) & kDigitMask);
    carry = value >> kDigitBits;
  }
}

#if MANYMOD_VERIFY
/// -2n < d < n.
bool in_update_range(const std::vector<std::int64_t>& d, const std::vector<std::int64_t>& n) {
  std::vector<std::int64_t> below = d;
  scale_and_add(below, -1, n, -1);  // n - d
  std::vector<std::int64_t> above = d;
  scale_and_add(above, 1, n, -1);
  scale_and_add(above, 1, n, -1);  // d + 2n
  const auto positive = [](const std::vector<std::int64_t>& x) {
    return x.back() >= 0 && std::any_of(x.begin(), x.end(), [](std::int64_t digit) { return digit != 0; });
  };
  return positive(below) && positive(above);
}
#endif

}  // namespace

SafeGcd::~SafeGcd() {
  for (Digits* digits : {&modulus_, &f_, &g_, &d_, &e_}) wipe_digits(*digits);
}

void SafeGcd::assign(std::span<const Limb> n) {
  bits_ = n.size() * kLimbBits - static_cast<std::size_t>(std::countl_zero(n.back()));
  const std::size_t size = digits_for_bits(bits_);
  for (Digits* digits : {&modulus_, &f_, &g_, &d_, &e_}) {
    wipe_digits(*digits);
    digits->assign(size, 0);
  }
  digits_from_limbs(modulus_, n);
  inverse_ = (std::uint64_t{0} - word::negated_inverse(n[0])) & kDigitMask;
}

void SafeGcd::load(std::span<const Limb> x) {
  std::copy(modulus_.begin(), modulus_.end(), f_.begin());
  digits_from_limbs(g_, x);
  std::fill(d_.begin(), d_.end(), 0);
  std::fill(e_.begin(), e_.end(), 0);
  e_[0] = 1;
}

/// Division steps from delta = 1, eta = -delta, several at once: while delta <= 0 every step adds a multiple
/// of f, so `batch` low bits of g are cancelled by w = -g/f mod 2^batch in one go.
std::int64_t SafeGcd::divsteps_var(std::int64_t eta, std::uint64_t f, std::uint64_t g, Matrix& t) {
  std::uint64_t u = 1;
  std::uint64_t v = 0;
  std::uint64_t q = 0;
  std::uint64_t r = 1;
  int left = kDigitBits;
  for (;;) {
    const int zeros = std::countr_zero(g | (~std::uint64_t{0} << left));
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    eta -= zeros;
    left -= zeros;
    if (left == 0) break;
    if (eta < 0) {
      eta = -eta;
      std::swap(f, g);
      std::swap(u, q);
      std::swap(v, r);
      g = std::uint64_t{0} - g;
      q = std::uint64_t{0} - q;
      r = std::uint64_t{0} - r;
    }
    // Steps before delta turns positive again, at most 6: f (f^2 - 2) = -1/f mod 64.
    const int batch = static_cast<int>(std::min<std::int64_t>({eta + 1, left, 6}));
    const std::uint64_t w = (f * g * (f * f - 2)) & ((std::uint64_t{1} << batch) - 1);
    g += f * w;
    q += u * w;
    r += v * w;
  }
  t = {static_cast<std::int64_t>(u), static_cast<std::int64_t>(v), static_cast<std::int64_t>(q),
       static_cast<std::int64_t>(r)};
  return eta;
}

/// (f, g) = t (f, g) / 2^62, exact.
void SafeGcd::apply(const Matrix& t, Digits& f, Digits& g, std::size_t size) {
  SignedWide cf = SignedWide{t.u} * f[0] + SignedWide{t.v} * g[0];
  SignedWide cg = SignedWide{t.q} * f[0] + SignedWide{t.r} * g[0];
  cf >>= kDigitBits;
  cg >>= kDigitBits;
  for (std::size_t i = 1; i < size; ++i) {
    cf += SignedWide{t.u} * f[i] + SignedWide{t.v} * g[i];
    cg += SignedWide{t.q} * f[i] + SignedWide{t.r} * g[i];
    f[i - 1] = low_digit(cf);
    g[i - 1] = low_digit(cg);
    cf >>= kDigitBits;
    cg >>= kDigitBits;
  }
  f[size - 1] = static_cast<std::int64_t>(cf);
  g[size - 1] = static_cast<std::int64_t>(cg);
}

/// (d, e) = (t (d, e) + n (md, me)) / 2^62 with md, me that make the division exact and keep -2n < d, e < n.
void SafeGcd::apply_modulo(const Matrix& t) {
  const std::size_t size = d_.size();
  const std::int64_t d_sign = modinv::sign_mask(d_[size - 1]);
  const std::int64_t e_sign = modinv::sign_mask(e_[size - 1]);
  std::int64_t md = (t.u & d_sign) + (t.v & e_sign);
  std::int64_t me = (t.q & d_sign) + (t.r & e_sign);
  SignedWide cd = SignedWide{t.u} * d_[0] + SignedWide{t.v} * e_[0];
  SignedWide ce = SignedWide{t.q} * d_[0] + SignedWide{t.r} * e_[0];
  md -= static_cast<std::int64_t>(
      (inverse_ * static_cast<std::uint64_t>(cd) + static_cast<std::uint64_t>(md)) & kDigitMask);
  me -= static_cast<std::int64_t>(
      (inverse_ * static_cast<std::uint64_t>(ce) + static_cast<std::uint64_t>(me)) & kDigitMask);
  cd += SignedWide{modulus_[0]} * md;
  ce += SignedWide{modulus_[0]} * me;
  cd >>= kDigitBits;
  ce >>= kDigitBits;
  for (std::size_t i = 1; i < size; ++i) {
    cd += SignedWide{t.u} * d_[i] + SignedWide{t.v} * e_[i] + SignedWide{modulus_[i]} * md;
    ce += SignedWide{t.q} * d_[i] + SignedWide{t.r} * e_[i] + SignedWide{modulus_[i]} * me;
    d_[i - 1] = low_digit(cd);
    e_[i - 1] = low_digit(ce);
    cd >>= kDigitBits;
    ce >>= kDigitBits;
  }
  d_[size - 1] = static_cast<std::int64_t>(cd);
  e_[size - 1] = static_cast<std::int64_t>(ce);
  MANYMOD_VERIFY_RANGE(in_update_range(d_, modulus_) && in_update_range(e_, modulus_));
}

/// d in (-2n, n)  ->  sign * d in [0, n).
void SafeGcd::normalize(Digits& d, std::int64_t sign) const {
  const std::size_t top = d.size() - 1;
  scale_and_add(d, 1, modulus_, modinv::sign_mask(d[top]));
  scale_and_add(d, sign, modulus_, 0);
  scale_and_add(d, 1, modulus_, modinv::sign_mask(d[top]));
}

/// At the end g = 0 and f = +-gcd: the inverse is +-d if f = +-1.
Limb SafeGcd::finish(std::span<Limb> r) {
  const std::int64_t f_sign = modinv::sign_mask(f_.back());
  normalize(d_, f_sign | 1);
  scale_and_add(f_, f_sign | 1, modulus_, 0);
  std::uint64_t difference = static_cast<std::uint64_t>(f_[0]) ^ 1;
  for (std::size_t i = 1; i < f_.size(); ++i) difference |= static_cast<std::uint64_t>(f_[i]);
  const Limb invertible = word::is_zero_bit(difference);
  MANYMOD_VERIFY_RANGE(std::all_of(g_.begin(), g_.end(), [](std::int64_t digit) { return digit == 0; }));
  limbs_from_digits(r, d_);
  const Limb mask = word::mask_from_bit(invertible);
  for (Limb& limb : r) limb &= mask;
  return invertible;
}

Limb SafeGcd::invert(std::span<Limb> r, std::span<const Limb> x) {
  load(x);
  const std::size_t steps = modinv::divsteps_needed(bits_);
  std::int64_t zeta = modinv::kFirstDivstep;
  for (std::size_t done = 0; done < steps; done += kDigitBits) {
    Matrix t;
    zeta = modinv::divsteps<kDigitBits>(zeta, static_cast<std::uint64_t>(f_[0]),
                                        static_cast<std::uint64_t>(g_[0]), t);
    apply_modulo(t);
    apply(t, f_, g_, f_.size());
  }
  return finish(r);
}

Limb SafeGcd::invert_var(std::span<Limb> r, std::span<const Limb> x) {
  load(x);
  std::size_t size = f_.size();
  std::int64_t eta = -1;
  const auto g_is_zero = [&] {
    return std::all_of(g_.begin(), g_.begin() + static_cast<std::ptrdiff_t>(size),
                       [](std::int64_t v) { return v == 0; });
  };
  while (!g_is_zero()) {
    Matrix t;
    eta = divsteps_var(eta, static_cast<std::uint64_t>(f_[0]), static_cast<std::uint64_t>(g_[0]), t);
    apply_modulo(t);
    apply(t, f_, g_, size);
    // Fold a top digit that only carries the sign (0 or -1 in both) into the one below.
    while (size > 1 && (f_[size - 1] == 0 || f_[size - 1] == -1) &&
           (g_[size - 1] == 0 || g_[size - 1] == -1)) {
      f_[size - 2] |= static_cast<std::int64_t>(static_cast<std::uint64_t>(f_[size - 1]) << kDigitBits);
      g_[size - 2] |= static_cast<std::int64_t>(static_cast<std::uint64_t>(g_[size - 1]) << kDigitBits);
      --size;
      f_[size] = g_[size] = 0;
    }
  }
  // Sign-extend the shortened f again.
  const std::int64_t fill = f_[size - 1] >> 63;
  if (size < f_.size()) {
    f_[size - 1] &= static_cast<std::int64_t>(kDigitMask);
    for (std::size_t i = size; i < f_.size(); ++i) {
      f_[i] = i + 1 == f_.size() ? fill : fill & static_cast<std::int64_t>(kDigitMask);
    }
  }
  return finish(r);
}

}  // namespace manymod
