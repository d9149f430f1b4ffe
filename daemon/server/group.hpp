// SPDX-License-Identifier: Apache-2.0
// Requests of one client for one operation, which are submitted to the service together: that costs much
// less than to submit each of them.
#pragma once

#include <memory>
#include <vector>

#include "server/connection.hpp"
#include "server/generation.hpp"

namespace manymod::signd {

class Group {
 public:
  /// All answers of a group wait for its last one, so that a group is small: two vectors of a processor,
  /// which is enough to make the cost of a submission small.
  static constexpr std::size_t kMost = 16;

  Group(std::shared_ptr<const Generation> generation, std::shared_ptr<Connection> connection,
        const ServedOperation& operation, std::uint32_t timeout_ms);
  ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] bool takes(const ServedOperation& operation, std::uint32_t timeout_ms) const {
    return operation.number == operation_.number && timeout_ms == timeout_ms_ && ids_.size() < kMost;
  }
  void add(std::uint64_t id, std::uint32_t key, ByteSpan input);
  /// Give it to the service, which destroys it with its answers. Where the service takes nothing, all are
  /// answered with Status::busy at once.
  static void submit(std::unique_ptr<Group> group);

 private:
  static void done(mm_status status, void* user);
  void answer_all(Status status);
  void answer_computed();

  const std::shared_ptr<const Generation> generation_;
  const std::shared_ptr<Connection> connection_;
  const ServedOperation operation_;
  const std::uint32_t timeout_ms_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::uint32_t> keys_;
  Bytes inputs_, outputs_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::size_t> sizes_;
  Bytes statuses_;
};

}  // namespace manymod::signd
