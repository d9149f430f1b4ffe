// SPDX-License-Identifier: Apache-2.0
// Elements, and where they are kept in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/memory.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns/form.hpp"

namespace manymod::rns {

/// The instance of its two, 0 or 1, that a thread works for alone in a split four (layout.hpp).
MM_DEVICE unsigned split_instance(unsigned lane) { return lane / 2 % 2; }

/// A thread's words of one instance in whole fours: an element's residues, those of A first, or others. Read
/// and written four at a time; the fours of a warp's threads are neighbours.
struct Record {
  static constexpr unsigned kChunkWords = 4;
  static constexpr unsigned kWarp = 32;
  static constexpr unsigned kChunkStride = kWarp * kChunkWords;  ///< words from one four to the next

  std::uint32_t* words = nullptr;  ///< aligned to 16 bytes

  MM_DEVICE std::uint32_t* at(unsigned index) const { return words + std::size_t{index} * kChunkStride; }
  MM_DEVICE cuda::Chunk<kChunkWords> load(unsigned index) const {
    return cuda::load_chunk<kChunkWords>(at(index));
  }
  MM_DEVICE void store(unsigned index, const cuda::Chunk<kChunkWords>& chunk) const {
    cuda::store_chunk<kChunkWords>(at(index), chunk);
  }
  /// Of a record in global memory.
  MM_DEVICE void store_global(unsigned index, const cuda::Chunk<kChunkWords>& chunk) const {
    cuda::store_global_if(true, at(index), chunk);
  }
  MM_DEVICE std::uint32_t* word(unsigned i) const { return at(i / kChunkWords) + i % kChunkWords; }
  /// Of the warp's thread that is `lanes` behind.
  MM_DEVICE Record at_lane_offset(int lanes) const {
    return {words + static_cast<std::ptrdiff_t>(lanes) * std::ptrdiff_t{kChunkWords}};
  }
};

/// Those of a thread's two instances, and of its own one the words of a split four: one of each part.
struct RecordPair {
  Record of[2];
  std::uint32_t* split_quad = nullptr;

  MM_DEVICE const Record& operator[](unsigned half) const { return of[half]; }
  MM_DEVICE Record& operator[](unsigned half) { return of[half]; }
};

/// The records of a warp: that of slot e and half h is number 2 e + h. Its whole fours come first; behind
/// them are eight instances' words of split fours, of each those of the first channel and then of the second.
template <RecordShape kShape>
class Records {
 public:
  static constexpr unsigned kWords = kShape.words() * Record::kWarp;  ///< of a record of all threads
  static constexpr unsigned kSplitAt = kShape.whole * Record::kWarp;

  /// `words`: the warp's, aligned to 16 bytes.
  MM_DEVICE Records(std::uint32_t* words, std::uint32_t lane) : words_(words), lane_(lane) {}
  MM_DEVICE static Records of_warp(std::uint32_t* table, std::size_t warp, std::uint32_t slots,
                                   std::uint32_t lane) {
    return {table + warp * 2 * slots * kWords, lane};
  }

  MM_DEVICE Record at(std::uint32_t slot, std::uint32_t half) const {
    return {record(slot, half) + lane_ * Record::kChunkWords};
  }
  MM_DEVICE std::uint32_t* split_quad(std::uint32_t slot, std::uint32_t half) const {
    return record(slot, half) + kSplitAt + lane_ / 4 * kShape.split_quad +
           lane_ % 2 * (kShape.split_quad / 2);
  }
  /// Record 0 of slot `first` for the first instance, record `half` of slot `second` for the second.
  MM_DEVICE RecordPair pair(std::uint32_t first, std::uint32_t second, std::uint32_t half) const {
    const bool own = split_instance(lane_) != 0;
    return {{at(first, 0), at(second, half)}, split_quad(own ? second : first, own ? half : 0)};
  }
  MM_DEVICE RecordPair pair(std::uint32_t slot) const { return pair(slot, slot, 1); }
  MM_DEVICE std::uint32_t* words() const { return words_; }
  /// Its first word of all threads'.
  MM_DEVICE std::uint32_t* record(std::uint32_t slot, std::uint32_t half) const {
    return words_ + (std::size_t{2} * slot + half) * kWords;
  }

 private:
  std::uint32_t* words_;
  std::uint32_t lane_;
};

/// Words kFirst, kFirst + 1, .. of a record, to be asked for in this order. kOnce: they are in global memory
/// and not needed again soon.
template <unsigned kFirst, bool kStreaming = false>
class RecordReader {
 public:
  MM_DEVICE explicit RecordReader(const Record& record) : record_(record) {}

  MM_DEVICE std::uint32_t operator[](unsigned i) {
    const unsigned word = kFirst + i;
    if (word % Record::kChunkWords == 0 || i == 0) chunk_ = load(word / Record::kChunkWords);
    return chunk_.word[word % Record::kChunkWords];
  }

 private:
  Record record_;
  cuda::Chunk<Record::kChunkWords> chunk_{};

  MM_DEVICE cuda::Chunk<Record::kChunkWords> load(unsigned index) const {
    return kStreaming ? cuda::load_once(record_.at(index)) : record_.load(index);
  }
};

/// The same where words are asked for before they are used, at most kMost neighbours at a time.
template <unsigned kFirst, unsigned kMaxWords>
class PrefetchReader {
 public:
  MM_DEVICE explicit PrefetchReader(const Record& record) : record_(record) {}

  /// Of words i .. i + count - 1; those before are lost.
  MM_DEVICE void load(unsigned i, unsigned count) {
    begin_ = (kFirst + i) / Record::kChunkWords;
    const unsigned end = (kFirst + i + count - 1) / Record::kChunkWords + 1;
    MM_UNROLL
    for (unsigned index = 0; index < kChunks; ++index) {
      if (begin_ + index < end) chunks_[index] = record_.load(begin_ + index);
    }
  }
  MM_DEVICE std::uint32_t operator[](unsigned i) const {
    const unsigned word = kFirst + i;
    return chunks_[word / Record::kChunkWords - begin_].word[word % Record::kChunkWords];
  }

 private:
  // The most that kMost words can lie in.
  static constexpr unsigned kChunks = (kMaxWords + 2 * Record::kChunkWords - 2) / Record::kChunkWords;
  Record record_;
  unsigned begin_ = 0;
  cuda::Chunk<Record::kChunkWords> chunks_[kChunks]{};
};

/// Writes kCount words in their order from word kFirst on, a multiple of four.
template <unsigned kFirst, unsigned kCount>
class RecordWriter {
  static_assert(kFirst % Record::kChunkWords == 0);

 public:
  MM_DEVICE explicit RecordWriter(const Record& record) : record_(record) {}

  MM_DEVICE void set(unsigned i, std::uint32_t word) {
    chunk_.word[i % Record::kChunkWords] = word;
    if (i % Record::kChunkWords == Record::kChunkWords - 1 || i + 1 == kCount) {
      record_.store((kFirst + i) / Record::kChunkWords, chunk_);
    }
  }

 private:
  Record record_;
  cuda::Chunk<Record::kChunkWords> chunk_{};
};

/// A part of a record, in their order: a word for each of a thread's places in base A, in base B, and, of the
/// constants of moduli in shared memory, of the quotients of those in B.
enum class Part : unsigned { a, b, quotients };

/// Where the words of a part begin in a record; of a split four they are number `part`.
template <unsigned kChannels>
constexpr unsigned first_word(Part part) {
  return static_cast<unsigned>(part) * Sizes{kChannels, 0}.whole_quads();
}

/// A thread's part of two instances' numbers in registers: residues, in A of kappa times the number and below
/// m; in B below m or, where B is lazy (form.hpp), as remainders come, and with roots of rho times the
/// number.
template <unsigned kChannels>
class Element {
  static constexpr Sizes kSizes{kChannels, 0};
  static constexpr unsigned kWhole = kSizes.whole_quads();

 public:
  MM_DEVICE explicit Element(const RecordPair&) {
    MM_UNROLL
    for (unsigned k = 0; k < 2 * kWhole; ++k) residue_[0][k] = residue_[1][k] = 0;
    split_quad_[0] = split_quad_[1] = 0;
  }

  /// Reads and replaces the residues of one base in their order; of a split four the one that there is.
  template <Part kPart>
  class Cursor {
   public:
    MM_DEVICE explicit Cursor(Element& x) : x_(x) {}
    MM_DEVICE std::uint32_t get(unsigned half, unsigned q) const { return at(half, q); }
    MM_DEVICE void set(unsigned half, unsigned q, std::uint32_t residue) { at(half, q) = residue; }

   private:
    Element& x_;

    MM_DEVICE std::uint32_t& at(unsigned half, unsigned q) const {
      return q < kWhole ? x_.residue_[half][first_word<kChannels>(kPart) + q]
                        : x_.split_quad_[static_cast<unsigned>(kPart)];
    }
  };

  MM_DEVICE void load(const RecordPair& from) {
    RecordReader<0> reader[2] = {RecordReader<0>(from[0]), RecordReader<0>(from[1])};
    MM_UNROLL
    for (unsigned k = 0; k < 2 * kWhole; ++k) {
      residue_[0][k] = reader[0][k];
      residue_[1][k] = reader[1][k];
    }
    if constexpr (kSizes.is_split()) {
      const cuda::Chunk<2> own = cuda::load_chunk<2>(from.split_quad);
      split_quad_[0] = own.word[0];
      split_quad_[1] = own.word[1];
    }
  }
  MM_DEVICE void store(const RecordPair& to) const {
    MM_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      RecordWriter<0, 2 * kWhole> writer(to[half]);
      MM_UNROLL
      for (unsigned k = 0; k < 2 * kWhole; ++k) writer.set(k, residue_[half][k]);
    }
    if constexpr (kSizes.is_split()) {
      cuda::store_chunk<2>(to.split_quad, {{split_quad_[0], split_quad_[1]}});
    }
  }

 private:
  std::uint32_t residue_[2][2 * kWhole];
  std::uint32_t split_quad_[2];
};

/// The same in memory. Residues may be asked for by an index that is not a constant, as long as it is known
/// modulo four.
template <unsigned kChannels>
class StoredElement {
  static constexpr unsigned kQ = kChannels / 4;
  static_assert(kChannels % (4 * Record::kChunkWords) == 0, "each base is written alone");

 public:
  MM_DEVICE explicit StoredElement(const RecordPair& record) : record_(record) {}

  template <Part kPart>
  class Cursor {
   public:
    MM_DEVICE explicit Cursor(StoredElement& x)
        : reader_{Reader(x.record_[0]), Reader(x.record_[1])},
          writer_{Writer(x.record_[0]), Writer(x.record_[1])} {}
    MM_DEVICE std::uint32_t get(unsigned half, unsigned q) { return reader_[half][q]; }
    MM_DEVICE void set(unsigned half, unsigned q, std::uint32_t residue) { writer_[half].set(q, residue); }

   private:
    using Reader = RecordReader<first_word<kChannels>(kPart)>;
    using Writer = RecordWriter<first_word<kChannels>(kPart), kQ>;
    Reader reader_[2];
    Writer writer_[2];
  };

  MM_DEVICE void load(const RecordPair& from) { copy(record_, from); }
  MM_DEVICE void store(const RecordPair& to) const { copy(to, record_); }

 private:
  RecordPair record_;

  MM_DEVICE static void copy(const RecordPair& to, const RecordPair& from) {
    MM_ROLLED
    for (unsigned index = 0; index < 2 * kQ / Record::kChunkWords; ++index) {
      to[0].store(index, from[0].load(index));
      to[1].store(index, from[1].load(index));
    }
  }
};

}  // namespace manymod::rns
