// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/eddsa.cuda.hpp"
#include "ecc/cuda/edwards_sums.cuda.hpp"
#include "ecc/cuda/kernels.cuh"

MM_BASE_KERNEL(ed25519, 4, multiply_base_edwards<Edwards25519>)
MM_POINT_KERNEL(ecc_ed25519_multiply, 4, PointJob, multiply_edwards<Edwards25519>(job, item))
MM_POINT_KERNEL(ecc_ed25519_two, 4, PointJob, multiply_two_edwards<Edwards25519>(job, item))
MM_SUM_KERNELS(ed25519, EdwardsSums<Edwards25519>, 4)
MM_POINT_KERNEL(ecc_ed25519_expand, 1, ExpandJob, expand_key<Edwards25519>(job, item))
MM_POINT_KERNEL(ecc_ed25519_hash, 1, HashJob, hash_to_scalar<Edwards25519>(job, item))
MM_POINT_KERNEL(ecc_ed25519_combine, 1, CombineJob, combine_scalars<Edwards25519>(job, item))
MM_POINT_KERNEL(ecc_ed25519_decode, 1, DecodeJob, decode_opposite<Edwards25519>(job, item))
MM_POINT_KERNEL(ecc_ed25519_cofactored, 1, CofactorJob, compare_cofactored<Edwards25519>(job, item))
MM_CHAIN_KERNEL(ecc_ed25519_affine, AffineJob, normalise_projective<Edwards25519>)
MM_CHAIN_KERNEL(ecc_x25519_affine, AffineJob, normalise_projective<Edwards25519>)
MM_POINT_KERNEL(ecc_x25519_ladder, 4, PointJob, ladder25519<Edwards25519>(job, item))
