// SPDX-License-Identifier: Apache-2.0
// Conversions between words of radix 2^32 and residues, both as products with constant matrices (docs/rns.md,
// "Conversions"), and the set-up of a modulus' constants. A thread works on two instances as in
// montgomery.cuda.hpp; all threads of the team call every function together. Constant-time in the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/byte_products.cuda.hpp"
#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/wide.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns/channel.cuda.hpp"
#include "modmul/rns/layout.hpp"
#include "modmul/rns/montgomery.cuda.hpp"
#include "modmul/rns/record.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::rns {

/// Conversions of one form and team.
template <class Team, Form kForm>
class Conversion {
  static constexpr unsigned kQ = kForm.quads();
  static constexpr unsigned kWhole = kForm.sizes().whole_quads();
  using Parts = Layout<kForm.channels, kForm.words>;
  static constexpr unsigned kInputSteps = Parts::kInput.steps;
  static constexpr unsigned kOutputQuads = Parts::kOutput.target_quads;
  // Word groups of a result that are in flight at a time. Measured: the narrowest forms lack registers for
  // two.
  static constexpr unsigned kQuadsInFlight = kQ < 9 ? 1 : 2;
  // Residues whose columns of the matrix are in flight at a time. For wide numbers the columns of one
  // suffice.
  static constexpr unsigned kResiduesInFlight = kInputSteps <= 8 ? Record::kChunkWords : 1;
  static_assert((kOutputQuads + 1) / 2 * Record::kChunkWords <=
                    kForm.scratch_slots() * kForm.element_record().words(),
                "scratch records hold the words of results");

 public:
  using Constants = Bases<Team, kForm.channels, kForm.words>;

  /// `constants`: all Parts::kBytes of them, in memory of any kind.
  MM_DEVICE Conversion(const Team& team, const Constants& bases, const std::byte* constants)
      : team_(team), bases_(bases), constants_(constants) {}

  /// Converts numbers below 2^(32 words) to elements, which are stored to `record`.
  MM_DEVICE void to_residues(const RecordPair& record, const WordSource (&number)[2]) const {
    cuda::ByteRows<kInputSteps> rows;
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      MM_UNROLL
      for (unsigned i = 0; i < 2 * kInputSteps; ++i) {
        rows.words[half][i] = number[half][4 * i + team_.lane() % 4];
      }
    }
    transform<kResiduesInFlight>(record, [&](unsigned k, std::uint32_t(&residue)[2]) {
      const Channel channel = bases_.channel(k);
      cuda::ByteSums<1> sums;
      team_.multiply(sums, rows, input_matrix(k), kQ);
      MM_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        residue[half] = corrected(remainder<false>(sums_of(sums, 0, half), channel), channel);
      }
    });
  }

  /// Computes the constants of the moduli n, as Montgomery reads them, and stores them to `record`. On input:
  /// 0 <= n < 2^(32 words). @return in threads 0 and 1 of the thread quad whether the first and the second
  /// modulus is prime to M_B; for one that is not, the constants are meaningless.
  MM_DEVICE bool set_up_moduli(const RecordPair& record, const WordSource (&n)[2]) const {
    to_residues(record, n);
    std::uint32_t zeros[2] = {0, 0};
    transform<1>(record, [&](unsigned k, std::uint32_t(&residue)[2]) {
      const Channel channel = bases_.channel(k);
      const bool split = kForm.is_split(k % kQ);
      if (k >= kQ) invert_both(residue, channel);
      MM_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const bool mine = !split || half == split_instance(team_.lane());
        residue[half] = product(residue[half], bases_.set_up(k), channel);
        zeros[half] += mine && k >= kQ && residue[half] == 0 ? 1 : 0;
        if (kForm.moduli_in_shared_memory && k >= kQ) {
          const ConstantByQuotient c = by_quotient(residue[half], channel);
          residue[half] = c.constant;
          std::uint32_t* const quotient =
              split ? record.split_quad + static_cast<unsigned>(Part::quotients)
                    : record[half].word(first_word<kForm.channels>(Part::quotients) + k - kQ);
          if (mine) *quotient = c.quotient;
        }
      }
    });
    MM_UNROLL
    for (std::uint32_t& sum : zeros) sum = team_.sum_over_thread_quad(sum);
    return (team_.lane() % 2 == 0 ? zeros[0] : zeros[1]) == 0;
  }

  /// Stores the integers in [0, n) that are congruent to the elements whose residues in A are the words of w.
  /// On input: the elements are below 2 n. Thread 0 of the thread quad writes the first result, thread 1 the
  /// second. Overwrites `record`.
  MM_DEVICE void to_words(const WordSink (&result)[2], const Operand<Team, kForm.channels>& w,
                          const WordSource (&n)[2], const RecordPair& record) const {
    // The columns are written where other threads may still read words of the split channel quad.
    team_.sync();
    store_columns(w, record);
    team_.sync();
    const unsigned thread = team_.lane() % 4, half = thread % 2;
    const bool is_writer = thread < 2;
    // Pointer arithmetic, because an array with a variable index would be in local memory.
    const std::ptrdiff_t distance = record[1].words - record[0].words;
    const Record own_record{record[0].words + static_cast<std::ptrdiff_t>(half) * distance};
    const Record first = own_record.at_lane_offset(-static_cast<int>(thread));
    const WordSource modulus = half == 0 ? n[0] : n[1];
    const bool is_reduced = resolve_carries(first, modulus, is_writer);
    WordSink sink = half == 0 ? result[0] : result[1];
    if (!is_writer) sink.count = 0;
    subtract(sink, first, modulus, is_reduced);
    team_.sync();
  }

 private:
  const Team& team_;
  const Constants& bases_;
  const std::byte* constants_;

  // The columns of residue k < 2 kQ of an element in the input matrices; those of A come first.
  MM_DEVICE const std::byte* input_matrix(unsigned k) const {
    const std::size_t at =
        k < kQ ? Parts::kWordsToA : Parts::kWordsToB - std::size_t{kQ} * MatrixShape::kQuadBytes;
    return constants_ + at + std::size_t{k} * MatrixShape::kQuadBytes;
  }

  /// Calls change(k, residues k of both instances) for all residues of the records, kBatch of them at a time;
  /// then for those of the split channel quad, where both residues are the thread's one. A loop, as this runs
  /// rarely and its code is long.
  template <unsigned kBatch, class Change>
  MM_DEVICE void transform(const RecordPair& record, Change change) const {
    MM_ROLLED
    for (unsigned index = 0; index < kForm.element_record().whole / Record::kChunkWords; ++index) {
      cuda::Chunk<Record::kChunkWords> chunk[2] = {record[0].load(index), record[1].load(index)};
      MM_ROLLED
      for (unsigned first = 0; first < Record::kChunkWords; first += kBatch) {
        MM_UNROLL
        for (unsigned i = 0; i < kBatch; ++i) {
          const unsigned k = index * Record::kChunkWords + first + i;
          std::uint32_t residue[2] = {chunk[0].word[0], chunk[1].word[0]};
          if (k < 2 * kWhole) change(k < kWhole ? k : k - kWhole + kQ, residue);
          MM_UNROLL
          for (unsigned half = 0; half < 2; ++half) push(chunk[half], residue[half]);
        }
      }
      record[0].store(index, chunk[0]);
      record[1].store(index, chunk[1]);
    }
    if constexpr (kForm.sizes().is_split()) {
      MM_ROLLED
      for (unsigned part = 0; part < 2; ++part) {
        std::uint32_t residue[2] = {record.split_quad[part], record.split_quad[part]};
        change(part * kQ + kWhole, residue);
        record.split_quad[part] = split_instance(team_.lane()) == 0 ? residue[0] : residue[1];
      }
    }
  }
  // Shifts a word in at the end. After as many calls as a chunk has words, the new words are in order.
  MM_DEVICE static void push(cuda::Chunk<Record::kChunkWords>& chunk, std::uint32_t word) {
    MM_UNROLL
    for (unsigned i = 0; i + 1 < Record::kChunkWords; ++i) chunk.word[i] = chunk.word[i + 1];
    chunk.word[Record::kChunkWords - 1] = word;
  }

  // Computes V_w = S_0 + 2^8 S_1 + 2^16 S_2 + 2^24 S_3 < 2^56 of result words w = 4 f + t, t the thread's
  // position in its thread quad, and stores it in words 2 f and 2 f + 1 of the thread's record.
  MM_DEVICE void store_columns(const Operand<Team, kForm.channels>& w, const RecordPair& record) const {
    MM_ROLLED
    for (unsigned f = 0; f < kOutputQuads; ++f) {
      cuda::ByteSums<1> sums;
      team_.multiply(sums, w.rows(), constants_ + Parts::kOut + f * MatrixShape::kQuadBytes, kOutputQuads);
      MM_UNROLL
      for (unsigned half = 0; half < 2; ++half) {
        const std::uint64_t low = sums.at(0, half, 0) + (std::uint64_t{sums.at(0, half, 1)} << 8);
        const std::uint64_t high = sums.at(0, half, 2) + (std::uint64_t{sums.at(0, half, 3)} << 8);
        const std::uint64_t v = low + (high << 16);
        std::uint32_t* const words = record[half].words + f / 2 * Record::kChunkStride + 2 * (f % 2);
        cuda::store_chunk<2>(words, {static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v >> 32)});
      }
    }
  }

  // The address of V_w, w = 4 f + t, from the record of the thread quad's first thread.
  MM_DEVICE static std::uint32_t* column(const Record& first, unsigned w) {
    const unsigned f = w / 4;
    return first.at_lane_offset(static_cast<int>(w % 4)).words + f / 2 * Record::kChunkStride + 2 * (f % 2);
  }

  // Replaces V_w by word w of the number for all w; carries are below 2^25, as V_w < 2^56. @return whether
  // the number is below n. is_writer: whether this thread stores the words; the others compute the same.
  MM_DEVICE bool resolve_carries(const Record& first, const WordSource& n, bool is_writer) const {
    std::uint64_t carry = 0, borrow = 0;
    MM_ROLLED
    for (unsigned begin = 0; begin < kOutputQuads; begin += kQuadsInFlight) {
      std::uint64_t v[4 * kQuadsInFlight];
      std::uint32_t modulus[4 * kQuadsInFlight];
      for_words(begin, [&](unsigned i, unsigned w) {
        const std::uint32_t* const words = column(first, w);
        v[i] = std::uint64_t{words[1]} << 32 | words[0];
        modulus[i] = n[w];
      });
      team_.sync();
      for_words(begin, [&](unsigned i, unsigned w) {
        carry += v[i];
        const auto word = static_cast<std::uint32_t>(carry);
        carry >>= 32;
        borrow = (std::uint64_t{word} - modulus[i] - borrow) >> 63;
        if (is_writer) column(first, w)[0] = word;
      });
    }
    return borrow != 0;
  }

  // Stores the number less n or, if is_reduced, the number itself. Constant-time.
  MM_DEVICE static void subtract(const WordSink& result, const Record& first, const WordSource& n,
                                 bool is_reduced) {
    const std::uint32_t mask = cuda::opaque(is_reduced ? 0 : ~std::uint32_t{0});
    std::uint64_t borrow = 0;
    MM_ROLLED
    for (unsigned begin = 0; begin < kOutputQuads; begin += kQuadsInFlight) {
      std::uint32_t word[4 * kQuadsInFlight], modulus[4 * kQuadsInFlight];
      for_words(begin, [&](unsigned i, unsigned w) {
        word[i] = *column(first, w);
        modulus[i] = n[w] & mask;
      });
      for_words(begin, [&](unsigned i, unsigned w) {
        const std::uint64_t difference = std::uint64_t{word[i]} - modulus[i] - borrow;
        borrow = difference >> 63;
        result.set(w, static_cast<std::uint32_t>(difference));
      });
    }
  }

  // Calls use(i, w) for words w = 4 begin + i of the kQuadsInFlight word groups from `begin` on.
  template <class Use>
  MM_DEVICE static void for_words(unsigned begin, Use use) {
    MM_UNROLL
    for (unsigned i = 0; i < 4 * kQuadsInFlight; ++i) {
      if (begin + i / 4 < kOutputQuads) use(i, 4 * begin + i);
    }
  }
};

}  // namespace manymod::rns
