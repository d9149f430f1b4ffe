// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/kernels.cuh"
#include "ecc/cuda/schnorr.cuda.hpp"

MM_POINT_KERNELS(sm2, Sm2, 3, 4)
MM_SUM_KERNELS(sm2, JacobianSums<Sm2>, 4)
MM_ECDSA_KERNELS(sm2, Sm2)
MM_HASH_KERNELS(sm2, Sm2, Sm3)

MM_CHAIN_KERNEL(ecc_sm2_dsa_sign, SignJob, sign_sm2<Sm2>)
MM_POINT_KERNEL(ecc_sm2_hash, 1, HashJob, (hash_to_number<Sm2, Sm3>(job, item)))
