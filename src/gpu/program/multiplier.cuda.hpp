// SPDX-License-Identifier: Apache-2.0
// The interface of a technique to the interpreter of programs (interpreter.cuda.hpp): Montgomery arithmetic
// modulo one odd number n, by a group of threads.
//
// A multiplier is a class template over the thread group and the shape, in
// src/modmul/<technique>/multiplier.cuda.hpp:
//
//   template <class Group, unsigned kPerThread> class Multiplier {
//     static constexpr unsigned kWords;        // moduli have at most that many 32-bit words
//     static constexpr unsigned kRadixBits;    // R = 2^kRadixBits; 0 if R is not a power of two
//     static constexpr unsigned kLaneWords;    // 32-bit words of one lane's part of an element
//     static constexpr unsigned kSharedWords;  // 32-bit words of working memory per lane
//     static constexpr unsigned kCopies;       // optional: so many neighbouring lanes hold the same part
//     struct Element;                          // one lane's part of a number
//
//     // On input: n odd, 1 < n < 2^(32 kWords). `memory`: kSharedWords words that belong to this lane; of a
//     // group that is a block (kernel.cuh), those of all lanes, which share them.
//     Multiplier(Group group, LaneMemory memory, WordSource n);
//
//     // Instead, of a technique with constants: `constants` is ProgramJob::constants. A multiplier that may
//     // refuse moduli has refused(), which returns the same in all lanes; if it returns true, results are
//     // undefined.
//     Multiplier(Group group, LaneMemory memory, WordSource n, const void* constants);
//     bool refused() const;
//
//     // On input: `a` is a WordSource of a number below 2^(32 kWords), which need not be below n.
//     template <class Words> Element from_words(const Words& a) const;
//     // r = a mod n, canonical. On input: a = mul(b, c) where c is an integer below n.
//     void to_words(WordSink r, const Element& a) const;
//     Element mul(const Element& a, const Element& b) const;  // a b / R mod n
//     Element sqr(const Element& a) const;                    // a^2 / R mod n
//
//     // Word j of this lane's part, 0 <= j < kLaneWords: how elements are kept in tables.
//     static std::uint32_t lane_word(const Element& a, unsigned j);
//     static void set_lane_word(Element& a, unsigned j, std::uint32_t word);
//     // With kCopies: the bitwise or of the words of the lanes that hold the same part.
//     std::uint32_t joined_copies(std::uint32_t word) const;
//   };
//
// Ranges: from_words, mul and sqr return numbers that mul and sqr accept; each technique states its own
// bound. Convergence: all lanes of a group call every function together. Timing: constant; no branch and no
// address depends on a number's value.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "repr/word_memory.hpp"

namespace manymod::gpu {

/// M has all members above except the constructor.
template <class M>
concept ProgramMultiplier =
    std::default_initializable<typename M::Element> && std::copyable<typename M::Element> &&
    requires(const M& m, const typename M::Element& a, typename M::Element& r, WordSource words,
             WordSink sink, unsigned j, std::uint32_t word) {
      typename std::integral_constant<unsigned, M::kWords>;
      typename std::integral_constant<unsigned, M::kRadixBits>;
      typename std::integral_constant<unsigned, M::kLaneWords>;
      typename std::integral_constant<unsigned, M::kSharedWords>;
      { m.from_words(words) } -> std::same_as<typename M::Element>;
      { m.to_words(sink, a) } -> std::same_as<void>;
      { m.mul(a, a) } -> std::same_as<typename M::Element>;
      { m.sqr(a) } -> std::same_as<typename M::Element>;
      { M::lane_word(a, j) } -> std::same_as<std::uint32_t>;
      { M::set_lane_word(r, j, word) } -> std::same_as<void>;
    };

/// M's constructor takes the constants of its technique.
template <class M, class Group>
concept MultiplierWithConstants = std::constructible_from<M, Group, LaneMemory, WordSource, const void*>;

/// M is a multiplier for groups of that type.
template <class M, class Group>
concept MultiplierOf = ProgramMultiplier<M> && (MultiplierWithConstants<M, Group> ||
                                                std::constructible_from<M, Group, LaneMemory, WordSource>);

/// M may refuse moduli.
template <class M>
concept RefusingMultiplier = requires(const M& m) {
  { m.refused() } -> std::same_as<bool>;
};

/// How many neighbouring lanes hold the same part of an element.
template <class M>
constexpr unsigned copies_of() {
  if constexpr (requires { M::kCopies; }) {
    return M::kCopies;
  } else {
    return 1;
  }
}

}  // namespace manymod::gpu
