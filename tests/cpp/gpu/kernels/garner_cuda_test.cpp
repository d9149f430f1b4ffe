// SPDX-License-Identifier: Apache-2.0
// The kernels for Garner's formula, one item at a time.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "gpu/kernels/garner_item.cuda.hpp"
#include "support/device_multiplier.hpp"

namespace manymod::test {
namespace {

gpu::DeviceOperand operand(const Words& words) {
  return {words.data(), static_cast<std::uint32_t>(words.size()), 0};
}

// Numbers with long carries and borrows among them.
std::vector<Words> numbers(naive::Generator& generate, std::size_t words) {
  std::vector<Words> all{Words(words, 0), Words(words, 0xffffffff), word_number(1, words),
                         power_of_two(32 * words - 1, words)};
  for (int i = 0; i < 6; ++i) all.push_back(edge_words(generate, words));
  return all;
}

TEST(DeviceGarner, Differences) {
  naive::Generator generate(41);
  for (const std::size_t words : {1u, 2u, 5u, 32u}) {
    const std::vector<Words> all = numbers(generate, words);
    for (const Words& a : all) {
      for (const Words& b : all) {
        const Words& p = all[generate.below(all.size())];
        GuardedResult result(words);
        GuardedColumns memory(1, 2 * words);
        gpu::GarnerDifferenceJob job;
        job.a = operand(a);
        job.b = operand(b);
        job.p = operand(p);
        job.words = static_cast<std::uint32_t>(words);
        job.count = 1;
        job.result = result.data();
        gpu::compute_garner_difference(job, 0, {memory.column(0), memory.stride()});
        // As sums, which naive.hpp has: b + result = a, or a + p where a < b, up to 2^(32 words).
        const bool less = !naive::at_least(a, b);
        const Words found = result.words();
        std::uint64_t left = 0, right = 0;
        for (std::size_t i = 0; i < words; ++i) {
          left += std::uint64_t{b[i]} + found[i];
          right += std::uint64_t{a[i]} + (less ? p[i] : 0);
          ASSERT_EQ(static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right));
          left >>= 32;
          right >>= 32;
        }
        ASSERT_TRUE(result.guards_intact() && memory.guards_intact());
      }
    }
  }
}

TEST(DeviceGarner, Sums) {
  naive::Generator generate(42);
  for (const std::size_t words : {1u, 2u, 5u, 32u, 128u}) {
    const std::vector<Words> all = numbers(generate, words);
    for (const Words& q : all) {
      for (const Words& h : all) {
        const Words& b = all[generate.below(all.size())];
        Words expected = naive::multiply(q, h);
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          carry += std::uint64_t{expected[i]} + (i < words ? b[i] : 0);
          expected[i] = static_cast<std::uint32_t>(carry);
          carry >>= 32;
        }
        for (const std::size_t result_words : {2 * words, 2 * words - 1}) {
          GuardedResult result(result_words);
          GuardedColumns memory(1, 2 * words);
          gpu::GarnerSumJob job;
          job.b = operand(b);
          job.q = operand(q);
          job.h = operand(h);
          job.words = static_cast<std::uint32_t>(words);
          job.count = 1;
          job.result = result.data();
          job.result_words = static_cast<std::uint32_t>(result_words);
          gpu::compute_garner_sum(job, 0, {memory.column(0), memory.stride()});
          ASSERT_EQ(result.words(),
                    Words(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(result_words)));
          ASSERT_TRUE(result.guards_intact() && memory.guards_intact());
        }
      }
    }
  }
}

}  // namespace
}  // namespace manymod::test
