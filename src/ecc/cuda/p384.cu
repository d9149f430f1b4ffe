// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/kernels.cuh"

MM_POINT_KERNELS(p384, P384, 3, 3)
MM_SUM_KERNELS(p384, JacobianSums<P384>, 3)
MM_ECDSA_KERNELS(p384, P384)
MM_HASH_KERNELS(p384, P384, Sha384)
