// SPDX-License-Identifier: Apache-2.0
// The widths for which there are kernels: SHAPE(bits, threads per block, the most fours of a product that is
// waited for, whether one such product is in flight and not two, stages of the ring or 0 where both matrices
// lie in shared memory, whether the moduli's constants do).
//
// A multiprocessor has one block: 640 threads may use 96 registers each, 512 128, 384 168, 256 255.
#pragma once

#include "modmul/rns/constants.hpp"
#include "modmul/rns/form.hpp"

#define MM_RNS_SHAPES(SHAPE)           \
  SHAPE(512, 640, 5, false, 0, true)   \
  SHAPE(1024, 384, 5, false, 0, true)  \
  SHAPE(1536, 384, 7, true, 0, true)   \
  SHAPE(2048, 256, 9, false, 0, false) \
  SHAPE(3072, 256, 9, true, 3, false)  \
  SHAPE(4096, 256, 6, true, 4, false)  \
  SHAPE(6144, 256, 2, true, 4, false)  \
  SHAPE(8192, 256, 2, true, 4, false)

// Those whose shared memory all devices from compute capability 8.0 on have: COMPACT(bits, threads per block,
// the most fours of a product).
#define MM_RNS_COMPACT_SHAPES(COMPACT) \
  COMPACT(512, 512, 2)                 \
  COMPACT(1024, 384, 2)                \
  COMPACT(1536, 384, 2)

namespace manymod::rns {

/// Of instances with moduli of their own.
constexpr Form shape_form(unsigned bits, unsigned fours_at_once, bool in_turn, unsigned ring_stages,
                          bool records_shared) {
  Form form;
  form.channels = sizes_of(bits).channels;
  form.words = sizes_of(bits).words;
  form.fours_at_once = fours_at_once;
  form.in_turn = in_turn;
  form.ring_stages = ring_stages;
  form.records_shared = records_shared;
  form.lazy_b = bases_of(bits).lazy_b;
  return form;
}

/// The same for instances that share a modulus.
constexpr Form with_one_modulus(Form form) {
  form.one_modulus = true;
  form.records_shared = false;
  form.lazy_b = bases_of(32 * form.words).lazy_b_of_one_modulus;
  return form;
}

/// The compact ones, of instances with moduli of their own.
constexpr Form compact_form(unsigned bits, unsigned fours_at_once) {
  Form form = shape_form(bits, fours_at_once, false, 0, false);
  form.compact = true;
  return form;
}

}  // namespace manymod::rns
