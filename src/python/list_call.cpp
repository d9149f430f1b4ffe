// SPDX-License-Identifier: Apache-2.0
#include "python/list_call.hpp"

#include <algorithm>
#include <utility>

namespace manymod::python {
namespace {

/// Items of ListSums between two pauses, some milliseconds.
constexpr std::size_t kItemsPerTurn = std::size_t{1} << 14;
constexpr std::chrono::milliseconds kBetweenReports{100};

}  // namespace

ListOperand::ListOperand(const nb::tuple& description, std::size_t block) : block_(block) {
  if (description[0].is_none()) {
    single_.emplace(description[1], Access::read, "limbs");
    single_sign_.emplace(description[2], Access::read, single_->count(), "signs");
    if (single_->count() != 1) throw nb::value_error("one integer for all items has one row");
    width_ = single_->width();
    return;
  }
  reader_.emplace(description[0]);
  width_ = nb::cast<std::size_t>(description[1]);
  if (nb::cast<bool>(description[2])) signs_.resize(block);
}

mm_view ListOperand::load(std::size_t first, std::size_t count) {
  if (single_) return {single_->row(0), 1, width_, width_, single_sign_->data()};
  std::uint8_t* const signs = signs_.empty() ? nullptr : signs_.data();
  limbs_.resize(block_ * width_);
  reader_->read(static_cast<Py_ssize_t>(first), count, limbs_.data(), width_, width_, signs);
  return {limbs_.data(), count, width_, width_, signs};
}

ListCall::ListCall(std::size_t count, std::size_t block, const nb::tuple& operands, const nb::tuple& modulus,
                   bool signed_result, bool mpz, nb::handle status, std::optional<ListSums> sums)
    : count_(count),
      block_(std::max<std::size_t>(1, std::min(block, count))),
      modulus_(modulus, block_),
      signs_(signed_result ? block_ : 0),
      status_(status, Access::write, count, "status"),
      results_(static_cast<Py_ssize_t>(count), mpz) {
  if (operands.size() == 0 || operands.size() > 3) throw nb::value_error("one to three operands");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    operands_.emplace_back(nb::cast<nb::tuple>(operands[i]), block_);
  }
  call_.struct_size = sizeof call_;
  if (sums && results_.reserves_mpz()) sums_.emplace(*std::move(sums));
}

std::size_t ListCall::sum(std::size_t first, nb::handle progress) {
  if (!sums_) return first;
  while (first < count_) {
    const std::size_t stop = std::min(count_, first + kItemsPerTurn);
    const std::size_t next = sums_->run(first, stop, results_, status_.data());
    if (next != first) pause(next, progress);
    first = next;
    if (next != stop) break;
  }
  return first;
}

void ListCall::pause(std::size_t done, nb::handle progress) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_due = now - reported_ >= kBetweenReports;
  if (is_due) reported_ = now;
  Watch watch{is_due && !progress.is_none() ? progress.ptr() : nullptr, 0, count_, nullptr};
  run_watched(watch, [&] { return on_progress(done, 0, &watch) == 0 ? MM_OK : MM_ERR_CANCELLED; });
}

void ListCall::load(std::size_t first) {
  const std::size_t count = std::min(block_, count_ - first);
  mm_view* const views[] = {&call_.x, &call_.y, &call_.z};
  for (std::size_t i = 0; i < operands_.size(); ++i) *views[i] = operands_[i].load(first, count);
  call_.modulus = modulus_.load(first, count);
  if (signs_.empty()) call_.modulus.negative = nullptr;
  call_.count = count;
  std::uint8_t* const signs = signs_.empty() ? nullptr : signs_.data();
  result_.resize(block_ * modulus_.width());
  call_.result = {result_.data(), count, modulus_.width(), modulus_.width(), signs};
  call_.item_status = status_.data() + first;
}

void ListCall::store() {
  results_.write(call_.count, call_.result.limbs, call_.result.width, call_.result.stride,
                 call_.result.negative);
}

}  // namespace manymod::python
