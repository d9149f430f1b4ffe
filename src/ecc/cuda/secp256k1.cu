// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/kernels.cuh"

MM_POINT_KERNELS(secp256k1, Secp256k1, 4, 4)
MM_ECDSA_KERNELS(secp256k1, Secp256k1)
MM_NONCE_KERNEL(secp256k1, Secp256k1, Sha256)
