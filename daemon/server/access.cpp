// SPDX-License-Identifier: Apache-2.0
#include "server/access.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace manymod::signd {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::optional<std::uint32_t> number_of(const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

uid_t user_of(const std::string& name) {
  if (const auto number = number_of(name)) return *number;
  const passwd* const entry = getpwnam(name.c_str());
  if (entry == nullptr) throw std::runtime_error("there is no user " + name);
  return entry->pw_uid;
}

gid_t group_of(const std::string& name) {
  if (const auto number = number_of(name)) return *number;
  const group* const entry = getgrnam(name.c_str());
  if (entry == nullptr) throw std::runtime_error("there is no group " + name);
  return entry->gr_gid;
}

std::vector<gid_t> supplementary_groups(int socket) {
  std::vector<gid_t> groups(32);
  for (;;) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0) {
      groups.resize(bytes / sizeof(gid_t));
      return groups;
    }
    // Kernels before 4.13, and substitutes for the kernel, do not know them: then the first group counts.
    if (errno == ENOPROTOOPT) return {};
    if (errno != ERANGE) fail("SO_PEERGROUPS");
    groups.resize(std::max(2 * groups.size(), bytes / sizeof(gid_t)));
  }
}

}  // namespace

Peer peer_of(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) fail("SO_PEERCRED");
  Peer peer{credentials.pid, credentials.uid, supplementary_groups(socket)};
  peer.groups.push_back(credentials.gid);
  return peer;
}

AccessList::AccessList(std::span<const std::string> users, std::span<const std::string> groups) {
  for (const std::string& name : users) {
    if (name == "*") {
      everyone_ = true;
    } else {
      users_.push_back(user_of(name));
    }
  }
  std::ranges::transform(groups, std::back_inserter(groups_), group_of);
  std::ranges::sort(users_);
  std::ranges::sort(groups_);
}

bool AccessList::allows(const Peer& peer) const {
  return everyone_ || std::ranges::binary_search(users_, peer.user) ||
         std::ranges::any_of(peer.groups, [&](gid_t g) { return std::ranges::binary_search(groups_, g); });
}

}  // namespace manymod::signd
