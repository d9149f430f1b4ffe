// SPDX-License-Identifier: Apache-2.0
// What the constants of residue number systems are computed from on the host: the primes of a base as fields,
// products and cofactors of a base modulo another prime, and exact quotients of long products. Functions are
// constant-time in factors and scales.
#pragma once

#include <cstdint>
#include <vector>

#include "modmul/rns/channel_field.hpp"
#include "repr/wipe.hpp"

namespace manymod::rns {

/// The fields of one of the two bases.
struct Base {
  std::vector<ChannelField> fields;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(fields.size()); }
};

/// The product of a base's primes modulo `field`, in its Montgomery form; without prime number `except`, if
/// given.
inline std::uint32_t product_of(const Base& base, const ChannelField& field, unsigned except = ~0u) {
  std::uint32_t product = field.one();
  for (unsigned i = 0; i < base.size(); ++i) {
    if (i != except) product = field.multiply(product, field.form(base.fields[i].modulus()));
  }
  return product;
}

/// The cofactors M_j = M / m_j of a base modulo a prime m of `field`, times a number `scale` < m. They are in
/// Montgomery form if `scale` is.
class Cofactors {
 public:
  Cofactors(const Base& source, const ChannelField& field, std::uint32_t scale)
      : source_(source), field_(field), suffix_products_(source.size() + 1) {
    suffix_products_[source.size()] = scale;
    for (unsigned j = source.size(); j-- > 0;)
      suffix_products_[j] = field.multiply(suffix_products_[j + 1], form(j));
  }

  /// Calls use(j, scale M_j mod m) for all j in ascending order.
  template <class Use>
  void for_each(Use use) const {
    std::uint32_t before = field_.one();
    for (unsigned j = 0; j < source_.size(); ++j) {
      use(j, field_.multiply(before, suffix_products_[j + 1]));
      before = field_.multiply(before, form(j));
    }
  }
  /// scale M mod m, the product of all primes.
  [[nodiscard]] std::uint32_t product() const { return suffix_products_[0]; }

 private:
  const Base& source_;
  const ChannelField& field_;
  SecretArray<std::uint32_t> suffix_products_;  // entry j: scale times the primes from j on

  [[nodiscard]] std::uint32_t form(unsigned j) const { return field_.form(source_.fields[j].modulus()); }
};

/// x / m mod 2^(32 words) for odd m, word by word from the least significant one (Jebelean's exact division).
inline std::vector<std::uint32_t> divided_exactly(std::vector<std::uint32_t> x, const ChannelField& field) {
  const std::uint32_t inverse = 0 - field.negative_inverse();
  std::uint64_t borrow = 0;
  for (std::uint32_t& word : x) {
    const std::uint64_t rest = std::uint64_t{word} - borrow;
    word = static_cast<std::uint32_t>(rest) * inverse;
    borrow = (std::uint64_t{word} * field.modulus() >> 32) + (rest >> 63);
  }
  return x;
}

/// -x mod 2^(32 words).
inline std::vector<std::uint32_t> negated(std::vector<std::uint32_t> x) {
  std::uint32_t carry = 1;
  for (std::uint32_t& word : x) {
    word = ~word + carry;
    carry &= static_cast<std::uint32_t>(word == 0);
  }
  return x;
}

}  // namespace manymod::rns
