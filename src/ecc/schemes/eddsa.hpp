// SPDX-License-Identifier: Apache-2.0
// EdDSA (RFC 8032): Ed25519, Ed25519ctx, Ed25519ph, Ed448 and Ed448ph. reference/ecc/eddsa.py is its oracle,
// and docs/ecc.md has the table of policies.
#pragma once

#include <memory>

#include "ecc/schemes/scheme.hpp"

namespace manymod::ecc {

/// The operation MM_ECC_PUBLIC_KEY, MM_ECC_SIGN, MM_ECC_VERIFY or MM_ECC_VERIFY_ALL for the items of a call;
/// with MM_ECC_VERIFY_ALL the policy must be MM_ECC_ZIP215.
///
/// On input: the engine's curve is Ed25519 or Ed448. Without `prehashed`, an Ed25519 item with no context, or
/// an empty one, is plain Ed25519; with one it is Ed25519ctx. Messages that are `prehashed` are digests of 64
/// bytes, by SHA-512 and SHAKE256. The engine, and what inputs and outputs refer to, must outlive the scheme.
std::unique_ptr<Scheme> make_eddsa(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                   const Outputs& outputs);

}  // namespace manymod::ecc
