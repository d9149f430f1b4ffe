// SPDX-License-Identifier: Apache-2.0
#include "fuzz/call_builder.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace manymod::fuzz {
namespace {

constexpr std::uint64_t kUntouched = 0xA5A5'A5A5'A5A5'A5A5;
constexpr std::uint8_t kUntouchedByte = 0xA5;

// Widths in limbs: mostly those of a few limbs, now and then those of the largest moduli.
std::size_t choose_width(Choices& choices) {
  if (choices.one_in(64)) return 1 + choices.below(64);
  return 1 + choices.below(8);
}

Operand choose_operand(Choices& choices, std::size_t count, std::size_t width) {
  const std::size_t stride = width + (choices.one_in(4) ? choices.below(4) : 0);
  Operand operand(count, width, stride);
  LimbSource source(choices.word());
  const bool short_items = choices.one_in(3);
  for (std::uint64_t& limb : operand.limbs()) limb = kUntouched;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t used = short_items ? source.random() % (width + 1) : width;
    for (std::size_t j = 0; j < width; ++j) operand.item(i)[j] = j < used ? source.limb() : 0;
  }
  if (choices.one_in(3)) {
    operand.give_signs();
    for (std::uint8_t& sign : operand.signs()) sign = source.random() % 3 == 0 ? 0x80 : 0;
  }
  return operand;
}

// Most moduli are odd, as constant-time calls need them; some are 0 or 1 nevertheless.
void make_odd(Choices& choices, Operand& moduli) {
  if (choices.one_in(4)) return;
  for (std::size_t i = 0; i < moduli.count(); ++i) moduli.item(i)[0] |= 1;
}

int stop_at_once(std::size_t, std::size_t, void*) { return 1; }

}  // namespace

BuiltCall::BuiltCall(Choices& choices, mm_op op, bool shared, const Operand* fixed_modulus)
    : op_(op), modulus_is_fixed_(fixed_modulus != nullptr) {
  call_.struct_size = sizeof call_;
  count_ = choices.below(kMostItems + 1);
  call_.count = count_;
  choose_operands(choices, shared, fixed_modulus);
  choose_result(choices);
  if (choices.one_in(2)) {
    statuses_.assign(count_, kUntouchedByte);
    call_.item_status = statuses_.data();
  }
  if (choices.one_in(16)) call_.progress = stop_at_once;
  if (choices.one_in(4)) make(choices, static_cast<Mistake>(choices.below(kMistakes)));
}

void BuiltCall::choose_operands(Choices& choices, bool shared, const Operand* fixed_modulus) {
  const bool zero_stride = choices.one_in(2);
  std::size_t items = count_;
  std::size_t one = 1;
  if (has_terms(op_)) {
    terms_ = choices.below(5);
    call_.terms = terms_;
    items = count_ * terms_;
    one = terms_;
  }
  const auto chosen_count = [&] { return choices.one_in(3) ? one : items; };
  if (uses_x(op_)) {
    const std::size_t width = choose_width(choices);
    x_ = choose_operand(choices, chosen_count(), width);
  }
  if (uses_y(op_)) {
    // Longer exponents cost time and reach nothing new.
    const std::size_t width = is_power(op_) ? 1 + choices.below(3) : choose_width(choices);
    y_ = choose_operand(choices, chosen_count(), width);
  }
  if (fixed_modulus != nullptr) {
    modulus_ = *fixed_modulus;
  } else {
    const std::size_t width = choose_width(choices);
    modulus_ = choose_operand(choices, shared || choices.one_in(3) ? 1 : count_, width);
    make_odd(choices, modulus_);
    written_modulus_ = modulus_;
    call_.modulus = written_modulus_.view(zero_stride);
  }
  if (op_ == MM_OP_FMAMOD) z_ = choose_operand(choices, chosen_count(), choose_width(choices));
  written_x_ = x_;
  written_y_ = y_;
  written_z_ = z_;
  if (uses_x(op_)) call_.x = written_x_.view(zero_stride);
  if (uses_y(op_)) call_.y = written_y_.view(zero_stride);
  if (op_ == MM_OP_FMAMOD) call_.z = written_z_.view(zero_stride);
}

void BuiltCall::choose_result(Choices& choices) {
  const bool needs_signs = modulus_.has_signs();
  // An operand of the same shape may be overwritten.
  for (Operand* operand : {&written_x_, &written_y_, &written_z_, &written_modulus_}) {
    if (has_terms(op_) || count_ == 0 || operand->count() != count_ || operand->limbs().empty()) continue;
    if (operand->width() < modulus_.width() || !choices.one_in(4)) continue;
    if (needs_signs && !operand->has_signs()) continue;
    result_limbs_ = operand->limbs().data();
    result_negative_ = operand->has_signs() ? operand->signs().data() : nullptr;
    result_stride_ = operand->stride();
    call_.result = {result_limbs_, count_, operand->width(), result_stride_, result_negative_};
    return;
  }
  const std::size_t width = modulus_.width() + (choices.one_in(3) ? choices.below(4) : 0);
  result_stride_ = width + (choices.one_in(4) ? choices.below(4) : 0);
  result_.assign(count_ == 0 ? 0 : (count_ - 1) * result_stride_ + width, kUntouched);
  result_limbs_ = result_.data();
  if (needs_signs || choices.one_in(2)) {
    result_signs_.assign(count_, kUntouchedByte);
    result_negative_ = result_signs_.data();
  }
  call_.result = {result_limbs_, count_, width, result_stride_, result_negative_};
}

mm_view& BuiltCall::among_views(Choices& choices) {
  std::array<mm_view*, 4> used{};
  std::size_t number = 0;
  if (uses_x(op_)) used[number++] = &call_.x;
  if (uses_y(op_)) used[number++] = &call_.y;
  if (op_ == MM_OP_FMAMOD) used[number++] = &call_.z;
  if (!modulus_is_fixed_) used[number++] = &call_.modulus;
  return *used[choices.below(number)];
}

// The call is right before. A mistake that cannot be made in it leaves it right.
void BuiltCall::make(Choices& choices, Mistake mistake) {
  const bool has_items = count_ > 0;
  const bool operands_used = !has_terms(op_) || terms_ > 0;
  mm_view& view = among_views(choices);
  const bool used = has_items && (operands_used || &view == &call_.modulus);
  switch (mistake) {
    case Mistake::nothing:
      return;
    case Mistake::null_limbs:
      view.limbs = nullptr;
      return expect(used, MM_ERR_NULL);
    case Mistake::zero_width:
      view.width = 0;
      return expect(used, MM_ERR_ARGUMENT);
    case Mistake::short_stride:
      if (view.width < 2) return;  // a stride of 0 stands for the width
      view.stride = view.width - 1;
      return expect(used, MM_ERR_ARGUMENT);
    case Mistake::endless_stride:
      if (view.count < 2) return;
      view.stride = std::numeric_limits<std::size_t>::max() / 4;
      return expect(used, MM_ERR_ARGUMENT);
    case Mistake::wrong_count:
      view.count = count_ * std::max<std::size_t>(terms_, 1) + 2;
      return expect(used, MM_ERR_ARGUMENT);
    case Mistake::unaligned_limbs:
      if (!used) return;
      view.limbs = reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(view.limbs) + 1);
      return expect(true, MM_ERR_ARGUMENT);
    case Mistake::narrow_result:
      if (modulus_.width() < 2 || modulus_is_fixed_) return;  // a fixed modulus is as narrow as its value
      call_.result.width = modulus_.width() - 1;
      return expect(has_items, MM_ERR_ARGUMENT);
    case Mistake::null_result_signs:
      call_.result.negative = nullptr;
      result_negative_ = nullptr;
      return expect(has_items && modulus_.has_signs(), MM_ERR_NULL);
    case Mistake::null_result:
      call_.result.limbs = nullptr;
      return expect(has_items, MM_ERR_NULL);
    case Mistake::wrong_result_count:
      call_.result.count = count_ + 1;
      return expect(has_items, MM_ERR_ARGUMENT);
    case Mistake::overlap: {
      // One limb further on, in an array that is long enough.
      const std::size_t needed = 1 + (count_ - 1) * call_.result.stride + call_.result.width;
      if (!used || view.width < 2 || view.stride == call_.result.stride || written_x_.limbs().size() < needed)
        return;
      if (&view != &call_.x) return;
      call_.result.limbs = written_x_.limbs().data() + 1;
      return expect(true, MM_ERR_OVERLAP);
    }
    case Mistake::status_over_limbs:
      if (!used) return;
      call_.item_status = reinterpret_cast<std::uint8_t*>(const_cast<std::uint64_t*>(view.limbs));
      return expect(true, MM_ERR_OVERLAP);
    case Mistake::needless_terms:
      if (has_terms(op_)) return;
      call_.terms = 1 + choices.below(3);
      return expect(has_items, MM_ERR_ARGUMENT);
    case Mistake::unknown_place:
      call_.on_device = 32U << choices.below(8);
      return expect(has_items, MM_ERR_ARGUMENT);
    case Mistake::absent_device:
      // The pointers lead to host memory, so that no device may be there.
      if (mm_device_count() != 1 || result_negative_ != nullptr || modulus_.has_signs()) return;
      call_.on_device = MM_ON_DEVICE_RESULT;
      call_.device_index = static_cast<unsigned>(choices.below(3));
      return expect(has_items, MM_ERR_UNKNOWN_DEVICE);
    case Mistake::small_struct:
      call_.struct_size = choices.below(offsetof(mm_call, on_device));
      return expect(true, MM_ERR_ARGUMENT);
  }
}

std::span<const std::uint64_t> BuiltCall::result(std::size_t i) const {
  return {result_limbs_ + i * result_stride_, call_.result.width};
}

bool BuiltCall::negative_result(std::size_t i) const {
  if (result_negative_ == nullptr) return false;
  require(result_negative_[i] <= 1, "a sign of a result is neither 0 nor 1");
  return result_negative_[i] == 1;
}

bool BuiltCall::kept_its_bounds(bool refused) const {
  const auto untouched = [](std::uint8_t byte) { return byte == kUntouchedByte; };
  if (refused && !std::all_of(statuses_.begin(), statuses_.end(), untouched)) return false;
  if (refused && !std::all_of(result_signs_.begin(), result_signs_.end(), untouched)) return false;
  const std::size_t written = refused ? 0 : call_.result.width;
  for (std::size_t at = 0; at < result_.size(); ++at) {
    if (at % result_stride_ >= written && result_[at] != kUntouched) return false;
  }
  return true;
}

}  // namespace manymod::fuzz
