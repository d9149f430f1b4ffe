// SPDX-License-Identifier: Apache-2.0
#include "python/list_call.hpp"

#include <algorithm>

namespace manymod::python {

ListOperand::ListOperand(const nb::tuple& description, std::size_t block) {
  if (description[0].is_none()) {
    single_.emplace(description[1], Access::read, "limbs");
    single_sign_.emplace(description[2], Access::read, single_->count(), "signs");
    if (single_->count() != 1) throw nb::value_error("one integer for all items has one row");
    width_ = single_->width();
    return;
  }
  reader_.emplace(description[0]);
  width_ = nb::cast<std::size_t>(description[1]);
  limbs_.resize(block * width_);
  if (nb::cast<bool>(description[2])) signs_.resize(block);
}

mm_view ListOperand::load(std::size_t first, std::size_t count) {
  if (single_) return {single_->row(0), 1, width_, width_, single_sign_->data()};
  std::uint8_t* const signs = signs_.empty() ? nullptr : signs_.data();
  reader_->read(static_cast<Py_ssize_t>(first), count, limbs_.data(), width_, width_, signs);
  return {limbs_.data(), count, width_, width_, signs};
}

ListCall::ListCall(std::size_t count, std::size_t block, const nb::tuple& operands, const nb::tuple& modulus,
                   bool signed_result, bool mpz, nb::handle status)
    : count_(count),
      block_(std::max<std::size_t>(1, std::min(block, count))),
      modulus_(modulus, block_),
      result_(block_ * modulus_.width()),
      signs_(signed_result ? block_ : 0),
      status_(status, Access::write, count, "status"),
      results_(static_cast<Py_ssize_t>(count), mpz) {
  if (operands.size() == 0 || operands.size() > 3) throw nb::value_error("one to three operands");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    operands_.emplace_back(nb::cast<nb::tuple>(operands[i]), block_);
  }
  call_.struct_size = sizeof call_;
}

void ListCall::load(std::size_t first) {
  const std::size_t count = std::min(block_, count_ - first);
  mm_view* const views[] = {&call_.x, &call_.y, &call_.z};
  for (std::size_t i = 0; i < operands_.size(); ++i) *views[i] = operands_[i].load(first, count);
  call_.modulus = modulus_.load(first, count);
  if (signs_.empty()) call_.modulus.negative = nullptr;
  call_.count = count;
  std::uint8_t* const signs = signs_.empty() ? nullptr : signs_.data();
  call_.result = {result_.data(), count, modulus_.width(), modulus_.width(), signs};
  call_.item_status = status_.data() + first;
}

void ListCall::store() {
  results_.write(call_.count, call_.result.limbs, call_.result.width, call_.result.stride,
                 call_.result.negative);
}

}  // namespace manymod::python
