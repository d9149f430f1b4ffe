// SPDX-License-Identifier: Apache-2.0
// Numbers and elements of fields in the memory of kernels: rows and columns (ecc/device/jobs.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"
#include "ecc/cuda/jobs.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"

namespace manymod::ecc::cuda {

template <unsigned kCount>
MM_DEVICE void load_words(std::uint32_t (&r)[kCount], const std::uint32_t* row) {
  MM_UNROLL
  for (unsigned j = 0; j < kCount; ++j) r[j] = row[j];
}

/// A row of kCount words, and a word 0 more where that is odd.
template <unsigned kCount>
MM_DEVICE integers::Words row_words(const std::uint32_t* row) {
  return {row, kCount};
}
template <unsigned kCount>
MM_DEVICE integers::WordsOut row_out(std::uint32_t* row) {
  return {row, (kCount + 1) / 2 * 2};
}

/// Column words of item `item`: word j at words[j count + item].
struct Column {
  std::uint32_t* words;
  std::size_t count;
  std::size_t item;

  MM_DEVICE std::uint32_t& operator[](unsigned j) const { return words[j * count + item]; }
};
struct ConstColumn {
  const std::uint32_t* words;
  std::size_t count;
  std::size_t item;

  MM_DEVICE std::uint32_t operator[](unsigned j) const { return words[j * count + item]; }
};

/// Computes the thread's item again instead of keeping it in a register over a loop. The compiler would
/// spill it to local memory, among secrets, where tests/cmake/check_device_secrets.py could not tell it from
/// them.
MM_DEVICE std::uint32_t own_item(std::uint32_t item) {
#if defined(__CUDA_ARCH__)
  std::uint32_t block, threads, thread;
  asm volatile("mov.u32 %0, %ctaid.x;" : "=r"(block));
  asm volatile("mov.u32 %0, %ntid.x;" : "=r"(threads));
  asm volatile("mov.u32 %0, %tid.x;" : "=r"(thread));
  item = block * threads + thread;
#endif
  return item;
}

/// Computes again whether the thread's item is one of `count`, for the same reason: a predicate that is kept
/// over a loop shares a register with the carries of secrets. The host has `inside`.
MM_DEVICE bool own_item_is_inside([[maybe_unused]] std::uint32_t count, [[maybe_unused]] bool inside) {
#if defined(__CUDA_ARCH__)
  return own_item(0) < count;
#else
  return inside;
#endif
}

/// The words of an element of field::SpecialField, or of field::DeviceField with one thread.
template <class Element>
concept HasPlainWords = requires(const Element& a) { a.words[0]; };

template <class F>
MM_DEVICE constexpr unsigned element_words() {
  if constexpr (HasPlainWords<typename F::Element>) {
    return F::kWords;
  } else {
    return F::kElementWords;
  }
}

template <class F, class Place>
MM_DEVICE void store_element(const F& /*f*/, const Place& place, const typename F::Element& a) {
  MM_UNROLL
  for (unsigned j = 0; j < element_words<F>(); ++j) {
    if constexpr (HasPlainWords<typename F::Element>) {
      place[j] = a.words[j];
    } else {
      place[j] = a.word(j);
    }
  }
}
template <class F, class Place>
MM_DEVICE void load_element(const F& f, typename F::Element& r, const Place& place) {
  if constexpr (HasPlainWords<typename F::Element>) {
    f.load(r, place);
  } else {
    MM_UNROLL
    for (unsigned j = 0; j < F::kElementWords; ++j) r.set_word(j, place[j]);
  }
}

/// X, Y and Z of a point, of kWords words each, to the columns of a job's results. No later kernel reads the
/// T of extended coordinates.
template <unsigned kWords, class F, class Job, class Point>
MM_DEVICE void store_point(const F& f, const Job& job, std::uint32_t item, const Point& p) {
  const std::size_t column = std::size_t{kWords} * job.count;
  store_element(f, Column{job.result, job.count, item}, p.x);
  store_element(f, Column{job.result + column, job.count, item}, p.y);
  store_element(f, Column{job.result + 2 * column, job.count, item}, p.z);
}

}  // namespace manymod::ecc::cuda
