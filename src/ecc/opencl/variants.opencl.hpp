// SPDX-License-Identifier: Apache-2.0
// The variant opencl.reduced_radix: points on Weierstrass curves of odd order, Edwards curves and
// Montgomery curves on OpenCL devices.
#pragma once

#include "ecc/device/device_curve.hpp"
#include "ecc/variants.hpp"

namespace manymod::ecc::opencl {

inline constexpr const char* kName = "opencl.reduced_radix";

/// Lengths of primes that kernels are built for.
inline constexpr std::size_t kMinFieldBits = 64, kMaxFieldBits = 640;

Variant variant();

/// Digits of an element for primes of that many bits (digits.clh).
unsigned digit_count(std::size_t field_bits);

/// On input: the variant offers the curve.
device::CurveKernels kernels_for(const Curve& curve);

}  // namespace manymod::ecc::opencl
