// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/kernels.cuh"

MM_POINT_KERNELS(p521, P521, 2, 2)
MM_SUM_KERNELS(p521, JacobianSums<P521>, 2)
MM_ECDSA_KERNELS(p521, P521)
MM_HASH_KERNELS(p521, P521, Sha512)
