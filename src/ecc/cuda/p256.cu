// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/kernels.cuh"

MM_POINT_KERNELS(p256, P256, 3, 4)
MM_SUM_KERNELS(p256, JacobianSums<P256>, 4)
MM_ECDSA_KERNELS(p256, P256)
MM_HASH_KERNELS(p256, P256, Sha256)
