// SPDX-License-Identifier: Apache-2.0
// The widths for which there are kernels: SHAPE(bits, threads per block, the most channel quads in a tile,
// whether one tile's product is in flight instead of two, stages of the ring or 0 if both extension matrices
// fit shared memory, whether the constants of the moduli are in shared memory).
//
// A multiprocessor runs one block: with 640 threads each may use 96 registers, with 512 128, with 384 168,
// with 256 255.
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

// Kernels whose shared memory fits every device from compute capability 8.0 on: COMPACT(bits, threads per
// block, the most channel quads in a tile).
#define MM_RNS_COMPACT_SHAPES(COMPACT) \
  COMPACT(512, 512, 2)                 \
  COMPACT(1024, 384, 2)                \
  COMPACT(1536, 384, 2)

namespace manymod::rns {

/// The form of a row of MM_RNS_SHAPES for instances with a modulus each.
constexpr Form shape_form(unsigned bits, unsigned tile_quads, bool one_in_flight, unsigned ring_stages,
                          bool moduli_in_shared_memory) {
  Form form;
  form.channels = sizes_of(bits).channels;
  form.words = sizes_of(bits).words;
  form.tile_quads = tile_quads;
  form.one_in_flight = one_in_flight;
  form.ring_stages = ring_stages;
  form.moduli_in_shared_memory = moduli_in_shared_memory;
  form.lazy_b = bases_of(bits).lazy_b;
  return form;
}

/// The same form for instances that share one modulus.
constexpr Form with_one_modulus(Form form) {
  form.one_modulus = true;
  form.moduli_in_shared_memory = false;
  form.lazy_b = bases_of(32 * form.words).lazy_b_of_one_modulus;
  return form;
}

/// The form of a row of MM_RNS_COMPACT_SHAPES for instances with a modulus each.
constexpr Form compact_form(unsigned bits, unsigned tile_quads) {
  Form form = shape_form(bits, tile_quads, false, 0, false);
  form.compact = true;
  return form;
}

}  // namespace manymod::rns
