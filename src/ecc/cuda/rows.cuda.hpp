// SPDX-License-Identifier: Apache-2.0
// Conversion between byte strings and rows of words, and checks of numbers, by one thread for each item. For
// all curves: lengths are known at run time only.
//
// Timing: constant-time; it depends on lengths only. Whether an item is good is public.
#pragma once

#include <cstdint>
#include <cstring>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"

namespace manymod::ecc::cuda {

MM_DEVICE std::uint32_t reversed_bytes(std::uint32_t word) {
  return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}

/// Word j of the number in `size` bytes.
MM_DEVICE std::uint32_t number_word(const std::uint8_t* bytes, unsigned size, unsigned j,
                                    bool is_little_endian) {
  const bool aligned = ((reinterpret_cast<std::uintptr_t>(bytes) | size) & 3) == 0;
  if (aligned) {
    if (4 * j >= size) return 0;
    std::uint32_t word;
    std::memcpy(&word, __builtin_assume_aligned(bytes + (is_little_endian ? 4 * j : size - 4 - 4 * j), 4),
                sizeof word);
    return is_little_endian ? word : reversed_bytes(word);
  }
  std::uint32_t word = 0;
  for (unsigned i = 4 * j; i < 4 * j + 4 && i < size; ++i) {
    word |= static_cast<std::uint32_t>(bytes[is_little_endian ? i : size - 1 - i]) << (8 * (i % 4));
  }
  return word;
}

/// The borrow of a - b in the next subtraction of words: 0 or 1.
MM_DEVICE std::uint32_t next_borrow(std::uint32_t a, std::uint32_t b, std::uint32_t borrow) {
  return static_cast<std::uint32_t>((std::uint64_t{a} - b - borrow) >> 63);
}

/// On input: item < job.count.
MM_DEVICE void read_number(const ReadJob& job, std::uint32_t item) {
  const std::uint8_t* const bytes = job.from.at(item);
  std::uint32_t* const row = job.to.at(item);
  const unsigned words = job.to.stride;
  std::uint32_t any = 0, borrow = 0;
  std::uint32_t next = number_word(bytes, job.from.size, 0, job.is_little_endian != 0);
  MM_ROLLED
  for (unsigned j = 0; j < words; ++j) {
    const std::uint32_t given = next;
    next = number_word(bytes, job.from.size, j + 1, job.is_little_endian != 0);
    std::uint32_t word = manymod::cuda::shift_right(given, next, job.drop);
    if (j == 0) word &= ~job.clear_low;
    if (j + 1 == words) word = (word & ~job.clear_high) | job.set_high;
    row[j] = word;
    any |= word;
    if (job.limit != nullptr) borrow = next_borrow(word, job.limit[j], borrow);
  }
  if (job.limit == nullptr) return;
  const std::uint32_t valid =
      manymod::cuda::opaque((0 - borrow) & integers::mask_if_not_zero(any | job.accepts_zero));
  MM_ROLLED
  for (unsigned j = 0; j < words; ++j) row[j] = (row[j] & valid) | (~valid & (j == 0 ? 1 : 0));
  job.good[item] &= static_cast<std::uint8_t>(valid & 1);
}

/// Bytes 4 thread to 4 thread + 3 of all strings. On input: thread < job.count.
MM_DEVICE void gather_strings(const GatherJob& job, std::uint32_t thread) {
  const unsigned size = job.table.size;
  std::uint32_t item = 4 * thread / size;
  unsigned at = 4 * thread % size;
  std::uint32_t word = 0;
  MM_ROLLED
  for (unsigned i = 0; i < 4 && item < job.items; ++i) {
    word |= std::uint32_t{job.table.at(job.index[item])[at]} << (8 * i);
    if (++at == size) at = 0, ++item;
  }
  std::memcpy(__builtin_assume_aligned(job.to + std::size_t{4} * thread, 4), &word, sizeof word);
}

/// On input: item < job.count. Public.
MM_DEVICE void read_tag(const TagJob& job, std::uint32_t item) {
  if (*job.from.at(item) != 4) job.good[item] = 0;
}

/// Byte `at` of a field.
MM_DEVICE std::uint32_t field_byte(const FieldOut& field, std::uint32_t item, unsigned at) {
  const std::uint32_t parity = field.parity.words == nullptr ? 0 : field.parity.at(item)[0] & 1;
  switch (field.kind) {
    case FieldKind::tag:
      return field.parity.words == nullptr ? 4 : 2 | parity;
    case FieldKind::flag:
      return field.flags[item];
    case FieldKind::little_endian:
    case FieldKind::big_endian:
      break;
  }
  const bool little = field.kind == FieldKind::little_endian;
  const unsigned place = little ? at : field.size - 1 - at;
  const std::uint32_t byte = field.number.at(item)[place / 4] >> (8 * (place % 4)) & 255;
  return little && at + 1 == field.size ? byte | parity << 7 : byte;
}

/// Bytes 4 thread to 4 thread + 3 of all strings. On input: thread < job.count.
MM_DEVICE void write_strings(const WriteJob& job, std::uint32_t thread) {
  std::uint32_t word = 0;
  std::uint32_t item = 4 * thread / job.size;
  unsigned at = 4 * thread % job.size;
  const std::uint32_t items = 4 * job.count / job.size;
  MM_ROLLED
  for (unsigned i = 0; i < 4 && item < items; ++i) {
    unsigned in_field = at;
    std::uint32_t byte = 0;
    MM_UNROLL
    for (unsigned j = 0; j < WriteJob::kMostFields; ++j) {
      const FieldOut& field = job.fields[j];
      // For a byte of an earlier field, in_field has wrapped around to a large number, so that no later
      // field matches.
      if (in_field < field.size) byte |= field_byte(field, item, in_field);
      in_field -= field.size;
    }
    word |= (byte & (0 - std::uint32_t{job.good[item]})) << (8 * i);
    if (++at == job.size) at = 0, ++item;
  }
  std::memcpy(__builtin_assume_aligned(job.to + std::size_t{4} * thread, 4), &word, sizeof word);
}

/// On input: item < job.count.
MM_DEVICE void check_not_zero(const NotZeroJob& job, std::uint32_t item) {
  const std::uint32_t* const row = job.number.at(item);
  std::uint32_t any = 0;
  MM_ROLLED
  for (unsigned j = 0; j < job.number.stride; ++j) any |= row[j];
  job.good[item] &= static_cast<std::uint8_t>(integers::mask_if_not_zero(any) & 1);
}

/// On input: item < job.count.
MM_DEVICE void check_same(const SameJob& job, std::uint32_t item) {
  const std::uint32_t *const x = job.x.at(item), *const r = job.r.at(item);
  std::uint32_t from_r = 0, from_wrapped = 0;
  std::uint64_t carry = 0;
  MM_ROLLED
  for (unsigned j = 0; j < job.words; ++j) {
    from_r |= x[j] ^ r[j];
    carry += std::uint64_t{r[j]} + (job.order == nullptr ? 0 : job.order[j]);
    from_wrapped |= x[j] ^ static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  from_wrapped |= static_cast<std::uint32_t>(carry);
  const std::uint32_t differs = integers::mask_if_not_zero(from_r) & integers::mask_if_not_zero(from_wrapped);
  const std::uint32_t id = job.recovery == nullptr ? 0 : job.recovery[item];
  const std::uint32_t parity = (job.y.at(item)[0] ^ id) & 1;
  job.good[item] &= static_cast<std::uint8_t>(~differs & (parity ^ 1) & 1);
}

/// On input: item < job.count.
MM_DEVICE void make_even(const EvenJob& job, std::uint32_t item) {
  const std::uint32_t* const number = job.number.at(item);
  std::uint32_t* const to = job.to.at(item);
  const std::uint32_t odd = manymod::cuda::opaque(0 - (job.y.at(item)[0] & 1));
  std::uint32_t borrow = 0;
  MM_ROLLED
  for (unsigned j = 0; j < job.to.stride; ++j) {
    const std::uint32_t n = job.order[j], word = number[j];
    to[j] = (word & ~odd) | ((n - word - borrow) & odd);
    borrow = next_borrow(n, word, borrow);
  }
}

/// On input: item < job.count.
MM_DEVICE void check_equal(const EqualJob& job, std::uint32_t item) {
  const std::uint8_t *const a = job.a.at(item), *const b = job.b.at(item);
  std::uint32_t differs = 0;
  MM_ROLLED
  for (unsigned i = 0; i < job.a.size; ++i) differs |= static_cast<std::uint32_t>(a[i] ^ b[i]);
  job.equal[item] &= static_cast<std::uint8_t>(~integers::mask_if_not_zero(differs) & 1);
}

}  // namespace manymod::ecc::cuda
