// SPDX-License-Identifier: Apache-2.0
// Which scheme computes an operation on a curve, and how long its results are.
#pragma once

#include <cstddef>
#include <memory>

#include "ecc/schemes/scheme.hpp"

namespace manymod::ecc {

/// An operation, and a scheme or MM_ECC_DEFAULT.
struct Task {
  mm_ecc_op op = MM_ECC_PUBLIC_KEY;
  mm_ecc_scheme scheme = MM_ECC_DEFAULT;
};

/// Whether an operation gives signatures or verdicts about them.
constexpr bool is_signature(mm_ecc_op op) {
  return op == MM_ECC_SIGN || op == MM_ECC_VERIFY || op == MM_ECC_VERIFY_ALL;
}
constexpr bool is_verification(mm_ecc_op op) { return op == MM_ECC_VERIFY || op == MM_ECC_VERIFY_ALL; }

/// The task with the curve's own scheme in the place of MM_ECC_DEFAULT, where the operation has schemes.
Task on_curve(Task task, const Curve& curve);
/// Whether the curve has the operation and the scheme, and the scheme the call's options. On input:
/// on_curve().
bool suits(Task task, const Curve& curve, const Inputs& inputs);
/// The encoding of the points that a task writes.
mm_ecc_point_format point_format_of(const Inputs& inputs, Task task);
/// The hash of a signature scheme that the call leaves to the curve. On input: on_curve().
mm_hash usual_hash(Task task, const Curve& curve);

/// Bytes of the longest encoding of a point, and of an encoding in `format`.
std::size_t point_bytes(const Curve& curve);
std::size_t point_bytes(const Curve& curve, mm_ecc_point_format format);
/// Bytes of a private key, and of a signature of the curve's own scheme (r || s); 0 if it has none.
std::size_t secret_bytes(const Curve& curve);
std::size_t signature_bytes(const Curve& curve);

/// The longest result of an item. On input: suits(task, curve, inputs).
std::size_t result_bytes(Task task, const Curve& curve, const Inputs& inputs);

/// The point operation that takes most of the time.
PointOperation main_operation(Task task, const Curve& curve);

/// The scheme for some items of a call. The engine, inputs and outputs must outlive it. On input: suits(task,
/// engine.curve(), inputs).
std::unique_ptr<Scheme> make_scheme(Task task, const PointEngine& engine, const Inputs& inputs,
                                    const Outputs& outputs);

}  // namespace manymod::ecc
