// SPDX-License-Identifier: Apache-2.0
#include "api/checks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "abi/enum_value.hpp"
#include "abi/items.hpp"
#include "core/all_zero.hpp"
#include "core/status_error.hpp"
#include "core/thread_pool.hpp"

namespace manymod {
namespace {

// Larger arrays cannot exist: pointer differences would overflow.
constexpr std::size_t kMaxLimbs =
    static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(Limb);

// The library counts the bits of exponents in 32 bits.
constexpr std::size_t kMaxExponentLimbs = std::numeric_limits<std::uint32_t>::max() / kLimbBits;

[[noreturn]] void throw_argument(const std::string& message) { throw StatusError(MM_ERR_ARGUMENT, message); }
[[noreturn]] void throw_null(const std::string& what) { throw StatusError(MM_ERR_NULL, what + " is NULL"); }

std::string number(std::size_t value) { return std::to_string(value); }

// Check an array of `count` items of `width` limbs, `stride` limbs apart: 0 < width <= stride, the size in
// bytes does not overflow, the pointer is not NULL and aligned.
void check_array(const Limb* limbs, std::size_t count, std::size_t width, std::size_t stride,
                 const std::string& what) {
  if (width == 0) throw_argument(what + ".width is 0");
  if (stride < width) {
    throw_argument(what + ".stride " + number(stride) + " is less than its width " + number(width));
  }
  if (width > kMaxLimbs || (count > 1 && stride > (kMaxLimbs - width) / (count - 1))) {
    throw_argument(what + " is larger than any array can be");
  }
  if (limbs == nullptr) throw_null(what + ".limbs");
  if (reinterpret_cast<std::uintptr_t>(limbs) % alignof(Limb) != 0) {
    throw_argument(what + ".limbs is not aligned to " + number(alignof(Limb)) + " bytes");
  }
}

// Check that `count` is `one` (all items share the operand) or `all`.
void check_count(std::size_t count, std::size_t one, std::size_t all, const std::string& what) {
  if (count == one || count == all) return;
  throw_argument(what + ".count is " + number(count) + ", expected " + number(all) +
                 (one == all ? "" : " or " + number(one)));
}

// Whether the array is on a device; such arrays have no signs.
bool checked_on_device(const mm_call& call, unsigned flag, const std::uint8_t* negative, const char* what) {
  if ((call.on_device & flag) == 0) return false;
  if (negative == nullptr) return true;
  throw_argument(std::string(what) + ".negative is not NULL, but " + what + " is on a device");
}

BatchResult checked_result(const mm_result& result, std::size_t count) {
  if (result.count != count) {
    throw_argument("result.count is " + number(result.count) + ", expected " + number(count));
  }
  const std::size_t stride = result.stride == 0 ? result.width : result.stride;
  check_array(result.limbs, count, result.width, stride, "result");
  return {result.limbs, count, result.width, stride, result.negative};
}

ByteSpan byte_range(const void* data, std::size_t bytes) {
  return {static_cast<const std::uint8_t*>(data), data == nullptr ? 0 : bytes};
}

ByteSpan limb_range(const BatchView& view) {
  return byte_range(view.limbs, extent_bytes(view.count, view.width, view.stride));
}

ByteSpan limb_range(const BatchResult& result) {
  return byte_range(result.limbs, extent_bytes(result.count, result.width, result.stride));
}

ByteSpan sign_range(const BatchView& view) { return byte_range(view.negative, view.count); }

// Whether the two batches are disjoint column blocks of one table: they have the same stride, and their limbs
// do not overlap in any row.
bool interleaved(const BatchView& view, const BatchResult& result) {
  if (view.stride != result.stride) return false;
  const std::size_t row = result.stride * sizeof(Limb);
  const auto from = reinterpret_cast<std::uintptr_t>(view.limbs);
  const auto to = reinterpret_cast<std::uintptr_t>(result.limbs);
  const std::size_t offset = to >= from ? (to - from) % row : (row - (from - to) % row) % row;
  return offset >= view.width * sizeof(Limb) && offset + result.width * sizeof(Limb) <= row;
}

[[noreturn]] void throw_overlap(const std::string& result_part, const std::string& operand) {
  throw StatusError(MM_ERR_OVERLAP,
                    result_part + " overlaps " + operand + " without being exactly the same array");
}

struct Outputs {
  ByteSpan limbs, signs, statuses;
};

// Reject outputs that overlap an operand. With `may_alias`, result item i may replace operand item i and no
// other.
void check_overlap(const BatchView& view, const Job& job, const Outputs& outputs, bool may_alias,
                   const std::string& what) {
  if (view.limbs == nullptr) return;
  const BatchResult& result = job.result;
  const ByteSpan limbs = limb_range(view);
  const ByteSpan signs = sign_range(view);
  const bool same_count = may_alias && view.count == result.count;
  const bool same_limbs =
      same_count && view.limbs == result.limbs && view.width == result.width && view.stride == result.stride;
  const bool same_signs = same_count && view.negative == result.negative;
  if (overlap(outputs.limbs, limbs) && !same_limbs && !interleaved(view, result)) {
    throw_overlap("result.limbs", what + ".limbs");
  }
  if (overlap(outputs.signs, signs) && !same_signs) throw_overlap("result.negative", what + ".negative");
  if (overlap(outputs.limbs, signs)) throw_overlap("result.limbs", what + ".negative");
  if (overlap(outputs.signs, limbs)) throw_overlap("result.negative", what + ".limbs");
  if (overlap(outputs.statuses, limbs)) throw_overlap("item_status", what + ".limbs");
  if (overlap(outputs.statuses, signs)) throw_overlap("item_status", what + ".negative");
}

void check_overlaps(const Job& job) {
  const Outputs outputs{limb_range(job.result), byte_range(job.result.negative, job.result.count),
                        byte_range(job.status, job.result.count)};
  if (overlap(outputs.limbs, outputs.signs)) throw_overlap("result.negative", "result.limbs");
  if (overlap(outputs.limbs, outputs.statuses)) throw_overlap("item_status", "result.limbs");
  if (overlap(outputs.signs, outputs.statuses)) throw_overlap("item_status", "result.negative");
  const bool may_alias = !has_terms(job.op);
  check_overlap(job.x, job, outputs, may_alias, "x");
  check_overlap(job.y, job, outputs, may_alias, "y");
  check_overlap(job.z, job, outputs, may_alias, "z");
  check_overlap(job.modulus, job, outputs, may_alias, "modulus");
}

// An operand of an operation with terms: count * terms items, or `terms` items shared by all items; empty if
// there are no terms.
BatchView checked_terms(const mm_view& view, std::size_t count, std::size_t terms, const char* what) {
  if (terms == 0) return {};
  if (count > kMaxLimbs / terms) throw_argument(std::string(what) + " would be larger than any array can be");
  check_count(view.count, terms, count * terms, what);
  return checked_view(view, what);
}

void set_operands(const mm_call& call, Job& job) {
  if (has_terms(job.op)) {
    job.terms = call.terms;
    job.x = checked_terms(call.x, call.count, call.terms, "x");
    if (has_y(job.op)) job.y = checked_terms(call.y, call.count, call.terms, "y");
    return;
  }
  if (call.terms != 0) {
    throw_argument("terms is " + number(call.terms) + ", but " + std::string(operation_name(job.op)) +
                   " has no terms");
  }
  if (has_x(job.op)) {
    check_count(call.x.count, 1, call.count, "x");
    job.x = checked_view(call.x, "x");
  }
  if (has_y(job.op)) {
    check_count(call.y.count, 1, call.count, "y");
    job.y = checked_view(call.y, "y");
  }
  if (job.op == Operation::fmamod) {
    check_count(call.z.count, 1, call.count, "z");
    job.z = checked_view(call.z, "z");
  }
}

// Drop the signs of moduli whose results have none; a negative modulus is an error.
void drop_signs(BatchView& modulus) {
  if (modulus.negative == nullptr) return;
  const auto is_negative = [](std::uint8_t sign) { return sign != 0; };
  if (std::any_of(modulus.negative, modulus.negative + modulus.count, is_negative)) {
    throw_argument("a modulus is negative, but the result is on a device, where it has no sign");
  }
  modulus.negative = nullptr;
}

// Set on_device of the arrays that the operation uses.
void set_places(const mm_call& call, bool fixed_modulus, Job& job) {
  constexpr unsigned kKnown =
      MM_ON_DEVICE_X | MM_ON_DEVICE_Y | MM_ON_DEVICE_Z | MM_ON_DEVICE_MODULUS | MM_ON_DEVICE_RESULT;
  if ((call.on_device & ~kKnown) != 0) {
    throw_argument("on_device is " + number(call.on_device) + ", expected a sum of MM_ON_DEVICE_*");
  }
  const auto set = [&](BatchView& view, unsigned flag, const char* what) {
    if (view.limbs != nullptr) view.on_device = checked_on_device(call, flag, view.negative, what);
  };
  set(job.x, MM_ON_DEVICE_X, "x");
  set(job.y, MM_ON_DEVICE_Y, "y");
  set(job.z, MM_ON_DEVICE_Z, "z");
  if (!fixed_modulus) set(job.modulus, MM_ON_DEVICE_MODULUS, "modulus");
  job.result.on_device = checked_on_device(call, MM_ON_DEVICE_RESULT, job.result.negative, "result");
  if (job.result.on_device) drop_signs(job.modulus);
}

void check_result_fits(const Job& job) {
  if (job.result.width < job.modulus.width) {
    throw_argument("result.width " + number(job.result.width) + " is less than the modulus's width " +
                   number(job.modulus.width));
  }
  if (job.modulus.negative != nullptr && job.result.negative == nullptr) {
    throw_null("result.negative (needed because the modulus has signs)");
  }
}

// Drop sign arrays without a set sign: engines would examine each sign, or reject the call.
void drop_unset_signs(Job& job) {
  const auto drop = [](BatchView& view) {
    if (view.negative == nullptr) return;
    if (all_zero(std::span<const std::uint8_t>(view.negative, view.count))) view.negative = nullptr;
  };
  drop(job.x);
  drop(job.y);
  drop(job.z);
  drop(job.modulus);
}

}  // namespace

std::size_t extent_bytes(std::size_t count, std::size_t width, std::size_t stride) {
  return count == 0 ? 0 : ((count - 1) * stride + width) * sizeof(Limb);
}

BatchView checked_view(const mm_view& view, const char* what) {
  if (view.count == 0) throw_argument(std::string(what) + ".count is 0");
  const std::size_t stride = view.stride == 0 ? view.width : view.stride;
  check_array(view.limbs, view.count, view.width, stride, what);
  return {view.limbs, view.count, view.width, stride, view.negative};
}

Job checked_job(const mm_call& call, Operation op, TimingClass timing, const BatchView* fixed_modulus) {
  Job job;
  job.op = op;
  job.timing = timing;
  set_operands(call, job);
  if (has_exponent(op) && job.y.width > kMaxExponentLimbs) {
    throw_argument("y.width is " + number(job.y.width) + ", exponents have at most " +
                   number(kMaxExponentLimbs) + " limbs");
  }
  if (fixed_modulus != nullptr) {
    job.modulus = *fixed_modulus;
  } else {
    check_count(call.modulus.count, 1, call.count, "modulus");
    job.modulus = checked_view(call.modulus, "modulus");
  }
  job.result = checked_result(call.result, call.count);
  job.status = reinterpret_cast<ItemStatus*>(call.item_status);
  set_places(call, fixed_modulus != nullptr, job);
  check_result_fits(job);
  check_overlaps(job);
  drop_unset_signs(job);
  return job;
}

}  // namespace manymod
