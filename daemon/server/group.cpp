// SPDX-License-Identifier: Apache-2.0
#include "server/group.hpp"

#include <tuple>
#include <utility>

#include "server/log.hpp"

namespace manymod::signd {
namespace {

using Row = std::tuple<std::uint64_t, Status, ByteSpan>;

Status status_of(std::uint8_t item) {
  switch (item) {
    case MM_OK:
      return Status::ok;
    case MM_ITEM_EXPIRED:
      return Status::expired;
    case MM_ITEM_RSA_LENGTH:
    case MM_ITEM_RSA_RANGE:
    case MM_ITEM_RSA_DECRYPTION:
    case MM_ITEM_ECC_POINT:
    case MM_ITEM_ECC_SMALL_ORDER:
    case MM_ITEM_ECC_LENGTH:
      return Status::rejected;
    case MM_ITEM_RSA_PADDING:
    case MM_ITEM_ECC_CURVE:
      return Status::unsupported;
    default:
      return Status::failed;
  }
}

}  // namespace

Group::Group(std::shared_ptr<const Generation> generation, std::shared_ptr<Connection> connection,
             const ServedOperation& operation, std::uint32_t timeout_ms)
    : generation_(std::move(generation)),
      connection_(std::move(connection)),
      operation_(operation),
      timeout_ms_(timeout_ms) {}

void Group::add(std::uint64_t id, std::uint32_t key, ByteSpan input) {
  ids_.push_back(id);
  keys_.push_back(key);
  inputs_.insert(inputs_.end(), input.begin(), input.end());
  offsets_.push_back(static_cast<std::int64_t>(inputs_.size()));
}

void Group::submit(std::unique_ptr<Group> group) {
  const std::size_t count = group->ids_.size();
  group->outputs_.resize(count * group->operation_.row_bytes);
  group->sizes_.resize(count);
  group->statuses_.resize(count);
  mm_service_requests requests{};
  requests.struct_size = sizeof requests;
  requests.operation = group->operation_.number;
  requests.count = count;
  requests.key = group->keys_.data();
  requests.input.count = count;
  requests.input.data = group->inputs_.data();
  requests.input.offsets = group->offsets_.data();
  requests.output = {group->outputs_.data(), count, group->operation_.row_bytes, group->sizes_.data()};
  requests.item_status = group->statuses_.data();
  requests.timeout_ns = std::uint64_t{group->timeout_ms_} * 1'000'000;
  mm_service* const service = group->generation_->service().get();
  Group* const given = group.release();  // done() may run, and destroy it, before this call returns
  const mm_status status = mm_service_submit_many(service, &requests, &done, given, nullptr);
  if (status == MM_OK) return;
  const std::unique_ptr<Group> back(given);
  if (status != MM_ERR_FULL) log_line(Level::error, std::string("a submission failed: ") + mm_last_error());
  back->answer_all(status == MM_ERR_FULL ? Status::busy : Status::failed);
}

void Group::done(mm_status, void* user) {
  const std::unique_ptr<Group> group(static_cast<Group*>(user));
  group->answer_computed();
}

void Group::answer_all(Status status) {
  connection_->answer(ids_.size(), [&](std::size_t i) { return Row{ids_[i], status, {}}; });
}

void Group::answer_computed() {
  connection_->answer(ids_.size(), [&](std::size_t i) {
    const Status status = status_of(statuses_[i]);
    const std::size_t size = status == Status::ok ? sizes_[i] : 0;
    return Row{ids_[i], status, ByteSpan(outputs_).subspan(i * operation_.row_bytes, size)};
  });
}

}  // namespace manymod::signd
