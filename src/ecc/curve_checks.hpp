// SPDX-License-Identifier: Apache-2.0
// Curves of a user's own.
#pragma once

#include "ecc/curve.hpp"

namespace manymod::ecc {

/// The curve with these numbers, once all checks that mm_ecc_curve_create states have passed. The numbers are
/// public.
/// @throws StatusError MM_ERR_KEY with the check that failed; MM_ERR_ARGUMENT for a form that users' curves
/// cannot have; MM_ERR_NULL; MM_ERR_CRYPTO
Curve make_curve(const mm_ecc_curve_numbers& numbers);

}  // namespace manymod::ecc
