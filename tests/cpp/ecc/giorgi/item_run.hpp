// SPDX-License-Identifier: Apache-2.0
// Runs the kernels' code of src/ecc/giorgi on the host, item after item, as one block whose threads follow
// each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ecc/giorgi/operations.cuda.hpp"

namespace manymod::test {

using Words = std::vector<std::uint32_t>;

/// X, Y, Z below n, of equally many words.
struct JacobianWords {
  Words x, y, z;
};

/// Items of one curve. All numbers have as many words as `n`.
struct PointItems {
  Words n, a;
  bool a_is_minus_three = false;
  std::vector<JacobianWords> p, q;
  std::vector<Words> scalars;
  unsigned bits = 0, steps = 0;
  bool packed = false;
};

/// r = 2^exponent mod n, by doubling.
inline Words power_of_two_mod(const Words& n, unsigned exponent) {
  Words r(n.size(), 0);
  r[0] = 1;
  for (unsigned i = 0; i < exponent; ++i) {
    std::uint64_t carry = 0;
    for (std::uint32_t& word : r) {
      carry += std::uint64_t{word} << 1;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    Words less = r;
    std::int64_t borrow = 0;
    for (std::size_t j = 0; j < n.size(); ++j) {
      borrow += static_cast<std::int64_t>(r[j]) - n[j];
      less[j] = static_cast<std::uint32_t>(borrow & 0xffffffff);
      borrow >>= 32;
    }
    if (static_cast<std::int64_t>(carry) + borrow >= 0) r = less;
  }
  return r;
}

/// Words in the order that PointJob describes.
class Interleaved {
 public:
  Interleaved(std::size_t items, std::size_t words)
      : stride_(items + 3), words_(words), all_(3 * stride_ * words) {}
  void put(std::size_t coordinate, std::size_t item, const Words& number) {
    for (std::size_t j = 0; j < words_; ++j) all_[(coordinate * words_ + j) * stride_ + item] = number[j];
  }
  [[nodiscard]] Words get(std::size_t coordinate, std::size_t item) const {
    Words r(words_);
    for (std::size_t j = 0; j < words_; ++j) r[j] = all_[(coordinate * words_ + j) * stride_ + item];
    return r;
  }
  void put(const std::vector<JacobianWords>& points) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      put(0, i, points[i].x), put(1, i, points[i].y), put(2, i, points[i].z);
    }
  }
  [[nodiscard]] std::uint32_t* data() { return all_.data(); }
  [[nodiscard]] std::uint32_t stride() const { return static_cast<std::uint32_t>(stride_); }

 private:
  std::size_t stride_, words_;
  Words all_;
};

/// The results of an operation by numbers of kWords words.
template <class Technique, unsigned kWords, ecc::giorgi::Operation kOperation>
std::vector<JacobianWords> run_items(const PointItems& items) {
  using Numbers = ecc::giorgi::Numbers<Technique, kWords>;
  const std::size_t count = items.p.size(), words = items.n.size();
  Words curve = items.n;
  curve.insert(curve.end(), items.a.begin(), items.a.end());
  const Words square = power_of_two_mod(items.n, 2 * Numbers::kRadixBits);
  curve.insert(curve.end(), square.begin(), square.end());
  Interleaved p(count, words), q(count, words), scalars(count, words), result(count, words);
  p.put(items.p);
  q.put(items.q);
  for (std::size_t i = 0; i < items.scalars.size(); ++i) scalars.put(0, i, items.scalars[i]);
  const ecc::giorgi::PointJob job{.curve = curve.data(),
                                  .p = p.data(),
                                  .q = q.data(),
                                  .scalars = scalars.data(),
                                  .result = result.data(),
                                  .count = static_cast<std::uint32_t>(count),
                                  .stride = p.stride(),
                                  .words = static_cast<std::uint32_t>(words),
                                  .bits = items.bits,
                                  .steps = items.steps,
                                  .a_is_minus_three = items.a_is_minus_three,
                                  .packed = items.packed};
  constexpr unsigned kThreads = 4;
  // One word even where a form uses none: a kernel's address of shared memory is not null.
  Words shared(std::max(1U, Numbers::shared_words(kThreads, ecc::giorgi::numbers_of(kOperation))),
               0xdeadbeef);
  for (std::uint32_t item = 0; item < job.count; ++item) {
    const ecc::giorgi::BlockMemory memory{shared.data(), item % kThreads, kThreads};
    ecc::giorgi::Item<Numbers>(job, item, memory).template run<kOperation>();
  }
  std::vector<JacobianWords> r;
  for (std::size_t i = 0; i < count; ++i) r.push_back({result.get(0, i), result.get(1, i), result.get(2, i)});
  return r;
}

}  // namespace manymod::test
