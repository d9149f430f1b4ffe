// SPDX-License-Identifier: Apache-2.0
// The widths for which there are kernels: SHAPE(bits, threads per block, the most fours that are waited for
// together, the same for one modulus, stages of the ring or 0 where both matrices lie in shared memory,
// whether the moduli's constants do).
//
// A multiprocessor has one block: 512 threads may use 128 registers each, 384 168, 256 255.
#pragma once

#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"

#define MM_RNS_SHAPES(SHAPE)       \
  SHAPE(512, 512, 3, 3, 0, true)   \
  SHAPE(1024, 384, 4, 4, 0, true)  \
  SHAPE(1536, 384, 2, 3, 0, true)  \
  SHAPE(2048, 256, 3, 3, 0, false) \
  SHAPE(3072, 256, 4, 4, 7, false) \
  SHAPE(4096, 256, 4, 4, 6, false) \
  SHAPE(6144, 256, 2, 2, 4, false) \
  SHAPE(8192, 256, 2, 2, 4, false)

// Those whose shared memory all devices from compute capability 8.0 on have: COMPACT(bits, threads per block,
// the most fours of a product whose sums are used together, the same for one modulus).
#define MM_RNS_COMPACT_SHAPES(COMPACT) \
  COMPACT(512, 512, 2, 2)              \
  COMPACT(1024, 384, 2, 2)             \
  COMPACT(1536, 384, 2, 2)

namespace manymod::rns {

/// Of instances with moduli of their own.
constexpr Form shape_form(unsigned bits, unsigned fours_at_once, unsigned ring_stages, bool records_shared) {
  Form form;
  form.fours = sizes_of(bits).fours;
  form.words = sizes_of(bits).words;
  form.fours_at_once = fours_at_once;
  form.ring_stages = ring_stages;
  form.records_shared = records_shared;
  return form;
}

/// Of instances that share a modulus.
constexpr Form shared_shape_form(unsigned bits, unsigned fours_at_once, unsigned ring_stages) {
  return shape_form(bits, fours_at_once, ring_stages, false).with_one_modulus();
}

/// The compact ones.
constexpr Form compact_form(unsigned bits, unsigned fours_at_once) {
  Form form = shape_form(bits, fours_at_once, 0, false);
  form.compact = true;
  return form;
}
constexpr Form compact_shared_form(unsigned bits, unsigned fours_at_once) {
  return compact_form(bits, fours_at_once).with_one_modulus();
}

}  // namespace manymod::rns
