// SPDX-License-Identifier: Apache-2.0
// A field in device code (field/field.hpp), by one thread or a group of threads for each instance, over the
// numbers of technique row32 or dpf52. It compiles for the host as well, for tests and for constants.
//
// Ranges. With R = 2^kRadixBits, an element is below B = 2^kBoundBits: B = R for Row32 and R / 2 for Dpf52. B
// does not depend on n except that n < B; every function reduces its result below B by multiples of n
// (modmul/row32/numbers.cuda.hpp, modmul/dpf52/numbers.cuda.hpp), also if the rules give it a magnitude above
// 1.
//
// With kThreads > 1 all threads of a warp call each function together.
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/thread_group.cuda.hpp"
#include "core/portable.hpp"
#include "field/magnitude.hpp"
#include "modinv/divsteps.cuda.hpp"
#include "modmul/dpf52/numbers.cuda.hpp"
#include "modmul/row32/numbers.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::field {

/// Technique: rows of 32-bit products with carry chains, on the integer multipliers. Any device.
struct Row32 {
  template <class Group, unsigned kPerThread>
  using Numbers = row32::Numbers<Group, kPerThread>;

  /// 32-bit words of each thread: an even number.
  MM_DEVICE static constexpr unsigned per_thread(unsigned words, unsigned threads) {
    return ((words + threads - 1) / threads + 1) / 2 * 2;
  }
};

/// The same without working memory, for products that are called: their operands are in local memory, from
/// where a product reads a word for each of its rows.
struct Row32Called : Row32 {
  template <class Group, unsigned kPerThread>
  using Numbers = row32::Numbers<Group, kPerThread, false>;
};

/// Technique: 52-bit digits in double precision. For devices with FP64 at half of the FP32 rate (sm_80,
/// sm_90, sm_100); on others it is slow.
struct Dpf52 {
  template <class Group, unsigned kPerThread>
  using Numbers = dpf52::Numbers<Group, kPerThread>;

  /// 52-bit digits of each thread: two bits stay free in all; from 11 digits on they are taken in blocks.
  MM_DEVICE static constexpr unsigned per_thread(unsigned words, unsigned threads) {
    unsigned digits = 2;
    while (52 * digits * threads < 32 * words + 2 || (digits > 10 && digits % (digits / 5) != 0)) ++digits;
    return digits;
  }
};

/// Arithmetic modulo one odd number n, 1 < n < 2^(32 kWords), for each group of kThreads neighbouring
/// threads. Functions: see field/field.hpp; and numbers besides residues, which are not in Montgomery form.
template <unsigned kBits, unsigned kThreads, class Technique, class Group = cuda::ThreadGroup<kThreads>>
class DeviceField {
  static_assert(kThreads != 0 && kThreads <= 32 && (kThreads & (kThreads - 1)) == 0,
                "kThreads must be 1, 2, 4, 8, 16 or 32: neighbouring threads of a warp share a number");
  static_assert(kBits >= 2, "kBits must be at least 2: moduli are odd numbers above 1");
  static_assert(Group::kSize == kThreads, "Group must be of kThreads threads");
  static constexpr unsigned kPerThread = Technique::per_thread((kBits + 31) / 32, kThreads);
  using Numbers = typename Technique::template Numbers<Group, kPerThread>;
  using Multiplier = typename Numbers::Multiplier;
  using Digits = typename Numbers::Element;
  using Words = integers::Words;

 public:
  static constexpr unsigned kWords = (kBits + 31) / 32;               ///< 32-bit words of a number in memory
  static constexpr unsigned kRadixBits = Multiplier::kRadixBits;      ///< R = 2^kRadixBits
  static constexpr unsigned kBoundBits = Numbers::kBoundBits;         ///< elements are below B = 2^kBoundBits
  static constexpr unsigned kElementWords = Multiplier::kLaneWords;   ///< 32-bit words of a thread's part
  static constexpr unsigned kSharedWords = Multiplier::kSharedWords;  ///< working memory of each thread

  /// A thread's part of an element, or of a number below B that is not in Montgomery form.
  struct Element : Carried {
    Digits digits;

    /// This thread's words of it, 0 <= j < kElementWords.
    MM_DEVICE std::uint32_t word(unsigned j) const { return Multiplier::lane_word(digits, j); }
    /// On input: all words together make a number below B.
    MM_DEVICE void set_word(unsigned j, std::uint32_t value) {
      Rules::set(*this, 1);
      Multiplier::set_lane_word(digits, j, value);
    }
  };
  using Mask = std::uint32_t;  ///< all ones or 0, the same in all threads of a group
  using Source = Words;
  using Sink = integers::WordsOut;

  /// Computes R^2 mod n by about log2(kRadixBits) squarings. The memory of `n` must stay valid as long as
  /// inverse and gcd are called. `memory`: kSharedWords words of this thread's own.
  MM_DEVICE DeviceField(const Words& n, LaneMemory memory, Group group)
      : DeviceField(n, memory, group, Digits{}) {
    radix_squared_ = radix_squared();
  }
  /// The same with R^2 mod n from memory, as to_limbs wrote radix_squared_modulo.
  MM_DEVICE static DeviceField with_radix_squared(const Words& n, const Words& radix_squared,
                                                  LaneMemory memory, Group group) {
    DeviceField field(n, memory, group, Digits{});
    field.radix_squared_ = Numbers::load(field.group_, radix_squared);
    return field;
  }
  /// r = R^2 mod n, a number below n.
  MM_DEVICE void radix_squared_modulo(Element& r) const {
    Element square;
    Rules::set(square, 1);
    square.digits = multiplier_.mul(radix_squared_, radix_squared_);
    from_montgomery(r, square);
  }

  [[nodiscard]] MM_DEVICE const Words& n() const { return n_; }

  // ---- the field ------------------------------------------------------------------------------------------

  MM_DEVICE void zero(Element& r) const { load(r, integers::SmallWord{0}); }
  MM_DEVICE void one(Element& r) const {
    Rules::set(r, 1);
    r.digits = Numbers::radix(group_, multiple_);
  }
  MM_DEVICE void from_limbs(Element& r, const Words& x) const {
    load(r, x);
    to_montgomery(r, r);
  }
  MM_DEVICE void to_limbs(const Sink& x, const Element& a) const {
    Element number;
    from_montgomery(number, a);
    store(x, number);
  }

  MM_DEVICE void mul(Element& r, const Element& a, const Element& b) const {
    Rules::mul(r, a, b);
    r.digits = multiplier_.mul(a.digits, b.digits);
  }
  MM_DEVICE void sqr(Element& r, const Element& a) const {
    Rules::sqr(r, a);
    r.digits = multiplier_.sqr(a.digits);
  }
  MM_DEVICE void add(Element& r, const Element& a, const Element& b) const {
    Rules::add(r, a, b);
    r.digits = Numbers::add(group_, a.digits, b.digits, multiple_);
  }
  template <unsigned kOfB = 1>
  MM_DEVICE void sub(Element& r, const Element& a, const Element& b) const {
    Rules::sub<kOfB>(r, a, b);
    r.digits = Numbers::sub(group_, a.digits, b.digits, multiple_);
  }
  template <unsigned kOfA = 1>
  MM_DEVICE void neg(Element& r, const Element& a) const {
    Rules::neg<kOfA>(r, a);
    r.digits = Numbers::sub(group_, Numbers::load(group_, integers::SmallWord{0}), a.digits, multiple_);
  }
  MM_DEVICE void half(Element& r, const Element& a) const {
    Rules::half(r, a);
    r.digits = Numbers::half(group_, a.digits, multiplier_.modulus());
  }
  /// Elements are below B: a copy.
  template <unsigned kOfA = kMaxMagnitude>
  MM_DEVICE void normalize_weak(Element& r, const Element& a) const {
    Rules::normalize_weak<kOfA>(r, a);
    r.digits = a.digits;
  }
  MM_DEVICE void cmov(Element& r, const Element& a, Mask mask) const {
    Rules::cmov(r, a);
    MM_UNROLL
    for (unsigned j = 0; j < kElementWords; ++j) {
      const std::uint32_t x = a.word(j), y = r.word(j);
      Multiplier::set_lane_word(r.digits, j, (x & mask) | (y & ~mask));
    }
  }
  /// A product.
  [[nodiscard]] MM_DEVICE Mask is_zero(const Element& a) const {
    Rules::read_reduced(a);
    Element number, nothing;
    from_montgomery(number, a);
    load(nothing, integers::SmallWord{0});
    return same(number, nothing);
  }
  /// A difference and a product.
  [[nodiscard]] MM_DEVICE Mask equal(const Element& a, const Element& b) const {
    Rules::read_reduced(a), Rules::read_reduced(b);
    Element difference;
    sub(difference, a, b);
    Rules::set(difference, 1);  // below B
    return is_zero(difference);
  }
  /// Two products, and (45907 bits + 30179) / 19929 division steps for bits = 32 kWords, by each thread of
  /// the group for itself.
  MM_DEVICE Mask inverse(Element& r, const Element& a) const {
    Element number;
    from_montgomery(number, a);
    Steps steps = divsteps(number);
    steps.template run<true>();
    const Mask exists = cuda::opaque(0 - static_cast<std::uint32_t>(steps.invertible()));
    load(number, InverseWords{steps, exists});
    to_montgomery(r, number);
    return exists;
  }

  // ---- numbers --------------------------------------------------------------------------------------------

  /// r = the number of words a[j], below 2^(32 kWords), which need not be below n.
  template <class Number>
  MM_DEVICE void load(Element& r, const Number& a) const {
    Rules::set(r, 1);
    r.digits = Numbers::load(group_, a);
  }
  /// On input: a number below 2^(32 kWords) as load and from_montgomery leave it.
  MM_DEVICE void store(const Sink& r, const Element& a) const { Numbers::store(group_, r, a.digits); }

  /// r = n.
  MM_DEVICE void modulus(Element& r) const {
    Rules::set(r, 1);
    r.digits = multiplier_.modulus();
  }
  /// r = a R mod n for a number a < B. One product.
  MM_DEVICE void to_montgomery(Element& r, const Element& a) const {
    Rules::read(a);
    Rules::set(r, 1);
    r.digits = multiplier_.mul(a.digits, radix_squared_);
  }
  /// r = a / R mod n, a number below n. One product.
  MM_DEVICE void from_montgomery(Element& r, const Element& a) const {
    Rules::read(a);
    Rules::set(r, 1);
    const Digits quotient = multiplier_.mul(a.digits, Numbers::load(group_, integers::SmallWord{1}));
    r.digits = Numbers::canonical(group_, quotient, multiplier_.modulus());
  }
  /// -1, 0 or 1 for numbers a < b, a = b, a > b, in all threads of the group.
  [[nodiscard]] MM_DEVICE int compare(const Element& a, const Element& b) const {
    bool less = false, greater = false;
    MM_UNROLL
    for (unsigned j = 0; j < kElementWords; ++j) {
      // Doubles that are not negative are ordered as their bit patterns are.
      const std::uint32_t x = a.word(j), y = b.word(j);
      const bool same_word = x == y;
      less = (x < y) | (same_word & less);
      greater = (x > y) | (same_word & greater);
    }
    const std::uint32_t lanes_less = group_.ballot(less), lanes_greater = group_.ballot(greater);
    return static_cast<int>(lanes_greater > lanes_less) - static_cast<int>(lanes_greater < lanes_less);
  }
  /// Whether two numbers have the same words.
  [[nodiscard]] MM_DEVICE Mask same(const Element& a, const Element& b) const {
    std::uint32_t difference = 0;
    MM_UNROLL
    for (unsigned j = 0; j < kElementWords; ++j) difference |= a.word(j) ^ b.word(j);
    return cuda::opaque(0 - static_cast<std::uint32_t>(group_.ballot(difference != 0) == 0));
  }
  /// r = gcd(n, a) for a number a < 2^(32 kWords), by division steps as inverse does.
  MM_DEVICE void gcd_with_modulus(Element& r, const Element& a) const {
    Steps steps = divsteps(a);
    steps.template run<false>();
    load(r, GcdWords{steps});
  }
  /// r = a R mod n for a number of any length. A product and a sum for each kWords words or a few more, and
  /// three products.
  MM_DEVICE void reduce(Element& r, const Words& a) const {
    constexpr unsigned kChunk = Multiplier::kWords;
    const Digits top =
        multiplier_.mul(radix_squared_, Numbers::load(group_, integers::PowerOfTwo{32 * kChunk - 1}));
    const Digits shift = Numbers::add(group_, top, top, multiple_);  // 2^(32 kChunk) in Montgomery form
    Digits sum = Numbers::load(group_, integers::SmallWord{0});
    MM_ROLLED
    for (unsigned left = (a.count() + kChunk - 1) / kChunk; left > 0; --left) {
      const integers::ChunkWords chunk{a, (left - 1) * kChunk, kChunk};
      sum = Numbers::add(group_, multiplier_.mul(sum, shift), Numbers::load(group_, chunk), multiple_);
    }
    Rules::set(r, 1);
    r.digits = multiplier_.mul(sum, radix_squared_);
  }

 protected:
  /// R^2 mod n as a number, which to_montgomery multiplies by.
  [[nodiscard]] MM_DEVICE Element squared_radix() const {
    Element r;
    Rules::set(r, 1);
    r.digits = radix_squared_;
    return r;
  }

 private:
  using Steps = modinv::Divsteps<32 * kWords>;

  struct GcdWords {
    const Steps& steps;
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return steps.gcd_word(j); }
  };
  struct InverseWords {
    const Steps& steps;
    std::uint32_t mask;
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return steps.inverse_word(j) & mask; }
  };

  Words n_;
  Group group_;
  Multiplier multiplier_;
  Digits multiple_;  // n 2^z, B/2 < n 2^z < B
  Digits radix_squared_;

  MM_DEVICE DeviceField(const Words& n, LaneMemory memory, Group group, const Digits& radix_squared)
      : n_(n),
        group_(group),
        multiplier_(group, memory, n),
        multiple_(Numbers::load(group, integers::ShiftedLeft{n, kBoundBits - integers::bit_length(n)})),
        radix_squared_(radix_squared) {}

  // 2^kRadixBits in Montgomery form, from its highest bit down.
  MM_DEVICE Digits radix_squared() const {
    unsigned top = 31;
    while ((kRadixBits >> top & 1) == 0) --top;
    Digits r = Numbers::radix(group_, multiple_);
    r = Numbers::add(group_, r, r, multiple_);
    MM_ROLLED
    for (; top > 0; --top) {
      r = multiplier_.sqr(r);
      if ((kRadixBits >> (top - 1) & 1) != 0) r = Numbers::add(group_, r, r, multiple_);
    }
    return r;
  }

  // Every thread has all of a.
  MM_DEVICE Steps divsteps(const Element& a) const {
    std::uint32_t all[Numbers::kTotalWords];
    Numbers::gather(group_, all, a.digits);
    return Steps(n_, Words(all, Numbers::kTotalWords));
  }
};

}  // namespace manymod::field
