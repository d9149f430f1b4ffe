// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/kernels.cuh"
#include "ecc/cuda/schnorr.cuda.hpp"

MM_POINT_KERNELS(secp256k1, Secp256k1, 4, 4)
MM_SUM_KERNELS(secp256k1, JacobianSums<Secp256k1>, 4)
MM_ECDSA_KERNELS(secp256k1, Secp256k1)
MM_HASH_KERNELS(secp256k1, Secp256k1, Sha256)

MM_POINT_KERNEL(ecc_secp256k1_hash, 1, HashJob, (hash_to_number<Secp256k1, Sha256>(job, item)))
