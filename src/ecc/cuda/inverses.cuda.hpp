// SPDX-License-Identifier: Apache-2.0
// Inverses of many elements for one inversion of each block: Montgomery's trick over the items of each
// thread, and then in a tree over the threads. A warp inverts 32 elements in the same time as one, so that
// the tree gains by the other warps of the block: they wait, and leave the multiprocessor to other blocks.
//
// A template argument `Block` is cuda::BlockGroup (arch/cuda/block_group.cuda.hpp) or BlockOfOne. All threads
// of a block call these functions together.
//
// Timing: constant-time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"
#include "ecc/cuda/elements.cuda.hpp"
#include "ecc/cuda/single_thread.cuda.hpp"
#include "field/running_product.hpp"

namespace manymod::ecc::cuda {

/// A block of one thread, on the host too.
using BlockOfOne = SingleThread;

/// Replaces x, which must not be 0, by its inverse. `inverter`: the same field as f, which inverts.
///
/// Node t + kSize of the tree is the element of thread t, and node i < kSize the product of nodes 2 i and
/// 2 i + 1; from node 1 on each is then replaced by its inverse. Word j of node i is tree[j 2 kSize + i], so
/// that neighbouring threads access neighbouring words. log2(kSize) products up and twice as many down. The
/// elements may be secret: the tree is zeroed.
template <class Block, class F, class Inverter>
MM_DEVICE void invert_in_block(const Block& block, const F& f, const Inverter& inverter,
                               typename F::Element& x) {
  if constexpr (Block::kSize == 1) {
    static_cast<void>(inverter.inverse(x, x));
  } else {
    using Element = typename F::Element;
    constexpr unsigned kNodes = 2 * Block::kSize;
    std::uint32_t* const tree = block.template shared_words<kNodes * element_words<F>()>();
    const auto node = [tree](unsigned i) { return Column{tree, kNodes, i}; };
    const auto load_node = [&](Element& r, unsigned i) { load_element(f, r, ConstColumn{tree, kNodes, i}); };
    const unsigned lane = block.lane();
    // An array: two variables nvcc 13.0 places in stack memory whose values are still needed, on P-521, whose
    // products are calls (see also Weierstrass in curves.cuda.hpp).
    Element children[2];
    Element &left = children[0], &right = children[1];
    store_element(f, node(Block::kSize + lane), x);
    MM_ROLLED
    for (unsigned width = Block::kSize / 2; width > 0; width /= 2) {
      block.sync();
      if (lane < width) {
        load_node(left, 2 * (width + lane));
        load_node(right, 2 * (width + lane) + 1);
        f.mul(left, left, right);
        store_element(f, node(width + lane), left);
      }
    }
    if (lane == 0) {
      static_cast<void>(inverter.inverse(left, left));
      store_element(f, node(1), left);
    }
    MM_ROLLED
    for (unsigned width = 1; width < Block::kSize; width *= 2) {
      block.sync();
      if (lane < width) {
        load_node(x, width + lane);
        load_node(left, 2 * (width + lane));
        load_node(right, 2 * (width + lane) + 1);
        f.mul(right, right, x);
        f.mul(left, left, x);
        store_element(f, node(2 * (width + lane)), right);
        store_element(f, node(2 * (width + lane) + 1), left);
      }
    }
    block.sync();
    load_node(x, Block::kSize + lane);
    f.zero(left);
    store_element(f, node(lane), left);
    store_element(f, node(Block::kSize + lane), left);
  }
}

/// What inverts for field::RunningProduct.
template <class Block, class F, class Inverter>
struct BlockInverter {
  const Block& block;
  const F& f;
  const Inverter& inverter;

  MM_DEVICE bool inverse(typename F::Element& r, const typename F::Element& x) const {
    r = x;
    invert_in_block(block, f, inverter, r);
    return true;
  }
};

/// The items of one thread: thread, thread + threads, .. Threads beyond the last one have none.
struct Chain {
  std::uint32_t first, step, end;
};

/// The items of thread `thread` of a job, of which threads 0 to job.threads - 1 have some.
template <class Job>
MM_DEVICE Chain chain_of(const Job& job, std::uint32_t thread) {
  return {thread, job.threads, thread < job.threads ? job.count : 0};
}

/// use(item, inverse) for the items of a chain, from the last to the first, with the inverses of what
/// load(item, x) gives, which must not be 0. Three products an item, and invert_in_block. `scratch`: room for
/// a column of elements of `count` items. `inverter`: the same field as f, which inverts.
template <class Block, class F, class Inverter, class Load, class Use>
MM_DEVICE void invert_chain(const Block& block, const F& f, const Inverter& inverter, const Chain& chain,
                            std::uint32_t* scratch, std::size_t count, const Load& load, const Use& use) {
  typename F::Element x, before;
  field::RunningProduct<F> product(f);
  std::uint32_t item = chain.first;
  MM_ROLLED
  for (; item < chain.end; item += chain.step) {
    store_element(f, Column{scratch, count, item}, product.before());
    load(item, x);
    product.push(f, x);
  }
  product.invert(BlockInverter<Block, F, Inverter>{block, f, inverter});
  MM_ROLLED
  while (item > chain.first) {
    item -= chain.step;
    load_element(f, before, ConstColumn{scratch, count, item});
    load(item, x);
    product.pop(f, before, x, before);
    use(item, before);
  }
}
template <class Block, class F, class Load, class Use>
MM_DEVICE void invert_chain(const Block& block, const F& f, const Chain& chain, std::uint32_t* scratch,
                            std::size_t count, const Load& load, const Use& use) {
  invert_chain(block, f, f, chain, scratch, count, load, use);
}

}  // namespace manymod::ecc::cuda
