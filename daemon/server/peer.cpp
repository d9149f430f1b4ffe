// SPDX-License-Identifier: Apache-2.0
#include "server/peer.hpp"

#include <arpa/inet.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <system_error>

namespace manymod::signd {
namespace {

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::vector<gid_t> supplementary_groups(int socket) {
  std::vector<gid_t> groups(32);
  for (;;) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0) {
      groups.resize(bytes / sizeof(gid_t));
      return groups;
    }
    // Linux before 4.13, and sandboxes that emulate it, lack SO_PEERGROUPS: then only the primary group
    // counts.
    if (errno == ENOPROTOOPT) return {};
    if (errno != ERANGE) fail("SO_PEERGROUPS");
    groups.resize(std::max(2 * groups.size(), bytes / sizeof(gid_t)));
  }
}

std::string subject_of(const X509* certificate) {
  const std::unique_ptr<BIO, FreeNames> text(BIO_new(BIO_s_mem()));
  if (!text || X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) < 0) {
    throw std::bad_alloc();
  }
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return size > 0 ? std::string(bytes, static_cast<std::size_t>(size)) : "";
}

std::string text_of(const ASN1_STRING* string) {
  const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(string));
  return {bytes, static_cast<std::size_t>(ASN1_STRING_length(string))};
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (ASN1_STRING_length(bytes) != 4 && ASN1_STRING_length(bytes) != 16) return "";
  return inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size()) != nullptr ? text.data()
                                                                                              : "";
}

std::string text_of(const GENERAL_NAME* name) {
  switch (name->type) {
    case GEN_DNS:
      return "dns:" + text_of(name->d.dNSName);
    case GEN_URI:
      return "uri:" + text_of(name->d.uniformResourceIdentifier);
    case GEN_EMAIL:
      return "email:" + text_of(name->d.rfc822Name);
    case GEN_IPADD:
      return "ip:" + address_of(name->d.iPAddress);
    default:
      return "";
  }
}

std::vector<std::string> names_of(const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, FreeNames> all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> names;
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const std::string name = text_of(sk_GENERAL_NAME_value(all.get(), i));
    // Only names of printable ASCII are used. A name with a zero byte would be cut short where it is
    // compared as a C string, and one with a line break could forge lines of logs and metrics.
    const bool printable = std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!name.empty() && printable) names.push_back(normal_name(name));
  }
  return names;
}

// The part of an address that a host cannot choose freely: the first 64 bits of an IPv6 address (RFC 4291,
// 2.5.4). IPv4-mapped IPv6 addresses are used whole, because they all have the same first 64 bits.
std::string network_of(const std::string& address) {
  in6_addr bytes{};
  const std::string number = address.substr(0, address.find('%'));
  if (inet_pton(AF_INET6, number.c_str(), &bytes) != 1 || IN6_IS_ADDR_V4MAPPED(&bytes)) return address;
  std::fill(std::begin(bytes.s6_addr) + 8, std::end(bytes.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> text{};
  return std::string(inet_ntop(AF_INET6, &bytes, text.data(), text.size())) + "/64";
}

}  // namespace

std::string normal_name(const std::string& name) {
  std::string normal = name;
  if (name.starts_with("dns:") || name.starts_with("email:") || name.starts_with("ip:")) {
    std::ranges::transform(normal, normal.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  }
  return normal;
}

Peer peer_of_process(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) fail("SO_PEERCRED");
  Peer peer;
  peer.principal = "user=" + std::to_string(credentials.uid);
  peer.process = credentials.pid;
  peer.user = credentials.uid;
  peer.groups = supplementary_groups(socket);
  peer.groups.push_back(credentials.gid);
  return peer;
}

Peer peer_of_address(const std::string& address) {
  Peer peer;
  peer.principal = "address=" + network_of(address);
  peer.is_remote = true;
  peer.address = address;
  return peer;
}

Peer peer_of_certificate(const std::string& address, X509* certificate) {
  Peer peer = peer_of_address(address);
  peer.subject = subject_of(certificate);
  peer.names = names_of(certificate);
  const bool named = peer.subject.empty() && !peer.names.empty();
  peer.principal = "peer=" + (named ? peer.names.front() : peer.subject);
  return peer;
}

std::string name_of(const Peer& peer) {
  if (!peer.is_remote) {
    return "process " + std::to_string(peer.process) + " of user " + std::to_string(peer.user);
  }
  return peer.principal + " at " + peer.address;
}

}  // namespace manymod::signd
