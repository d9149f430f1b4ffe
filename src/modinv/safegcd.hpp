// SPDX-License-Identifier: Apache-2.0
// Inverses modulo odd n by division steps (Bernstein and Yang, "Fast constant-time gcd computation and
// modular inversion", 2019), 62 at a time on the low words as 2x2 transition matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "modinv/transition.hpp"
#include "repr/canonical.hpp"

namespace manymod {

/// Inverter for one odd modulus n > 1. It owns the working storage, so that a batch allocates once.
///
/// Numbers are arrays of signed 62-bit digits: value = sum of digit_i 2^(62 i), 0 <= digit_i < 2^62 below the
/// top one, the top digit signed. Ranges kept: f odd, |f| <= n, |g| <= n; -2n < d, e < n before each update,
/// which adds a multiple of n so that the division by 2^62 is exact and the range holds again.
class SafeGcd {
 public:
  SafeGcd() = default;
  SafeGcd(const SafeGcd&) = delete;
  SafeGcd& operator=(const SafeGcd&) = delete;
  ~SafeGcd();

  /// Storage is reused from call to call. On input: n odd, n > 1, top limb not 0.
  void assign(std::span<const Limb> n);

  /// r = x^-1 mod n, for x < n, both of n.size() limbs; r may be x. @return 1, or 0 (and r = 0) if
  /// gcd(x, n) > 1. Constant-time: modinv::divsteps_needed(b) division steps for a modulus of b bits.
  Limb invert(std::span<Limb> r, std::span<const Limb> x);

  /// The same in variable time: skips runs of zero bits, stops when g = 0, drops leading digits.
  Limb invert_var(std::span<Limb> r, std::span<const Limb> x);

 private:
  using Digits = std::vector<std::int64_t>;
  using Matrix = modinv::Transition<std::int64_t>;

  std::size_t bits_ = 0;
  std::uint64_t inverse_ = 0;  ///< n^-1 mod 2^62
  Digits modulus_, f_, g_, d_, e_;

  void load(std::span<const Limb> x);
  Limb finish(std::span<Limb> r);
  static std::int64_t divsteps_var(std::int64_t eta, std::uint64_t f, std::uint64_t g, Matrix& t);
  static void apply(const Matrix& t, Digits& f, Digits& g, std::size_t size);
  void apply_modulo(const Matrix& t);
  void normalize(Digits& d, std::int64_t sign) const;
};

}  // namespace manymod
