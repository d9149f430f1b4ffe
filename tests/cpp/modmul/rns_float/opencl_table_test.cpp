// SPDX-License-Identifier: Apache-2.0
// The constants that OpenCL kernels read, used as kernels use them, in integers: the digits that they lead to
// are those of the number, and so are its residues in the other base.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "modmul/rns_float/base_pair.hpp"
#include "modmul/rns_float/host_tables.opencl.hpp"

namespace manymod::rns_float {
namespace {

/// Reads a table from its start to its end.
class Reader {
 public:
  Reader(const std::vector<std::byte>& bytes, unsigned tile)
      : words_(bytes.size() / sizeof(float)), tile_(tile) {
    std::memcpy(words_.data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] bool at_end() const { return at_ == words_.size(); }
  float next() { return words_.at(at_++); }
  /// A constant modulo m: abs(c) <= (m - 1) / 2.
  std::int64_t constant(std::uint32_t m) {
    const float c = next();
    EXPECT_LE(2 * std::abs(c), static_cast<float>(m - 1));
    return static_cast<std::int64_t>(c);
  }
  /// The sum of a block's row times digits from `first` on, of which `count` count. Others have constants 0.
  std::int64_t row(const std::vector<std::int64_t>& digits, unsigned first, unsigned count, std::uint32_t m) {
    std::int64_t sum = 0;
    for (unsigned i = 0; i < (tile_ + 3) / 4 * 4; ++i) {
      const std::int64_t c = constant(m);
      if (i >= tile_ || first + i >= count) {
        EXPECT_EQ(c, 0);
      } else {
        sum += digits[first + i] * c;
      }
    }
    return sum;
  }

 private:
  std::vector<float> words_;
  unsigned tile_;
  std::size_t at_ = 0;
};

std::int64_t remainder(std::int64_t x, std::uint32_t m) {
  const std::int64_t r = x % std::int64_t{m};
  return r < 0 ? r + m : r;
}

// The sum of digits times their places modulo m.
std::int64_t value(const BaseView& base, const std::vector<std::int64_t>& digits, std::uint32_t m) {
  std::int64_t sum = 0;
  for (unsigned i = base.channels; i-- > 0;) sum = remainder(sum * base.moduli[i] + digits[i], m);
  return sum;
}

template <class Bases, unsigned kTile>
class Case {
 public:
  void check() {
    const BaseView b = base_b<Bases>(), a = base_a<Bases>();
    Reader table(opencl_table(b, a, kTile), kTile);
    for (const BaseView& base : {b, a}) {
      for (unsigned j = 0; j < base.channels; ++j) {
        EXPECT_EQ(table.next(), static_cast<float>(base.moduli[j]));
        EXPECT_EQ(table.next(), 1 / static_cast<float>(base.moduli[j]));
      }
    }
    const std::vector<std::int64_t> first_b = constants(table, b), first_a = constants(table, a);
    for (unsigned j = 0; j < a.channels; ++j) {
      std::int64_t radix = 1;
      for (unsigned i = 0; i < b.channels; ++i) radix = remainder(radix * b.moduli[i], a.moduli[j]);
      EXPECT_EQ(remainder(table.constant(a.moduli[j]) * radix, a.moduli[j]), 1);
    }
    check_extension(table, b, a, first_b);
    check_extension(table, a, b, first_a);
    EXPECT_TRUE(table.at_end());
  }

 private:
  std::mt19937 random_{5};

  static std::vector<std::int64_t> constants(Reader& table, const BaseView& base) {
    std::vector<std::int64_t> all;
    for (unsigned j = 0; j < base.channels; ++j) all.push_back(table.constant(base.moduli[j]));
    return all;
  }

  void check_extension(Reader& table, const BaseView& from, const BaseView& to,
                       const std::vector<std::int64_t>& first) {
    std::vector<std::int64_t> x, digits(from.channels);
    for (unsigned j = 0; j < from.channels; ++j) x.push_back(random_() % from.moduli[j]);
    for (unsigned tile = 0; tile < from.channels / kTile; ++tile) {
      std::vector<std::int64_t> sums(kTile);
      for (unsigned other = 0; other <= tile; ++other) {
        for (unsigned k = 0; k < kTile; ++k) {
          const unsigned j = tile * kTile + k;
          sums[k] += table.row(digits, other * kTile, j, from.moduli[j]);
          if (other == tile) digits[j] = remainder(x[j] * first[j] + sums[k], from.moduli[j]);
        }
      }
    }
    for (unsigned j = 0; j < from.channels; ++j) EXPECT_EQ(value(from, digits, from.moduli[j]), x[j]) << j;
    std::vector<std::int64_t> sums(to.channels);
    for (unsigned tile = 0; tile < to.channels / kTile; ++tile) {
      for (unsigned other = 0; other < from.channels / kTile; ++other) {
        for (unsigned j = tile * kTile; j < (tile + 1) * kTile; ++j) {
          sums[j] += table.row(digits, other * kTile, from.channels, to.moduli[j]);
        }
      }
    }
    for (unsigned j = 0; j < to.channels; ++j) {
      EXPECT_EQ(remainder(sums[j], to.moduli[j]), value(from, digits, to.moduli[j])) << j;
    }
  }
};

TEST(RnsFloatOpenclTable, LeadsToDigitsAndResidues) {
  Case<rns::Half512, 22>().check();
  Case<rns::Half1024, 22>().check();
  Case<rns::Half2048, 23>().check();
}

}  // namespace
}  // namespace manymod::rns_float
