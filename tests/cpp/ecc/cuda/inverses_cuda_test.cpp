// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/inverses.cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "ecc/cuda/any_group.cuda.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "support/lockstep_block.hpp"

namespace manymod::ecc::cuda {
namespace {

/// A block on the host, whose threads share `words`. They take turns by their numbers, up or down: a barrier
/// that is missing is found in one of these orders.
template <unsigned kThreads>
class SharedBlock : public test::LockstepBlock<kThreads> {
 public:
  SharedBlock(const test::LockstepBlock<kThreads>& block, std::vector<std::uint32_t>& words, bool downwards)
      : test::LockstepBlock<kThreads>(block), words_(&words), downwards_(downwards) {}

  [[nodiscard]] unsigned lane() const {
    const unsigned lane = test::LockstepBlock<kThreads>::lane();
    return downwards_ ? kThreads - 1 - lane : lane;
  }

  template <unsigned kWords>
  [[nodiscard]] std::uint32_t* shared_words() const {
    EXPECT_EQ(words_->size(), kWords);
    return words_->data();
  }

 private:
  std::vector<std::uint32_t>* words_;
  bool downwards_;
};

template <class F>
constexpr std::size_t kWordsOf = element_words<F>();

/// The inverses of `count` random elements by a block of kThreads threads, of which `threads` have items.
template <unsigned kThreads, class F>
void expect_inverses(const F& f, std::uint32_t threads, std::uint32_t count) {
  using Element = typename F::Element;
  std::mt19937 random(count);
  std::vector<std::array<std::uint32_t, F::kWords>> numbers(count);
  for (auto& number : numbers) std::ranges::generate(number, std::ref(random));
  const auto load = [&](std::uint32_t item, Element& x) {
    f.from_limbs(x, integers::Words(numbers[item].data(), F::kWords));
  };
  constexpr std::size_t kTree = 2 * kThreads * kWordsOf<F>;
  std::vector<std::uint32_t> scratch(count * kWordsOf<F>);
  std::vector<unsigned> times(count);
  const auto use = [&](std::uint32_t item, const Element& inverse) {
    Element x, one;
    load(item, x);
    f.one(one);
    f.mul(x, x, inverse);
    EXPECT_NE(f.equal(x, one), 0U) << item;
    ++times[item];
  };
  struct Job {
    std::uint32_t count, threads;
  };
  for (const bool downwards : {false, true}) {
    std::vector<std::uint32_t> tree(kTree, 0xdeadbeef);
    std::ranges::fill(times, 0U);
    test::run_lockstep_block<kThreads>([&](const test::LockstepBlock<kThreads>& lockstep) {
      const SharedBlock<kThreads> block(lockstep, tree, downwards);
      invert_chain(block, f, chain_of(Job{count, threads}, block.lane()), scratch.data(), count, load, use);
    });
    EXPECT_EQ(times, std::vector<unsigned>(count, 1));
    EXPECT_EQ(tree, std::vector<std::uint32_t>(kTree, 0));
  }
}

template <class F>
void expect_inverses_of_blocks(const F& f) {
  // Threads with one, several and no items; the last ones of a chain are missing.
  expect_inverses<32>(f, 32, 32);
  expect_inverses<32>(f, 32, 77);
  expect_inverses<32>(f, 5, 12);
  expect_inverses<2>(f, 2, 3);
  expect_inverses<128>(f, 128, 130);
}

TEST(Inverses, OfAllThreadsOfABlockModuloSpecialPrimes) {
  expect_inverses_of_blocks(P256::Field());
  expect_inverses_of_blocks(P521::Field());
}

TEST(Inverses, OfAllThreadsOfABlockModuloAnyPrime) {
  // 2^255 - 19
  std::array<std::uint32_t, 8> prime{};
  prime.fill(0xffffffff);
  prime.front() = 0xffffffed;
  prime.back() = 0x7fffffff;
  expect_inverses_of_blocks(AnyWeierstrass<256>::Inline({prime.data(), 8}, LaneMemory{}, SingleThread{}));
}

TEST(Inverses, OfABlockOfOneThread) {
  const P256::Field f;
  P256::Element x, inverse;
  f.one(x);
  f.add(x, x, x);
  inverse = x;
  invert_in_block(BlockOfOne(), f, f, inverse);
  f.mul(x, x, inverse);
  f.one(inverse);
  EXPECT_NE(f.equal(x, inverse), 0U);
}

}  // namespace
}  // namespace manymod::ecc::cuda
