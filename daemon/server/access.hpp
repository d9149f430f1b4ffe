// SPDX-License-Identifier: Apache-2.0
// Who may use a key.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/peer.hpp"

namespace manymod::signd {

/// Names as the configuration has them.
struct AccessNames {
  std::vector<std::string> users, groups;  ///< names or numbers; "*" among the users: every process
  std::vector<std::string> peers;          ///< Peer::names; "*": every certificate
  std::vector<std::string> subjects;       ///< Peer::subject
};

/// Load what the system resolves names of users and groups with: under the filter of system calls that may
/// not be possible any more.
void load_name_services() noexcept;

/// Users and groups for processes of this machine, names for certificates; who is in any list is allowed.
class AccessList {
 public:
  AccessList() = default;
  /// @throws std::runtime_error for an unknown user or group, and for a peer without a kind of name
  explicit AccessList(const AccessNames& names);
  [[nodiscard]] bool allows(const Peer& peer) const;

 private:
  bool every_process_ = false, every_certificate_ = false;
  std::vector<uid_t> users_;  ///< ascending, as all of these
  std::vector<gid_t> groups_;
  std::vector<std::string> peers_, subjects_;
};

}  // namespace manymod::signd
