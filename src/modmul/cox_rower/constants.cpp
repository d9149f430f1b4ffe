// SPDX-License-Identifier: Apache-2.0
#include "modmul/cox_rower/constants.hpp"

#include <algorithm>
#include <span>

#include "modmul/rns/base_fields.hpp"
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

// x given its Montgomery form 2^32 x.
std::uint32_t plain(const Field& field, std::uint32_t form) { return field.multiply(form, 1); }
// 2^64 x given 2^32 x.
std::uint32_t double_montgomery_form(const Field& field, std::uint32_t form) {
  return field.multiply(form, field.radix());
}

rns::Base base_of(std::span<const std::uint32_t> primes) {
  rns::Base base;
  for (const std::uint32_t prime : primes) base.fields.emplace_back(prime);
  return base;
}

class Writer {
 public:
  explicit Writer(const Layout& layout)
      : layout_(layout), primes_(primes_of(layout.bases)), b_(base_of(primes_.b)), a_(base_of(primes_.a)) {}

  Words write() {
    words_.assign(layout_.size(), 0);
    const unsigned channels = layout_.bases.channels(), threads = layout_.bases.threads;
    for (unsigned channel = 0; channel < channels; ++channel) {
      put_channel(channel, channel * threads,
                  channel + 1 < channels ? threads : layout_.threads - channel * threads);
    }
    put_output();
    return std::move(words_);
  }

 private:
  Layout layout_;
  Primes primes_;
  rns::Base b_, a_;
  Words words_;

  void put(unsigned thread, unsigned constant, std::uint32_t word) {
    words_[std::size_t{constant} * layout_.threads + thread] = word;
  }

  // The constants of `count` threads from thread `first` on.
  void put_channel(unsigned channel, unsigned first, unsigned count) {
    const Field &b = b_.fields[channel], &a = a_.fields[channel];
    const auto put_all = [&](ThreadConstant constant, std::uint32_t word) {
      for (unsigned i = 0; i < count; ++i) put(first + i, static_cast<unsigned>(constant), word);
    };
    put_all(ThreadConstant::modulus_b, b.modulus());
    put_all(ThreadConstant::negative_inverse_b, b.negative_inverse());
    put_all(ThreadConstant::modulus_a, a.modulus());
    put_all(ThreadConstant::negative_inverse_a, a.negative_inverse());
    put_all(ThreadConstant::entry_to_b, entry(b));
    put_all(ThreadConstant::entry_to_a, entry(a));
    const std::uint32_t cofactor = rns::product_of(a_, a, channel), of_a = a.inverse(cofactor);
    const std::uint32_t radix = rns::product_of(b_, a);
    put_all(ThreadConstant::coordinate_in_b, b.negate(plain(b, b.inverse(rns::product_of(b_, b, channel)))));
    put_all(ThreadConstant::coordinate_in_a, plain(a, a.multiply(of_a, a.inverse(radix))));
    put_all(ThreadConstant::residue_in_a, double_montgomery_form(a, cofactor));
    put_all(ThreadConstant::last_coordinate, plain(a, of_a));
    put_all(ThreadConstant::rank_to_a, a.negate(double_montgomery_form(a, radix)));
    put_all(ThreadConstant::rank_to_b, b.negate(double_montgomery_form(b, rns::product_of(a_, b))));
    const unsigned to_a = static_cast<unsigned>(ThreadConstant::first_term);
    put_terms(first, count, to_a, b_, a);
    put_terms(first, count, to_a + layout_.bases.terms, a_, b);
  }

  // 2^(32 (words + 2)).
  [[nodiscard]] std::uint32_t entry(const Field& field) const {
    std::uint32_t power = field.radix();
    for (unsigned w = 0; w < layout_.bases.words(); ++w) power = field.multiply(power, field.radix());
    return power;
  }

  // 2^64 M_i for the coordinates of each thread, from constant `at` on.
  void put_terms(unsigned first, unsigned count, unsigned at, const rns::Base& source, const Field& target) {
    Words cofactors(source.size());
    rns::Cofactors(source, target, target.radix()).for_each([&](unsigned i, std::uint32_t cofactor) {
      cofactors[i] = cofactor;
    });
    for (unsigned i = 0; i < count; ++i) {
      for (unsigned t = 0; t < layout_.bases.terms; ++t) {
        put(first + i, at + t, cofactors[source_channel(layout_.bases, i % layout_.bases.threads, t)]);
      }
    }
  }

  void put_output() {
    Words product(layout_.columns(), 0);
    product[0] = 1;
    for (const std::uint32_t prime : primes_.a) words::multiply_by(product, prime);
    for (unsigned i = 0; i < a_.size(); ++i) put_row(i, rns::divided_exactly(product, a_.fields[i]));
    put_row(a_.size(), rns::negated(product));
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
