// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/kernels.cuh"

MM_POINT_KERNELS(sm2, Sm2, 3, 4)
MM_ECDSA_KERNELS(sm2, Sm2)
