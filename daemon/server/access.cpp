// SPDX-License-Identifier: Apache-2.0
#include "server/access.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace manymod::signd {
namespace {

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

std::string peer_name(const std::string& name) {
  for (const char* const kind : {"dns:", "uri:", "email:", "ip:"}) {
    if (name.starts_with(kind) && name.size() > std::string_view(kind).size()) return normal_name(name);
  }
  throw std::runtime_error("a peer is dns:.., uri:.., email:.. or ip:.., not " + name);
}

template <class Sorted, class Value>
bool contains(const Sorted& list, const Value& value) {
  return std::ranges::binary_search(list, value);
}

}  // namespace

// A name that does not exist is looked up in every configured service, which loads all of them.
void load_name_services() noexcept {
  constexpr const char* kNobody = "no user or group of manymod-signd";
  static_cast<void>(getpwnam(kNobody));
  static_cast<void>(getgrnam(kNobody));
}

AccessList::AccessList(const AccessNames& names) : subjects_(names.subjects) {
  for (const std::string& name : names.users) {
    if (name == "*") {
      every_process_ = true;
    } else {
      users_.push_back(user_of(name));
    }
  }
  for (const std::string& name : names.peers) {
    if (name == "*") {
      every_certificate_ = true;
    } else {
      peers_.push_back(peer_name(name));
    }
  }
  std::ranges::transform(names.groups, std::back_inserter(groups_), group_of);
  std::ranges::sort(users_);
  std::ranges::sort(groups_);
  std::ranges::sort(peers_);
  std::ranges::sort(subjects_);
}

bool AccessList::allows(const Peer& peer) const {
  if (peer.is_remote) {
    return every_certificate_ || contains(subjects_, peer.subject) ||
           std::ranges::any_of(peer.names, [&](const std::string& name) { return contains(peers_, name); });
  }
  return every_process_ || contains(users_, peer.user) ||
         std::ranges::any_of(peer.groups, [&](gid_t group) { return contains(groups_, group); });
}

}  // namespace manymod::signd
