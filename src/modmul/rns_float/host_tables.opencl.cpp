// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns_float/host_tables.opencl.hpp"

#include <cstdint>
#include <span>

#include "modmul/rns_float/modular.hpp"

namespace manymod::rns_float {
namespace {

/// Appends the parts of a table.
class OpenclTable {
 public:
  explicit OpenclTable(unsigned tile) : tile_(tile) {}

  void add_moduli(const BaseView& base) {
    for (const std::uint32_t m : moduli(base)) {
      words_.push_back(static_cast<float>(m));
      words_.push_back(reciprocal(m));
    }
  }

  /// 1 / P_j modulo m_j, P_j the product of the moduli before m_j.
  void add_first(const BaseView& base) {
    for (unsigned j = 0; j < base.channels; ++j) {
      const std::uint32_t m = base.moduli[j];
      add(inverse_mod(product(base, j, m), m), m);
    }
  }

  /// 1 / M_B modulo the moduli of A.
  void add_inverse_radix(const BaseView& b, const BaseView& a) {
    for (const std::uint32_t m : moduli(a)) add(inverse_mod(product(b, b.channels, m), m), m);
  }

  /// The matrix that computes digits: -P_i / P_j modulo m_j for i < j, in blocks up to that of j; 0
  /// elsewhere.
  void add_digits(const BaseView& base) {
    for (unsigned tile = 0; tile < base.channels / tile_; ++tile) {
      for (unsigned other = 0; other <= tile; ++other) add_block(base, base, tile, other);
    }
  }

  /// The matrix that extends a number with digits in `from`: P_i modulo the moduli of `to`.
  void add_sums(const BaseView& from, const BaseView& to) {
    for (unsigned tile = 0; tile < to.channels / tile_; ++tile) {
      for (unsigned other = 0; other < from.channels / tile_; ++other) add_block(from, to, tile, other);
    }
  }

  [[nodiscard]] std::vector<std::byte> bytes() const {
    const std::span<const std::byte> all = std::as_bytes(std::span(words_));
    return {all.begin(), all.end()};
  }

 private:
  static constexpr unsigned kBurst = 4;

  unsigned tile_;
  std::vector<float> words_;

  static std::span<const std::uint32_t> moduli(const BaseView& base) { return {base.moduli, base.channels}; }

  void add(std::uint32_t c, std::uint32_t m) { words_.push_back(centred(c, m)); }

  // The product of the first `count` moduli modulo m.
  static std::uint32_t product(const BaseView& base, unsigned count, std::uint32_t m) {
    std::uint32_t r = 1;
    for (const std::uint32_t factor : moduli(base).first(count)) r = multiply_mod(r, factor % m, m);
    return r;
  }

  // Rows of channels of `to` in that tile, with columns for the digits of the tile `other`, as whole bursts.
  void add_block(const BaseView& from, const BaseView& to, unsigned tile, unsigned other) {
    for (unsigned j = tile * tile_; j < (tile + 1) * tile_; ++j) add_row(from, to, j, other * tile_);
  }

  void add_row(const BaseView& from, const BaseView& to, unsigned j, unsigned first) {
    const std::uint32_t m = to.moduli[j];
    const bool within = from.moduli == to.moduli;
    const std::uint32_t factor = within ? m - inverse_mod(product(from, j, m), m) : 1;
    std::uint32_t place = product(from, first, m);
    for (unsigned i = first; i < first + tile_; ++i) {
      add(within && i >= j ? 0 : multiply_mod(factor, place, m), m);
      place = multiply_mod(place, from.moduli[i] % m, m);
    }
    words_.resize((words_.size() + kBurst - 1) / kBurst * kBurst);
  }
};

}  // namespace

std::vector<std::byte> opencl_table(const BaseView& b, const BaseView& a, unsigned tile) {
  OpenclTable table(tile);
  table.add_moduli(b);
  table.add_moduli(a);
  table.add_first(b);
  table.add_first(a);
  table.add_inverse_radix(b, a);
  table.add_digits(b);
  table.add_sums(b, a);
  table.add_digits(a);
  table.add_sums(a, b);
  return table.bytes();
}

}  // namespace manymod::rns_float
