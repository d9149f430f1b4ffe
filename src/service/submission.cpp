// SPDX-License-Identifier: Apache-2.0
#include "service/submission.hpp"

#include <algorithm>
#include <cstring>

#include "abi/enum_value.hpp"
#include "core/status_error.hpp"

namespace manymod::service {
namespace {

const std::uint8_t* checked_bytes(const mm_bytes& bytes, const char* what) {
  if (bytes.data == nullptr && bytes.size != 0) {
    throw StatusError(MM_ERR_NULL, std::string(what) + ".data is NULL");
  }
  return bytes.data;
}

}  // namespace

bool is_failure(const mm_answer& answer) {
  const long long status = enum_value(answer.status);
  const bool not_valid = status == MM_ITEM_RSA_SIGNATURE_LENGTH || status == MM_ITEM_ECC_SIGNATURE;
  return status != MM_OK && !not_valid;
}

void Submission::answered(std::size_t requests) noexcept {
  if (unanswered_.fetch_sub(requests, std::memory_order_acq_rel) != requests) return;
  notify();
  {
    const std::scoped_lock lock(mutex_);
    ended_.store(true, std::memory_order_release);
  }
  end_.notify_all();
}

bool Submission::wait(std::uint64_t timeout_ns) {
  if (ended()) return true;
  std::unique_lock lock(mutex_);
  const auto over = [this] { return ended(); };
  return end_.wait_for(lock, bounded(timeout_ns), over);
}

SingleRequest::SingleRequest(const mm_service_request& request, mm_answer_fn done, void* user, bool keep)
    : Submission(request.operation, 1, request.timeout_ns),
      key_(request.key),
      input_size_(request.input.size),
      signature_size_(request.signature.size),
      done_(done),
      user_(user),
      keep_(keep) {
  const std::uint8_t* const input = checked_bytes(request.input, "input");
  const std::uint8_t* const signature = checked_bytes(request.signature, "signature");
  operands_.reserve(input_size_ + signature_size_);
  operands_.insert(operands_.end(), input, input + input_size_);
  operands_.insert(operands_.end(), signature, signature + signature_size_);
}

SingleRequest::~SingleRequest() {
  wipe_bytes(operands_.data(), operands_.size());
  wipe_bytes(output_.data(), output_.size());
}

void SingleRequest::require_suited(const Operation& operation) const {
  if (!operation.verifies() && signature_size_ != 0) {
    throw StatusError(MM_ERR_ARGUMENT, "signature is for verifications");
  }
}

Operands SingleRequest::operands(std::size_t) const {
  return {key_, {operands_.data(), input_size_}, {operands_.data() + input_size_, signature_size_}};
}

void SingleRequest::answer(std::size_t, const mm_answer& answer) noexcept {
  try {
    if (done_ != nullptr) done_(&answer, user_);
  } catch (...) {  // a callback's exception is discarded, as none may cross the C ABI
  }
  if (!keep_) return;
  answer_ = answer;
  try {
    output_.assign(answer.output.data, answer.output.data + answer.output.size);
    message_ = answer.message;
  } catch (...) {  // out of memory
    answer_.status = MM_ERR_MEMORY;
    output_.clear();
  }
}

mm_answer SingleRequest::summary() const {
  mm_answer answer = answer_;
  answer.output = {output_.data(), output_.size()};
  answer.message = message_.c_str();
  return answer;
}

RequestArray::RequestArray(const mm_service_requests& requests, std::size_t row_bytes, mm_done_fn done,
                           void* user)
    : Submission(requests.operation, requests.count, requests.timeout_ns),
      arrays_(requests),
      row_bytes_(row_bytes),
      done_(done),
      user_(user),
      keys_(copied_indices(requests.key, requests.count)),
      input_(requests.input, requests.count, "input") {
  WrittenRanges written;
  written.keep(input_);
  if (row_bytes == 0) {
    signature_.emplace(requests.signature, requests.count, "signature");
    written.keep(signature_);
    if (requests.valid == nullptr) throw StatusError(MM_ERR_NULL, "valid is NULL");
    written.add("valid", requests.valid, requests.count);
  } else {
    check_output(row_bytes, written);
  }
  written.add("item_status", requests.item_status, requests.count);
}

void RequestArray::check_output(std::size_t row_bytes, WrittenRanges& written) const {
  const mm_bytes_result& output = arrays_.output;
  if (output.data == nullptr) throw StatusError(MM_ERR_NULL, "output.data is NULL");
  if (output.count != count()) {
    throw StatusError(MM_ERR_ARGUMENT, "output.count is " + std::to_string(output.count) + ", expected " +
                                           std::to_string(count()));
  }
  if (output.stride < row_bytes) {
    throw StatusError(MM_ERR_ARGUMENT, "output.stride is " + std::to_string(output.stride) +
                                           ", expected at least " + std::to_string(row_bytes));
  }
  written.add("output", output.data, extent_of(count(), output.stride, row_bytes));
  written.add("output.sizes", output.sizes, extent_of(count(), sizeof *output.sizes, sizeof *output.sizes));
}

Operands RequestArray::operands(std::size_t request) const {
  const ByteSpan input = input_[request];
  Operands operands{keys_.empty() ? 0 : keys_[request], {input.data(), input.size()}, {}};
  if (signature_) {
    const ByteSpan signature = (*signature_)[request];
    operands.signature = {signature.data(), signature.size()};
  }
  return operands;
}

void RequestArray::answer(std::size_t request, const mm_answer& answer) noexcept {
  if (is_failure(answer)) failed_.store(true, std::memory_order_relaxed);
  const bool of_item = enum_value(answer.status) < MM_ERR_ITEMS;
  if (!of_item) keep_failure(answer);
  if (arrays_.item_status != nullptr) {
    const mm_status status = of_item ? answer.status : MM_ITEM_NOT_COMPUTED;
    arrays_.item_status[request] = static_cast<std::uint8_t>(status);
  }
  if (row_bytes_ == 0) {
    arrays_.valid[request] = answer.valid != 0 ? 1 : 0;
    return;
  }
  std::uint8_t* const row = arrays_.output.data + request * arrays_.output.stride;
  if (answer.output.size != 0) std::memcpy(row, answer.output.data, answer.output.size);
  std::memset(row + answer.output.size, 0, row_bytes_ - answer.output.size);
  if (arrays_.output.sizes != nullptr) arrays_.output.sizes[request] = answer.output.size;
}

void RequestArray::keep_failure(const mm_answer& answer) noexcept {
  const std::scoped_lock lock(failure_mutex_);
  if (failure_ != MM_OK) return;
  failure_ = answer.status;
  try {
    failure_message_ = answer.message;
  } catch (...) {  // out of memory: the status alone
  }
}

mm_answer RequestArray::summary() const {
  if (failure_ != MM_OK) return {failure_, 0, {}, failure_message_.c_str()};
  return {failed_.load(std::memory_order_relaxed) ? MM_ERR_ITEMS : MM_OK, 0, {}, ""};
}

void RequestArray::notify() noexcept {
  try {
    if (done_ != nullptr) done_(summary().status, user_);
  } catch (...) {  // as above
  }
}

}  // namespace manymod::service
