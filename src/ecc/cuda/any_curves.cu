// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/any_curve.cuda.hpp"
#include "ecc/cuda/any_sums.cuda.hpp"
#include "ecc/cuda/kernels.cuh"

#define MM_ANY_KERNELS(name, Curve, Hash)                                                     \
  MM_BASE_KERNEL(name, 2, multiply_base_any<Curve>)                                           \
  MM_POINT_KERNEL(ecc_##name##_multiply, 2, PointJob, multiply_any<Curve>(job, item))         \
  MM_POINT_KERNEL(ecc_##name##_two, 2, PointJob, multiply_two_any<Curve>(job, item))          \
  MM_POINT_KERNEL(ecc_##name##_check, 2, PointJob, check_point_any<Curve>(job, item))         \
  MM_CHAIN_KERNEL(ecc_##name##_affine, AffineJob, normalise_any<Curve>)                       \
  MM_SUM_KERNELS(name, AnySums<Curve>, 2)                                                     \
  MM_SCALAR_KERNELS(name, Curve)                                                              \
  MM_POINT_KERNEL(ecc_##name##_decode, 1, DecodeJob, decode_compressed_any<Curve>(job, item)) \
  MM_POINT_KERNEL(ecc_##name##_compare, 1, VerifyCompareJob, compare_x_any<Curve>(job, item)) \
  MM_HASH_KERNELS(name, Curve, Hash)

MM_ANY_KERNELS(any256, Any256, Sha256)
MM_ANY_KERNELS(any384, Any384, Sha384)
MM_ANY_KERNELS(any512, Any512, Sha512)
MM_ANY_KERNELS(any640, Any640, Sha512)
