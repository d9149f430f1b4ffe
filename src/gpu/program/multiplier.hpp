// SPDX-License-Identifier: Apache-2.0
// What a technique gives to the programs that run on CUDA devices: Montgomery arithmetic modulo one odd
// number, by a group of threads.
//
// A multiplier is a class template over the thread group and the shape, in
// src/modmul/<technique>/multiplier.cuda.hpp:
//
//   template <class Group, unsigned kPerThread> class Multiplier {
//     static constexpr unsigned kWords;        // moduli of up to so many 32-bit words
//     static constexpr unsigned kRadixBits;    // R = 2^kRadixBits; 0 where R is no power of two
//     static constexpr unsigned kLaneWords;    // 32-bit words of one lane's part of an element
//     static constexpr unsigned kSharedWords;  // 32-bit words of working memory that a lane needs
//     struct Element;                          // one lane's part of a number
//
//     // n: odd, 1 < n < 2^(32 kWords). `memory`: kSharedWords words of this lane's own
//     Multiplier(Group group, LaneMemory memory, WordSource n);
//
//     // Instead, with what ProgramJob::constants points to; one that may refuse moduli says in every lane
//     // whether it does. All that it returns is of no use then.
//     Multiplier(Group group, LaneMemory memory, WordSource n, const void* constants);
//     bool refused() const;
//
//     // a[j]: word j of a number below 2^(32 kWords), which need not be below n: a WordSource
//     template <class Words> Element from_words(const Words& a) const;
//     // r = a mod n, canonical, for a as mul(b, c) returns it where c is an integer below n
//     void to_words(WordSink r, const Element& a) const;
//     Element mul(const Element& a, const Element& b) const;  // a b / R mod n
//     Element sqr(const Element& a) const;
//
//     static std::uint32_t lane_word(const Element& a, unsigned j);  // 0 <= j < kLaneWords
//     static void set_lane_word(Element& a, unsigned j, std::uint32_t word);
//   };
//
// from_words, mul and sqr return numbers that mul and sqr take; how large those may be is the technique's own
// matter. All lanes of a group call together. No branch and no address depends on a number's value, so that
// every multiplier serves timing class secret.
#pragma once

#include "repr/word_memory.hpp"  // IWYU pragma: export
