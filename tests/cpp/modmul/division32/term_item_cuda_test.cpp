// SPDX-License-Identifier: Apache-2.0
// The kernels of division32 for sums, dot products and products of terms, on the host.
#include "modmul/division32/term_item.cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "modmul/division32/shapes.cuda.hpp"
#include "modmul/division32/shared_divisor.hpp"
#include "row_words.hpp"

namespace manymod::test {
namespace {

using division32::RowOperation;

/// Items with terms, in one warp where it holds all their parts.
template <unsigned kThreads, unsigned kPerThread>
class Terms {
  static constexpr unsigned kWords = kThreads * kPerThread;
  static constexpr std::size_t kItems = 2;

 public:
  Terms(RowOperation operation, std::size_t terms, std::size_t parts, naive::Generator& generate)
      : operation_(operation), terms_(terms), parts_(parts) {
    for (std::size_t i = 0; i < kItems * terms; ++i) {
      x_.push_back(i % 3 == 0 ? Words(kWords, 0xffffffff) : edge_words(generate, kWords));
    }
    // One set for all items.
    for (std::size_t i = 0; i < terms; ++i) {
      y_.push_back(i % 2 == 0 ? Words(kWords, 0xffffffff) : edge_words(generate, kWords));
    }
    for (std::size_t i = 0; i < kItems; ++i) n_.push_back(sum(edge_words(generate, kWords), {2}));
    for (Words& n : n_) n[0] |= significant_words(n) == 0 ? 1 : 0;
  }

  template <bool kOwn>
  void check() {
    const Words x = joined(x_), y = joined(y_), n = joined(n_);
    const std::size_t results = kItems * parts_;
    division32::Job job{};
    job.operation = operation_;
    job.x = rows_at(x.data(), kWords, terms_);
    job.y = rows_at(y.data(), kWords, terms_, true);
    job.modulus = rows_at(n.data(), kWords);
    job.terms = static_cast<std::uint32_t>(terms_);
    job.parts = static_cast<std::uint32_t>(parts_);
    job.count = static_cast<std::uint32_t>(results);
    GuardedResult result(results * kWords);
    job.result = result.data();
    job.result_width = kWords;
    job.result_stride = kWords;
    job.result_quads = true;
    if (kOwn) {
      job.modulus_bits = 32 * kWords;
    } else {
      const std::size_t limbs = (significant_words(n_[0]) + 1) / 2;
      job.divisor = division32::shared_divisor(naive::limbs(n_[0], limbs), kWords);
    }
    run<kOwn>(job);
    EXPECT_TRUE(result.guards_intact());
    const Words all = result.words();
    for (std::size_t i = 0; i < results; ++i) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * kWords);
      const Words found(first, first + kWords);
      ASSERT_EQ(found, expected(i / parts_, i % parts_, n_[kOwn ? i / parts_ : 0]))
          << kThreads << "x" << kPerThread << " own " << kOwn << " operation " << int(operation_) << " terms "
          << terms_ << " result " << i;
    }
  }

 private:
  RowOperation operation_;
  std::size_t terms_, parts_;
  std::vector<Words> x_, y_, n_;

  static Words joined(const std::vector<Words>& numbers) {
    Words all;
    for (const Words& number : numbers) all.insert(all.end(), number.begin(), number.end());
    return all;
  }

  template <bool kOwn>
  static void run(const division32::Job& job) {
    constexpr unsigned kGroups = 32 / kThreads;
    for (unsigned first = 0; first < job.count; first += kGroups) {
      const unsigned groups = std::min(kGroups, job.count - first);
      GuardedColumns memory(groups, kWords);
      run_lockstep_warp<kThreads>(groups, [&](LockstepGroup<kThreads> group, unsigned index) {
        const division32::TermItem<LockstepGroup<kThreads>, kPerThread, kOwn> item(
            group, {memory.column(index), memory.stride()}, job, first + index);
        if (job.operation == RowOperation::sum) {
          item.add(true);
        } else {
          item.multiply(true);
        }
      });
      EXPECT_TRUE(memory.guards_intact());
    }
  }

  [[nodiscard]] Words expected(std::size_t item, std::size_t part, const Words& n) const {
    const bool multiplies = operation_ == RowOperation::product;
    Words r = residue(word_number(multiplies ? 1 : 0, kWords), n);
    for (std::size_t t = part; t < terms_; t += parts_) {
      const Words& x = x_[item * terms_ + t];
      if (multiplies) {
        r = residue(naive::multiply(r, x), n);
      } else if (operation_ == RowOperation::dot) {
        r = residue(sum(sized(naive::multiply(x, y_[t]), 2 * kWords + 1), r), n);
      } else {
        r = residue(sum(sized(x, kWords + 1), r), n);
      }
    }
    return r;
  }
};

template <unsigned kThreads, unsigned kPerThread>
void check_terms(std::initializer_list<RowOperation> operations) {
  naive::Generator generate(kThreads + kPerThread);
  struct Shares {
    std::size_t terms, parts;
  };
  for (const RowOperation operation : operations) {
    for (const auto& [terms, parts] : {Shares{1, 1}, Shares{2, 1}, Shares{5, 2}, Shares{4, 3}}) {
      Terms<kThreads, kPerThread> items(operation, terms, parts, generate);
      items.template check<false>();
      items.template check<true>();
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Division32Terms, Sums){
#define SHAPE(threads, per_thread, blocks, own_blocks) check_terms<threads, per_thread>({RowOperation::sum});
    MM_DIVISION32_SUMS(SHAPE)
#undef SHAPE
}

TEST(Division32Terms, DotProductsAndProducts) {
#define SHAPE(threads, per_thread, blocks, own_blocks) \
  check_terms<threads, per_thread>({RowOperation::dot, RowOperation::product});
  MM_DIVISION32_TERM_PRODUCTS(SHAPE)
#undef SHAPE
}

}  // namespace
}  // namespace manymod::test
