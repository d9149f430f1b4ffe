// SPDX-License-Identifier: Apache-2.0
// The kernels of division32 on the host, an item at a time, against products and long divisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "modmul/division32/item.cuda.hpp"
#include "modmul/division32/shapes.cuda.hpp"
#include "modmul/division32/shared_divisor.hpp"
#include "row_words.hpp"

namespace manymod::test {
namespace {

using division32::RowOperation;

/// -a mod 2^(32 words).
Words negated(Words a) {
  for (std::uint32_t& word : a) word = ~word;
  return sum(a, {1});
}

Words expected(RowOperation operation, const Words& x, const Words& y, const Words& z, const Words& n) {
  const std::size_t wide = n.size() + 1;
  if (operation == RowOperation::multiply) return residue(sum(naive::multiply(x, y), z), n);
  if (operation == RowOperation::add) return residue(sum(sized(x, wide), y), n);
  const Words less = sized(residue(y, n), wide);
  return residue(sum(sum(sized(x, wide + 1), sized(n, wide + 1)), negated(sized(less, wide + 1))), n);
}

/// `words`, and as many zeros behind them.
Words with_zeros(const Words& words) { return sized(words, 2 * words.size()); }

/// One item: words that kernels read and write, with guards around the result. Unless they are replaced in
/// place, a second group of the warp computes with the same modulus and zeros, which are below it.
struct Case {
  RowOperation operation = RowOperation::multiply;
  Words x, y, z, n;
  bool own = false;
  std::size_t result_words = 0;
  unsigned modulus_bits = 0;          ///< 0: those of the kernel's words
  GuardedResult* in_place = nullptr;  ///< x, y and n, of which the result replaces `replaced`
  unsigned replaced = 0;

  division32::Job job{};
  ModulusClass kinds[2] = {ModulusClass::even, ModulusClass::even};
  std::uint32_t failed = 0;

  template <unsigned kThreads, unsigned kPerThread, bool kOwn>
  Words run() {
    constexpr unsigned kWords = kThreads * kPerThread;
    const unsigned groups = kOwn && in_place == nullptr && kThreads <= 16 ? 2 : 1;
    const Words zeros[] = {with_zeros(x), with_zeros(y), with_zeros(z)};
    const auto at = [&](unsigned i) { return in_place == nullptr ? zeros[i].data() : in_place[i].data(); };
    Words moduli = n;
    moduli.insert(moduli.end(), n.begin(), n.end());
    job.x = rows_at(at(0), x.size());
    job.y = rows_at(at(1), y.size());
    job.z = rows_at(zeros[2].data(), z.size());
    job.modulus = rows_at(in_place == nullptr ? moduli.data() : in_place[2].data(), n.size());
    GuardedResult own_result(groups * result_words);
    GuardedResult& result = in_place == nullptr ? own_result : in_place[replaced];
    job.result = result.data();
    job.result_width = static_cast<std::uint32_t>(result_words);
    job.result_stride = result_words;
    job.operation = operation;
    job.count = groups;
    if (kOwn) {
      job.modulus_bits = modulus_bits == 0 ? 32 * kWords : modulus_bits;
      job.kinds = kinds;
      job.failed = &failed;
    } else {
      const std::size_t limbs = (significant_words(n) + 1) / 2;
      job.divisor = division32::shared_divisor(naive::limbs(n, limbs), kWords);
    }
    GuardedColumns memory(groups, kWords);
    run_lockstep_warp<kThreads>(groups, [&](LockstepGroup<kThreads> group, unsigned index) {
      const division32::Item<LockstepGroup<kThreads>, kPerThread, kOwn> item(
          group, {memory.column(index), memory.stride()}, job, index);
      if (operation == RowOperation::multiply) {
        item.multiply(true);
      } else {
        item.add_or_subtract(true);
      }
    });
    EXPECT_TRUE(result.guards_intact() && memory.guards_intact());
    if (groups == 2) {
      EXPECT_EQ(kinds[0], kinds[1]);
    }
    return sized(result.words(), result_words);
  }
};

template <unsigned kThreads, unsigned kPerThread>
void check(RowOperation operation, const Words& x, const Words& y, const Words& z, const Words& n) {
  const Words right = expected(operation, x, y, z, n);
  for (const bool own : {false, true}) {
    Case item;
    item.operation = operation;
    item.x = x;
    item.y = y;
    item.z = z;
    item.n = n;
    item.result_words = n.size() + (own ? 4 : 0);
    const Words found =
        own ? item.run<kThreads, kPerThread, true>() : item.run<kThreads, kPerThread, false>();
    ASSERT_EQ(found, sized(right, item.result_words)) << kThreads << "x" << kPerThread << " own " << own;
    if (!own) continue;
    ASSERT_EQ(item.kinds[0], ModulusClass::compute);
    ASSERT_EQ(item.failed, 0u);
  }
}

constexpr RowOperation kOperations[] = {RowOperation::add, RowOperation::subtract, RowOperation::multiply};

template <unsigned kThreads, unsigned kPerThread>
void check_widths(bool products, unsigned rounds) {
  constexpr std::size_t kWords = kThreads * kPerThread;
  naive::Generator generate(kWords + kPerThread);
  std::vector<Words> moduli = edge_moduli(generate, kWords, rounds);
  for (std::size_t i = 0; i < moduli.size(); i += 2) moduli[i][0] &= ~std::uint32_t{1};
  moduli.push_back(word_number(1, kWords));
  moduli.push_back(word_number(2, kWords));
  for (const Words& n : moduli) {
    const Words less = sum(n, Words(kWords, 0xffffffff));  // n - 1
    std::vector<Words> numbers{Words(kWords, 0),
                               Words(kWords, 0xffffffff),
                               less,
                               n,
                               edge_words(generate, kWords),
                               residue(edge_words(generate, kWords), n)};
    for (unsigned i = 0; i < rounds; ++i) {
      const Words& x = numbers[i < 4 ? (i + 2) % 4 : generate.below(numbers.size())];
      const Words& y = numbers[i < 3 ? 2 : generate.below(numbers.size())];
      for (const RowOperation operation : kOperations) {
        if ((operation == RowOperation::multiply) != products) continue;
        const Words z = products && i % 2 == 0 ? numbers[generate.below(numbers.size())] : Words();
        check<kThreads, kPerThread>(operation, x, y, z, n);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

constexpr unsigned rounds(unsigned threads) { return threads == 1 ? 8 : 2; }

TEST(Division32, Products){
#define SHAPE(threads, per_thread, blocks, own_blocks) \
  check_widths<threads, per_thread>(true, rounds(threads));
    MM_DIVISION32_PRODUCTS(SHAPE)
#undef SHAPE
}

TEST(Division32, Sums){
#define SHAPE(threads, per_thread, blocks, own_blocks) \
  check_widths<threads, per_thread>(false, rounds(threads));
    MM_DIVISION32_SUMS(SHAPE)
#undef SHAPE
}

TEST(Division32, AllNumbersOfSmallModuli) {
  for (std::uint32_t n = 1; n <= 12; ++n) {
    for (std::uint32_t x = 0; x < 2 * n; ++x) {
      for (std::uint32_t y = 0; y < 2 * n; ++y) {
        for (const RowOperation operation : kOperations) {
          const Words z = operation == RowOperation::multiply ? word_number(x ^ y, 4) : Words();
          check<1, 4>(operation, word_number(x, 4), word_number(y, 4), z, word_number(n, 4));
        }
      }
    }
  }
}

TEST(Division32, OperandsNarrowerAndWiderThanTheModulus) {
  naive::Generator generate(7);
  const Words n = sized(edge_words(generate, 4), 6);
  for (const std::size_t width : {2u, 6u, 8u}) {
    for (const RowOperation operation : kOperations) {
      const Words x = edge_words(generate, width), y = edge_words(generate, 8 - width);
      Case item;
      item.operation = operation;
      item.x = x;
      item.y = y.empty() ? Words(2, 0) : y;
      item.n = n;
      item.result_words = 12;
      if (operation == RowOperation::multiply) item.z = edge_words(generate, width);
      const Words right = expected(operation, sized(x, 8), sized(item.y, 8), item.z, sized(n, 8));
      EXPECT_EQ((item.run<1, 8, false>()), sized(right, 12));
      EXPECT_EQ((item.run<1, 8, true>()), sized(right, 12));
      EXPECT_EQ((item.run<2, 8, true>()), sized(right, 12));
    }
  }
}

TEST(Division32, ModuliWithoutResults) {
  for (const bool zero : {false, true}) {
    for (const RowOperation operation : kOperations) {
      Case item;
      item.operation = operation;
      item.x = item.y = Words(8, 0xffffffff);
      item.n = zero ? Words(8, 0) : power_of_two(200, 8);
      item.result_words = 8;
      item.modulus_bits = 200;
      EXPECT_EQ((item.run<1, 8, true>()), Words(8, 0));
      EXPECT_EQ(item.kinds[0], zero ? ModulusClass::zero : ModulusClass::too_wide);
      EXPECT_EQ(item.failed, 1u);
      item.failed = 0;
      EXPECT_EQ((item.run<2, 8, true>()), Words(8, 0));
      EXPECT_EQ(item.failed, 1u);
    }
  }
}

TEST(Division32, ResultsInPlaceOfOperands) {
  naive::Generator generate(8);
  for (const RowOperation operation : kOperations) {
    for (const unsigned which : {0u, 1u, 2u}) {
      const Words x = edge_words(generate, 16), y = edge_words(generate, 16);
      const Words n = sum(edge_words(generate, 16), {3});
      GuardedResult operands[] = {GuardedResult(16), GuardedResult(16), GuardedResult(16)};
      const Words* const values[] = {&x, &y, &n};
      for (unsigned i = 0; i < 3; ++i) std::ranges::copy(*values[i], operands[i].data());
      Case item;
      item.operation = operation;
      item.x = x;
      item.y = y;
      item.in_place = operands;
      item.replaced = which;
      item.n = n;
      item.result_words = 16;
      EXPECT_EQ((item.run<2, 8, true>()), expected(operation, x, y, {}, n));
    }
  }
}

}  // namespace
}  // namespace manymod::test
