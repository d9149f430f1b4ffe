// SPDX-License-Identifier: Apache-2.0
#include "modmul/cox_rower/constants.hpp"

#include <algorithm>
#include <span>

#include "modmul/rns/channel_field.hpp"
#include "repr/words.hpp"

namespace manymod::cox_rower {
namespace {

using Field = rns::ChannelField;
using Words = std::vector<std::uint32_t>;

// By trial division: numbers are below 2^29.
bool is_odd_prime(std::uint32_t n) {
  if (n % 2 == 0) return false;
  for (std::uint32_t divisor = 3; divisor * divisor <= n; divisor += 2) {
    if (n % divisor == 0) return false;
  }
  return true;
}

// The product of all but number `left_out` of the primes, in Montgomery form modulo the field's prime.
std::uint32_t product_form(const Field& field, std::span<const std::uint32_t> primes, std::size_t left_out) {
  std::uint32_t product = field.one();
  for (std::size_t i = 0; i < primes.size(); ++i) {
    if (i != left_out) product = field.multiply(product, field.form(primes[i]));
  }
  return product;
}

// x, from its Montgomery form.
std::uint32_t plain(const Field& field, std::uint32_t form) { return field.multiply(form, 1); }
// 2^64 x, from the Montgomery form of x.
std::uint32_t twice_a_form(const Field& field, std::uint32_t form) {
  return field.multiply(form, field.radix());
}

class Writer {
 public:
  explicit Writer(const Layout& layout)
      : layout_(layout), primes_(primes_of(layout.bases)), words_(layout.size()) {}

  Words write() {
    for (unsigned thread = 0; thread < layout_.threads; ++thread) put_thread(thread);
    put_output();
    return std::move(words_);
  }

 private:
  Layout layout_;
  Primes primes_;
  Words words_;

  [[nodiscard]] std::size_t none() const { return layout_.bases.channels(); }

  void put(unsigned thread, unsigned constant, std::uint32_t word) {
    words_[std::size_t{constant} * layout_.threads + thread] = word;
  }
  void put(unsigned thread, ThreadConstant constant, std::uint32_t word) {
    put(thread, static_cast<unsigned>(constant), word);
  }

  void put_thread(unsigned thread) {
    const unsigned channel = std::min(thread / layout_.bases.threads, layout_.bases.channels() - 1);
    const unsigned part = thread % layout_.bases.threads;
    const Field b(primes_.b[channel]), a(primes_.a[channel]);
    put(thread, ThreadConstant::modulus_b, b.modulus());
    put(thread, ThreadConstant::negative_inverse_b, b.negative_inverse());
    put(thread, ThreadConstant::modulus_a, a.modulus());
    put(thread, ThreadConstant::negative_inverse_a, a.negative_inverse());
    put(thread, ThreadConstant::entry_to_b, entry(b));
    put(thread, ThreadConstant::entry_to_a, entry(a));
    put_coordinates(thread, channel, b, a);
    put(thread, ThreadConstant::rank_to_a, negative_product(a, primes_.b));
    put(thread, ThreadConstant::rank_to_b, negative_product(b, primes_.a));
    put_terms(thread, part, b, a);
  }

  // 2^(32 (words + 2)).
  [[nodiscard]] std::uint32_t entry(const Field& field) const {
    std::uint32_t power = field.radix();
    for (unsigned w = 0; w < layout_.bases.words(); ++w) power = field.multiply(power, field.radix());
    return power;
  }

  static std::uint32_t negative_product(const Field& field, std::span<const std::uint32_t> primes) {
    return field.negate(twice_a_form(field, product_form(field, primes, primes.size())));
  }

  void put_coordinates(unsigned thread, unsigned channel, const Field& b, const Field& a) {
    const std::uint32_t of_b = b.inverse(product_form(b, primes_.b, channel));
    const std::uint32_t cofactor = product_form(a, primes_.a, channel);
    const std::uint32_t of_a = a.inverse(cofactor);
    const std::uint32_t radix = a.inverse(product_form(a, primes_.b, none()));
    put(thread, ThreadConstant::coordinate_in_b, b.negate(plain(b, of_b)));
    put(thread, ThreadConstant::coordinate_in_a, plain(a, a.multiply(of_a, radix)));
    put(thread, ThreadConstant::residue_in_a, twice_a_form(a, cofactor));
    put(thread, ThreadConstant::last_coordinate, plain(a, of_a));
  }

  void put_terms(unsigned thread, unsigned part, const Field& b, const Field& a) {
    const unsigned terms = layout_.bases.terms;
    for (unsigned t = 0; t < terms; ++t) {
      const unsigned source = source_channel(layout_.bases, part, t);
      const unsigned at = static_cast<unsigned>(ThreadConstant::first_term) + t;
      put(thread, at, twice_a_form(a, product_form(a, primes_.b, source)));
      put(thread, at + terms, twice_a_form(b, product_form(b, primes_.a, source)));
    }
  }

  void put_output() {
    const unsigned channels = layout_.bases.channels();
    for (unsigned i = 0; i < channels; ++i) put_row(i, product_words(i));
    Words negative = product_words(channels);
    std::uint32_t carry = 1;
    for (std::uint32_t& word : negative) {
      word = ~word + carry;
      carry &= static_cast<std::uint32_t>(word == 0);
    }
    put_row(channels, negative);
  }

  // The product of all but number `left_out` of base A's primes mod 2^(32 columns).
  [[nodiscard]] Words product_words(unsigned left_out) const {
    Words product(layout_.columns(), 0);
    product[0] = 1;
    for (unsigned i = 0; i < layout_.bases.channels(); ++i) {
      if (i != left_out) words::multiply_by(product, primes_.a[i]);
    }
    return product;
  }

  void put_row(unsigned row, const Words& row_words) {
    const std::size_t at = layout_.output_at() + std::size_t{row} * layout_.columns();
    std::ranges::copy(row_words, words_.begin() + static_cast<std::ptrdiff_t>(at));
  }
};

}  // namespace

Primes primes_of(const Bases& bases) {
  Primes primes;
  for (std::uint32_t n = bases.bound - 1; primes.a.size() < bases.channels(); --n) {
    if (!is_odd_prime(n)) continue;
    (primes.b.size() == primes.a.size() ? primes.b : primes.a).push_back(n);
  }
  return primes;
}

std::vector<std::uint32_t> constants_of(const Layout& layout) { return Writer(layout).write(); }

}  // namespace manymod::cox_rower
