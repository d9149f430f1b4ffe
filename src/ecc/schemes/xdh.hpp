// SPDX-License-Identifier: Apache-2.0
// X25519 and X448 (RFC 7748, sections 5 and 6). reference/ecc/xdh.py is the oracle.
#pragma once

#include <memory>

#include "ecc/schemes/scheme.hpp"

namespace manymod::ecc {

/// The operation MM_ECC_PUBLIC_KEY or MM_ECC_EXCHANGE for the items of a call.
///
/// Private keys are clamped. Every string of the right length is a point: X25519 ignores its top bit, u >= p
/// is reduced, and points of the twist are multiplied as any others. A point of small order gives a shared
/// secret of zeros: the item gets MM_ITEM_ECC_SMALL_ORDER and no result. Whether that is so is public.
///
/// On input: the engine's curve is X25519 or X448. The engine, and what inputs and outputs refer to, must
/// outlive the scheme. Timing: constant-time.
std::unique_ptr<Scheme> make_xdh(mm_ecc_op op, const PointEngine& engine, const Inputs& inputs,
                                 const Outputs& outputs);

}  // namespace manymod::ecc
