// SPDX-License-Identifier: Apache-2.0
// Elements of a thread's two instances in registers (Element) or in memory (StoredElement), and the layout of
// memory: records and tables of records. form.hpp defines the terms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/cuda/memory.cuda.hpp"
#include "core/portable.hpp"
#include "modmul/rns/form.hpp"

namespace manymod::rns {

/// The instance, 0 or 1 of the thread quad's two, for which a thread works in the split channel quad
/// (layout.hpp).
MM_DEVICE unsigned split_instance(unsigned lane) { return lane / 2 % 2; }

/// A thread's words of one instance in whole channel quads: the residues of an element, those of A first, or
/// other words in the same order. They are read and written by chunks of 4 words; equal chunks of a warp's
/// threads are contiguous.
struct Record {
  static constexpr unsigned kChunkWords = 4;
  static constexpr unsigned kWarp = 32;
  static constexpr unsigned kChunkStride =
      kWarp * kChunkWords;  ///< words from one chunk of a thread to its next

  std::uint32_t* words = nullptr;  ///< aligned to 16 bytes

  /// The address of a chunk.
  MM_DEVICE std::uint32_t* at(unsigned index) const { return words + std::size_t{index} * kChunkStride; }
  /// Loads or stores a chunk.
  MM_DEVICE cuda::Chunk<kChunkWords> load(unsigned index) const {
    return cuda::load_chunk<kChunkWords>(at(index));
  }
  MM_DEVICE void store(unsigned index, const cuda::Chunk<kChunkWords>& chunk) const {
    cuda::store_chunk<kChunkWords>(at(index), chunk);
  }
  /// store() for a record in global memory: one instruction.
  MM_DEVICE void store_global(unsigned index, const cuda::Chunk<kChunkWords>& chunk) const {
    cuda::store_global_if(true, at(index), chunk);
  }
  /// The address of word i.
  MM_DEVICE std::uint32_t* word(unsigned i) const { return at(i / kChunkWords) + i % kChunkWords; }
  /// The record of the thread `lanes` lanes after this one in the warp (before it, if negative).
  MM_DEVICE Record at_lane_offset(int lanes) const {
    return {words + static_cast<std::ptrdiff_t>(lanes) * std::ptrdiff_t{kChunkWords}};
  }
};

/// The records of a thread's two instances, and the thread's words of the split channel quad: one for each
/// part, for the instance split_instance().
struct RecordPair {
  Record of[2];
  std::uint32_t* split_quad = nullptr;

  MM_DEVICE const Record& operator[](unsigned half) const { return of[half]; }
  MM_DEVICE Record& operator[](unsigned half) { return of[half]; }
};

/// The records of a warp in a table. The record of slot e and half h is number 2 e + h. Each has first the
/// whole channel quads of all threads; then the words of the split channel quad of eight instances, one for
/// each thread quad, for each instance those of the first channel before those of the second.
template <RecordShape kShape>
class Records {
 public:
  static constexpr unsigned kWords =
      kShape.words() * Record::kWarp;  ///< words of a record of all the warp's threads
  /// Where the words of the split channel quad begin in it.
  static constexpr unsigned kSplitAt = kShape.whole * Record::kWarp;

  /// `words`: the warp's table, aligned to 16 bytes; `lane` of the thread in its warp.
  MM_DEVICE Records(std::uint32_t* words, std::uint32_t lane) : words_(words), lane_(lane) {}
  /// The table of warp number `warp`, where each warp has `slots` slots.
  MM_DEVICE static Records of_warp(std::uint32_t* table, std::size_t warp, std::uint32_t slots,
                                   std::uint32_t lane) {
    return {table + warp * 2 * slots * kWords, lane};
  }

  /// This thread's part of a record.
  MM_DEVICE Record at(std::uint32_t slot, std::uint32_t half) const {
    return {record(slot, half) + lane_ * Record::kChunkWords};
  }
  /// This thread's words of the split channel quad in a record.
  MM_DEVICE std::uint32_t* split_quad(std::uint32_t slot, std::uint32_t half) const {
    return record(slot, half) + kSplitAt + lane_ / 4 * kShape.split_quad +
           lane_ % 2 * (kShape.split_quad / 2);
  }
  /// Record 0 of slot `first` for the first instance, and record `half` of slot `second` for the second.
  MM_DEVICE RecordPair pair(std::uint32_t first, std::uint32_t second, std::uint32_t half) const {
    const bool is_second = split_instance(lane_) != 0;
    return {{at(first, 0), at(second, half)}, split_quad(is_second ? second : first, is_second ? half : 0)};
  }
  /// Both instances' records of a slot.
  MM_DEVICE RecordPair pair(std::uint32_t slot) const { return pair(slot, slot, 1); }
  MM_DEVICE std::uint32_t* words() const { return words_; }
  /// The first word of a record of all threads.
  MM_DEVICE std::uint32_t* record(std::uint32_t slot, std::uint32_t half) const {
    return words_ + (std::size_t{2} * slot + half) * kWords;
  }

 private:
  std::uint32_t* words_;
  std::uint32_t lane_;
};

/// Reads words kFirst + i of a record for ascending i, a chunk at a time. kStreaming: they are in global
/// memory and not needed again soon, so that the L1 cache does not keep them.
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

/// Reads words kFirst + i of a record that load() has prefetched, at most kMaxWords consecutive ones at a
/// time.
template <unsigned kFirst, unsigned kMaxWords>
class PrefetchReader {
 public:
  MM_DEVICE explicit PrefetchReader(const Record& record) : record_(record) {}

  /// Prefetches words i .. i + count - 1 and drops those before. On input: count <= kMaxWords.
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
  // The most chunks among which kMaxWords consecutive words can lie.
  static constexpr unsigned kChunks = (kMaxWords + 2 * Record::kChunkWords - 2) / Record::kChunkWords;
  Record record_;
  unsigned begin_ = 0;
  cuda::Chunk<Record::kChunkWords> chunks_[kChunks]{};
};

/// Writes words kFirst + i of a record for ascending i < kCount, a chunk at a time. kFirst is a multiple of
/// 4.
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

/// The parts of a record in their order. Each has a word for each of a thread's places: residues or constants
/// of A, those of B and, for the constants of moduli in shared memory, the quotients of those of B.
enum class Part : unsigned { a, b, quotients };

/// Where the words of a part begin in a record. In the split channel quad each part has one word, number
/// `part`.
template <unsigned kChannels>
constexpr unsigned first_word(Part part) {
  return static_cast<unsigned>(part) * ConstantsLayout{kChannels, 0}.whole_quads();
}

/// A thread's share of two instances' elements, in registers. Residues in A are those of kappa times the
/// number, in [0, m). Residues in B are those of the number, with roots those of rho times the number; they
/// are in [0, m) or, where B is lazy (form.hpp), uncorrected remainders.
template <unsigned kChannels>
class Element {
  static constexpr ConstantsLayout kSizes{kChannels, 0};
  static constexpr unsigned kWhole = kSizes.whole_quads();

 public:
  /// The number 0. The record is for the interface of StoredElement.
  MM_DEVICE explicit Element(const RecordPair&) {
    MM_UNROLL
    for (unsigned k = 0; k < 2 * kWhole; ++k) residue_[0][k] = residue_[1][k] = 0;
    split_quad_[0] = split_quad_[1] = 0;
  }

  /// Reads and replaces the residues of one base for ascending q. In the split channel quad there is one
  /// residue, whatever `half` is.
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

  /// Copies the element from a record.
  MM_DEVICE void load(const RecordPair& from) {
    RecordReader<0> reader[2] = {RecordReader<0>(from[0]), RecordReader<0>(from[1])};
    MM_UNROLL
    for (unsigned k = 0; k < 2 * kWhole; ++k) {
      residue_[0][k] = reader[0][k];
      residue_[1][k] = reader[1][k];
    }
    if constexpr (kSizes.is_split()) {
      const cuda::Chunk<2> split_words = cuda::load_chunk<2>(from.split_quad);
      split_quad_[0] = split_words.word[0];
      split_quad_[1] = split_words.word[1];
    }
  }
  /// Copies the element to a record.
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

/// An element in memory, with the interface of Element. The index q of residues need not be a constant; only
/// q mod 4 has to be known at compile time.
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
