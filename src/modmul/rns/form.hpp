// SPDX-License-Identifier: Apache-2.0
// What a kernel is compiled for (Form) and how its shared memory is laid out (SharedMemory). Both the kernel
// and the host that launches it read this file.
//
// The vocabulary of src/modmul/rns:
//
//   instance      one modular computation: one item of the batch. A warp works on 16 instances.
//   base A, B     two tuples of n coprime primes below 2^31, a_1 .. a_n with product M_A and b_1 .. b_n with
//                 product M_B. M_B is the Montgomery radix.
//   channel       one prime of a base, and the arithmetic modulo that prime.
//   element       a number in residue form: one residue for each channel of both bases.
//   coordinate    of x in channel i: x_i / M_i mod m_i, where M_i = M / m_i (docs/rns/theory.md, "Words").
//   rank          the k for which x = sum of coordinate_i M_i - k M.
//   kappa, root   the constants by which the stored residues of A, and with one shared modulus those of B,
//                 are scaled (docs/rns/theory.md, "The scale kappa" and "Roots").
//   thread quad   four neighbouring threads of a warp, which hold rows g and g + 8 of the fragments of
//                 mma.sync and wgmma. It works on two instances; `half`, 0 or 1, tells which.
//   channel quad  four channels of a base, one for each thread of a thread quad. In identifiers `quad`; its
//                 number is q < Q. The last one may be split (layout.hpp).
//   place         the position of a channel among the 4 Q positions of a base's Q channel quads.
//   word          32 bits: a residue, a coordinate, a rank, or a digit of a number in radix 2^32.
//   step          32 bytes (8 words) along K, the dimension of a matrix product over which it sums.
//   octet         8 columns of a matrix of bytes, the N of one mma.sync; a channel quad has two octets.
//   tile          several channel quads whose columns are multiplied by one product, and which stream through
//                 shared memory together.
//   record        a thread's words of one instance in a table or in shared memory (record.cuda.hpp).
//   chunk         4 words, aligned to 16 bytes, which one instruction loads or stores.
//   slot          room for one record of each instance in a warp's table.
#pragma once

#include <cstddef>

#include "arch/cuda/stream_shape.hpp"
#include "modmul/rns/layout.hpp"

namespace manymod::rns {

/// Wider bases, in channel quads, do not fit registers: their elements stay in global memory.
inline constexpr unsigned kMaxRegisterQuads = 34;
/// Up to this many channel quads, the smaller number of table elements is selected at a time.
inline constexpr unsigned kMaxQuadsWithFewSelections = 13;
/// Up to this many channel quads, the factors of multiplications are copied from tables to shared memory.
/// Measured: beyond, their addresses take registers from the arithmetic.
inline constexpr unsigned kMaxSharedFactorQuads = 9;
/// The most table entries among which one Selection (selection.cuda.hpp) chooses: windows of up to 5 bits.
inline constexpr unsigned kSelectionEntries = 32;

/// The number of words of a record (record.cuda.hpp).
struct RecordShape {
  /// Words of one thread in whole channel quads: one for each part (base) and channel quad, rounded up to a
  /// multiple of 4.
  unsigned whole = 0;
  /// Words of the split channel quad, 0 or 4: in tables those of one instance, in shared memory those of one
  /// thread.
  unsigned split_quad = 0;

  /// Words per thread and instance; those of the split channel quad, which belong to one of a thread's two
  /// instances, are averaged over both.
  [[nodiscard]] constexpr unsigned words() const { return whole + split_quad / 4; }
  /// Words of a thread's two records in shared memory.
  [[nodiscard]] constexpr unsigned words_of_pair() const { return 2 * whole + split_quad; }
};

/// The record of `parts` words for each of a thread's places. An element has 2 parts (A and B), and so has
/// every record in a table.
constexpr RecordShape record_shape(const ConstantsLayout& sizes, unsigned parts) {
  return {(parts * sizes.whole_quads() + 3) / 4 * 4, sizes.is_split() ? 4u : 0u};
}

/// Everything that a kernel is specialised on.
struct Form {
  /// Channels of each base.
  unsigned channels = 0;
  /// Words of the widest modulus: N < 2^(32 words).
  unsigned words = 0;
  /// The most channel quads in a tile: the targets of one matrix product.
  unsigned tile_quads = 1;
  /// One tile's product is in flight at a time instead of two, which saves registers.
  bool one_in_flight = false;
  /// Buffers of the ring through which the matrices of the extensions stream; 0 where both matrices fit
  /// shared memory.
  unsigned ring_stages = 0;
  /// The constants of the instances' moduli are in shared memory, otherwise in the table.
  bool moduli_in_shared_memory = false;
  /// All instances share one modulus, which is part of the constants.
  bool one_modulus = false;
  /// Base B keeps remainders of byte sums without correction (docs/rns/theory.md, "Lazy remainders").
  bool lazy_b = false;
  /// A block's shared memory holds only the constants and the matrices, and each warp works by itself.
  bool compact = false;

  [[nodiscard]] constexpr ConstantsLayout sizes() const { return {channels, words}; }
  [[nodiscard]] constexpr unsigned quads() const { return sizes().quads(); }
  /// Whether channel quad q is the split one (layout.hpp).
  [[nodiscard]] constexpr bool is_split(unsigned q) const { return sizes().is_split() && q + 1 == quads(); }
  /// The tiles into which the targets of an extension are cut.
  [[nodiscard]] constexpr cuda::Tiles tiles() const { return {quads(), tile_quads}; }
  /// Base B keeps residues times the roots of the constants that turn products into coordinates.
  [[nodiscard]] constexpr bool rooted() const { return one_modulus && sizes().has_roots(); }
  /// Whether S_2 + 2^8 S_3 + floor(S_1 / 2^8) < 2^32 in both extensions. Entries are below 2^31, and the
  /// bytes of the rank add less than one word more of any channel quad would (docs/rns/theory.md, "Remainders
  /// of byte sums").
  [[nodiscard]] constexpr bool narrow_sums() const { return channels <= 127; }

  /// How many digits have their table elements selected at a time in constant-time programs. Measured: more
  /// take registers, and narrow exponents have few digits.
  [[nodiscard]] constexpr unsigned selections() const {
    return quads() <= kMaxQuadsWithFewSelections ? 32 : 64;
  }
  /// The record of an element.
  [[nodiscard]] constexpr RecordShape element_record() const { return record_shape(sizes(), 2); }
  /// The record of a modulus' constants. Its parts are the constants of A, those of B and, in shared memory,
  /// the quotients for Shoup's product with those of B (montgomery.cuda.hpp).
  [[nodiscard]] constexpr RecordShape modulus_record() const {
    return record_shape(sizes(), moduli_in_shared_memory ? 3 : 2);
  }
  /// Whether elements stay in global memory instead of registers.
  [[nodiscard]] constexpr bool elements_in_memory() const { return quads() > kMaxRegisterQuads; }
  /// Whether the factors of multiplications are copied to shared memory ahead of their use.
  [[nodiscard]] constexpr bool factors_in_shared_memory() const {
    return !compact && quads() <= kMaxSharedFactorQuads;
  }
  /// Words of one thread in shared memory: the constants of its moduli, then its factors.
  [[nodiscard]] constexpr unsigned shared_words() const {
    return factors_at() + (factors_in_shared_memory() ? element_record().words_of_pair() : 0);
  }
  /// Where its factors begin, in words.
  [[nodiscard]] constexpr unsigned factors_at() const {
    return moduli_in_shared_memory ? modulus_record().words_of_pair() : 0;
  }

  // The slots that a kernel needs for itself; in the table they follow the program's slots.
  static constexpr unsigned kScratchSlot = 0;  ///< for intermediate results
  static constexpr unsigned kElementSlot = 1;  ///< for elements that stay in memory
  /// Two where one slot is too small for the words of a result (conversion.cuda.hpp): then each instance has
  /// a slot of its own.
  [[nodiscard]] constexpr unsigned scratch_slots() const { return sizes().is_split() ? 2 : 1; }
  /// The slot of the moduli's constants, where they are in the table.
  [[nodiscard]] constexpr unsigned modulus_slot() const { return elements_in_memory() ? 2 : scratch_slots(); }
  /// How many slots the kernel needs for itself.
  [[nodiscard]] constexpr unsigned kernel_slots() const {
    return modulus_slot() + (one_modulus || moduli_in_shared_memory ? 0 : 1);
  }
};

/// The two extension matrices of a form, in the order in which they stream through the ring.
template <Form kForm>
using ExtensionStream = cuda::StreamShape<2, kForm.sizes().steps(), kForm.tiles()>;

/// Bytes of that ring in shared memory.
template <Form kForm>
constexpr std::size_t ring_bytes() {
  if constexpr (kForm.ring_stages == 0)
    return 0;
  else
    return cuda::StreamLayout<ExtensionStream<kForm>, kForm.ring_stages>::kBytes;
}

/// A block's shared memory: a prefix of the constants (layout.hpp), the ring if there is one, then each
/// thread's words. Offsets and sizes are in bytes.
template <Form kForm>
struct SharedMemory {
  static constexpr bool kStreamed = kForm.ring_stages > 0;
  /// The prefix includes both extension matrices unless they stream.
  static constexpr std::size_t kConstantBytes =
      kStreamed ? kForm.sizes().b_to_a() : kForm.sizes().words_to_b();
  static constexpr std::size_t kRingAt = kConstantBytes;
  static constexpr std::size_t kRecordsAt = (kRingAt + ring_bytes<kForm>() + 15) / 16 * 16;
  /// Bytes of one thread: the records of its two instances.
  static constexpr std::size_t kRecordBytes = std::size_t{4} * kForm.shared_words();
};

}  // namespace manymod::rns
