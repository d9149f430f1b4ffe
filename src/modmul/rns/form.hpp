// SPDX-License-Identifier: Apache-2.0
// What a kernel is compiled for, and a block's shared memory: for the kernel and for the host that launches
// it.
#pragma once

#include <cstddef>

#include "arch/cuda/stream_shape.hpp"
#include "modmul/rns/layout.hpp"

namespace manymod::rns {

/// Elements of bases of more fours do not fit registers: they stay in memory.
inline constexpr unsigned kMaxRegisterFours = 34;
/// Up to so many, table elements are found for fewer digits at a time.
inline constexpr unsigned kMaxFewSelections = 13;
/// Up to so many, factors from tables are brought to shared memory (measured: of more, addresses take
/// registers).
inline constexpr unsigned kMaxSharedFactorFours = 9;
/// The most elements that a digit chooses from where they are found for many digits at a time.
inline constexpr unsigned kChoices = 32;

/// The words of a record (record.cuda.hpp).
struct RecordShape {
  unsigned whole = 0;  ///< of a thread: one for each part and whole four, rounded up to four
  unsigned split_four =
      0;  ///< of a split four, 0 or 4: of an instance in tables, of a thread in shared memory

  /// Of a thread; those of split fours on an average.
  [[nodiscard]] constexpr unsigned words() const { return whole + split_four / 4; }
  /// Of a thread's two records in shared memory.
  [[nodiscard]] constexpr unsigned words_of_pair() const { return 2 * whole + split_four; }
};

/// With `parts` words for each of a thread's places in a base: an element's are 2, and in tables there are no
/// more.
constexpr RecordShape record_shape(const Sizes& sizes, unsigned parts) {
  return {(parts * sizes.whole_fours() + 3) / 4 * 4, sizes.is_split() ? 4u : 0u};
}

struct Form {
  unsigned channels = 0;       ///< of a base
  unsigned words = 0;          ///< of the widest modulus
  unsigned fours_at_once = 1;  ///< targets of a product that is waited for, in fours, at most
  bool in_turn = false;        ///< one such product is in flight, not two: fewer registers
  /// Buffers of the ring through which the extensions' matrices go; 0 where they fit shared memory.
  unsigned ring_stages = 0;
  bool records_shared = false;  ///< the constants of the moduli are in shared memory, not in the table
  bool one_modulus = false;     ///< all instances have the modulus of the constants
  /// Base B keeps remainders of byte sums as they come (docs/rns.md, "The steps of a multiplication").
  bool lazy_b = false;
  /// A block's shared memory has the constants and the matrices alone, and warps work for themselves.
  bool compact = false;

  [[nodiscard]] constexpr Sizes sizes() const { return {channels, words}; }
  [[nodiscard]] constexpr unsigned fours() const { return sizes().fours(); }
  /// Whether four q is split (layout.hpp).
  [[nodiscard]] constexpr bool is_split(unsigned q) const { return sizes().is_split() && q + 1 == fours(); }
  /// Of the targets of an extension.
  [[nodiscard]] constexpr cuda::Pieces pieces() const { return {fours(), fours_at_once}; }
  /// Base B keeps residues times roots of what makes coordinates of them.
  [[nodiscard]] constexpr bool rooted() const { return one_modulus && sizes().has_roots(); }
  /// Of an extension S_2 + 2^8 S_3 + S_1 / 2^8 < 2^32: entries are below 2^31, and the rank's bytes add less
  /// than a word of any four would (docs/rns.md, "Remainders of byte sums").
  [[nodiscard]] constexpr bool narrow_sums() const { return channels <= 127; }

  /// Digits whose table elements are found at a time in class secret (measured: more take registers, and
  /// narrow exponents have few).
  [[nodiscard]] constexpr unsigned selections() const { return fours() <= kMaxFewSelections ? 32 : 64; }
  [[nodiscard]] constexpr RecordShape element_record() const { return record_shape(sizes(), 2); }
  /// Of a modulus' constants, a part each: of A, of B and, where they are in shared memory, the quotients of
  /// those of B (montgomery.cuda.hpp).
  [[nodiscard]] constexpr RecordShape modulus_record() const {
    return record_shape(sizes(), records_shared ? 3 : 2);
  }
  [[nodiscard]] constexpr bool in_memory() const { return fours() > kMaxRegisterFours; }
  /// The factors of multiplications are in shared memory by the time that they are needed.
  [[nodiscard]] constexpr bool factors_shared() const { return !compact && fours() <= kMaxSharedFactorFours; }
  /// A thread's words in shared memory: of its moduli's constants, and of its factors behind them.
  [[nodiscard]] constexpr unsigned shared_words() const {
    return factors_at() + (factors_shared() ? element_record().words_of_pair() : 0);
  }
  [[nodiscard]] constexpr unsigned factors_at() const {
    return records_shared ? modulus_record().words_of_pair() : 0;
  }

  // Slots of the table after the program's.
  static constexpr unsigned kScratchSlot = 0;  ///< overwritten all the time
  static constexpr unsigned kElementSlot = 1;  ///< where elements are in memory
  /// Two where a slot could not hold the words of results (conversion.cuda.hpp): an instance has one then.
  [[nodiscard]] constexpr unsigned scratch_slots() const { return sizes().is_split() ? 2 : 1; }
  [[nodiscard]] constexpr unsigned modulus_slot() const { return in_memory() ? 2 : scratch_slots(); }
  [[nodiscard]] constexpr unsigned own_slots() const {
    return modulus_slot() + (one_modulus || records_shared ? 0 : 1);
  }
};

/// The two extension matrices of a form as the ring brings them.
template <Form kForm>
using ExtensionStream = cuda::StreamShape<2, kForm.sizes().steps(), kForm.pieces()>;

/// Shared memory of that ring.
template <Form kForm>
constexpr std::size_t ring_bytes() {
  if constexpr (kForm.ring_stages == 0)
    return 0;
  else
    return cuda::StreamLayout<ExtensionStream<kForm>, kForm.ring_stages>::kBytes;
}

template <Form kForm>
struct SharedMemory {
  static constexpr bool kStreamed = kForm.ring_stages > 0;
  /// The constants' first so many bytes come first.
  static constexpr std::size_t kConstantBytes = kStreamed ? kForm.sizes().to_a() : kForm.sizes().into_b();
  static constexpr std::size_t kRingAt = kConstantBytes;
  static constexpr std::size_t kRecordsAt = (kRingAt + ring_bytes<kForm>() + 15) / 16 * 16;
  /// Of a thread: the records of its two instances.
  static constexpr std::size_t kRecordBytes = std::size_t{4} * kForm.shared_words();
};

}  // namespace manymod::rns
