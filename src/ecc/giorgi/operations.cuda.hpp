// SPDX-License-Identifier: Apache-2.0
// The operations of Giorgi, Izard, Tisserand, "Comparison of modular arithmetic algorithms on GPUs", section
// 3, each by one thread for an item: repeated additions and doublings of points (its table 3), k P by
// right-to-left double-and-add (section 3.2, table 5) and by w-NAF with w = 2 and 3 (section 3.3). As in the
// paper a thread reads its operands, converts them to Montgomery form, computes, and converts the result
// back.
//
// Right for every scalar and every point. The paper's additions have exceptional cases (points.cuda.hpp). For
// k below the order of P these methods meet the first addition, to nothing, and in w-NAF the last one, where
// the last digit of k = n - 2 is -1 or that of k = n - 6 is -3. Testing each addition would cost a product in
// some techniques. So items are computed without tests, and again with them if the result has Z = 0: that is
// where exceptions lead, and where the result is infinity.
//
// The threads of a warp execute an addition whenever one of them has a bit or a digit to add.
//
// Timing: variable-time, for public points and scalars.
#pragma once

#include "ecc/giorgi/job.hpp"
#include "ecc/giorgi/naf_digits.cuda.hpp"
#include "ecc/giorgi/numbers.cuda.hpp"
#include "ecc/giorgi/points.cuda.hpp"

namespace manymod::ecc::giorgi {

/// Numbers of a thread beside the sums of products: those of Curve, a result, P or Q, and 3 P.
MM_DEVICE constexpr unsigned numbers_of(Operation operation) {
  constexpr unsigned kIntermediate = 3, kPoint = 3;
  switch (operation) {
    case Operation::twice:
      return kIntermediate + kPoint;
    case Operation::naf3:
      return kIntermediate + 3 * kPoint;
    default:
      return kIntermediate + 2 * kPoint;
  }
}

/// One item of a job.
template <class Numbers>
class Item {
  using Points = Point<Numbers>;

 public:
  MM_DEVICE Item(const PointJob& job, std::uint32_t item, const BlockMemory& memory)
      : job_(job), item_(item), curve_(job, memory) {}

  template <Operation kOperation>
  MM_DEVICE void run() {
    constexpr bool kHasExceptions = kOperation != Operation::twice && kOperation != Operation::multiply;
    Points result = curve_.point(Curve<Numbers>::kNumbers);
    MM_ROLLED
    for (bool exceptions = false;; exceptions = true) {
      if constexpr (kOperation == Operation::add) {
        add(result, exceptions);
      } else if constexpr (kOperation == Operation::multiply) {
        multiply(result);
      } else if constexpr (kOperation == Operation::twice) {
        twice(result);
      } else if constexpr (kOperation == Operation::right_to_left) {
        right_to_left(result, exceptions);
      } else {
        naf<kOperation == Operation::naf2 ? 2 : 3>(result, exceptions);
      }
      if (!kHasExceptions || exceptions || !curve_.is_infinity(result)) break;
    }
    curve_.store(job_, item_, result);
  }

 private:
  const PointJob& job_;
  std::uint32_t item_;
  Curve<Numbers> curve_;

  /// Storage of point `index` beside the result, which is 0.
  MM_DEVICE Points point(unsigned index) const { return curve_.point(Curve<Numbers>::kNumbers + 3 * index); }
  MM_DEVICE ItemWords scalar() const { return {job_.scalars + item_, job_.stride, (job_.bits + 31) / 32}; }

  MM_DEVICE void add(Points& sum, bool exceptions) {
    Points q = point(1);
    curve_.load(sum, job_, job_.p, item_);
    curve_.load(q, job_, job_.q, item_);
    bool empty = false;
    MM_ROLLED
    for (std::uint32_t step = 0; step < job_.steps; ++step) {
      if (curve_.accumulate(sum, empty, q, false, exceptions) == Sum::equal_operands) curve_.twice(sum);
    }
  }

  MM_DEVICE void multiply(Points& p) {
    Points q = point(1);
    curve_.load(p, job_, job_.p, item_);
    curve_.load(q, job_, job_.q, item_);
    MM_ROLLED
    for (std::uint32_t step = 0; step < job_.steps; ++step) curve_.multiply(p.x, q.x);
  }

  MM_DEVICE void twice(Points& p) {
    curve_.load(p, job_, job_.p, item_);
    MM_ROLLED
    for (std::uint32_t step = 0; step < job_.steps; ++step) curve_.twice(p);
  }

  /// In step i the power 2^i P is added to the sum if bit i of k is 1, and doubled.
  MM_DEVICE void right_to_left(Points& sum, bool exceptions) {
    Points power = point(1);
    curve_.load(power, job_, job_.p, item_);
    curve_.infinity(sum);
    bool empty = true;
    const ItemWords k = scalar();
    MM_ROLLED
    for (unsigned i = 0; i < job_.bits; ++i) {
      Sum found = Sum::computed;
      if ((k[i / 32] >> (i % 32) & 1) != 0) {
        found = curve_.accumulate(sum, empty, power, false, exceptions);
      }
      curve_.twice(power);
      if (found == Sum::equal_operands) curve_.copy(sum, power, false);
    }
  }

  /// From the highest digit down the sum is doubled, and a multiple of P added where the digit is not 0. For
  /// w = 3 the same loop first computes 3 P, of the digits 1, 1.
  template <unsigned kWidth>
  MM_DEVICE void naf(Points& sum, bool exceptions) {
    const NafDigits<Numbers::kWords, kWidth> digits(scalar(), job_.bits, job_.packed);
    Points once = point(1);
    Points thrice = kWidth == 3 ? point(2) : once;
    curve_.load(once, job_, job_.p, item_);
    MM_ROLLED
    for (bool multiples = kWidth == 3;; multiples = false) {
      curve_.infinity(sum);
      bool empty = true;
      MM_ROLLED
      for (unsigned left = multiples ? 2 : job_.bits + 1; left > 0; --left) {
        std::int32_t digit = multiples ? 1 : digits[left - 1];
        Sum found = Sum::computed;
        do {
          curve_.twice(sum);  // a second time for equal operands, which sum to twice the sum
          found = digit == 0 ? Sum::computed : add_digit<kWidth>(sum, empty, once, thrice, digit, exceptions);
          digit = 0;
        } while (found == Sum::equal_operands);
      }
      if (!multiples) return;
      curve_.copy(thrice, sum, false);
    }
  }

  /// sum = sum + digit P. On input: digit is not 0, |digit| < 2^(kWidth - 1).
  template <unsigned kWidth>
  MM_DEVICE Sum add_digit(Points& sum, bool& empty, const Points& once, const Points& thrice,
                          std::int32_t digit, bool exceptions) {
    if constexpr (kWidth == 2) {
      static_cast<void>(thrice);
      return curve_.accumulate(sum, empty, once, digit < 0, exceptions);
    } else {
      Points multiple = once;  // of values or of places, as Numbers has them
      if (digit == 3 || digit == -3) multiple = thrice;
      return curve_.accumulate(sum, empty, multiple, digit < 0, exceptions);
    }
  }
};

}  // namespace manymod::ecc::giorgi
