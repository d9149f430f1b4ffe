// SPDX-License-Identifier: Apache-2.0
// Who is at the other end of a socket, and who may use a key.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace manymod::signd {

/// A process at the other end of a Unix socket, as the kernel recorded it when it connected.
struct Peer {
  pid_t process = 0;
  uid_t user = 0;
  std::vector<gid_t> groups;  ///< its group, and its supplementary ones
};
/// @throws std::system_error
Peer peer_of(int socket);

/// Users and groups; a member of either list is allowed.
class AccessList {
 public:
  AccessList() = default;
  /// @param users, groups names or numbers; "*" among the users stands for everyone
  /// @throws std::runtime_error for an unknown name
  AccessList(std::span<const std::string> users, std::span<const std::string> groups);
  [[nodiscard]] bool allows(const Peer& peer) const;

 private:
  bool everyone_ = false;
  std::vector<uid_t> users_;   ///< ascending
  std::vector<gid_t> groups_;  ///< ascending
};

}  // namespace manymod::signd
