// SPDX-License-Identifier: Apache-2.0
// Who is at the other end of a connection.
#pragma once

#include <openssl/x509.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace manymod::signd {

/// A process of this machine, as the kernel recorded it when it connected by the Unix socket; or the holder
/// of a certificate, by TLS.
struct Peer {
  /// What limits, logs and metrics know it by: "user=33", "peer=CN=web1,O=Example" (the certificate's subject
  /// by RFC 2253; the first of its names if that is empty), and before its certificate is known
  /// "address=192.0.2.7"; of IPv6 "address=2001:db8::/64", as a host has all addresses of its network.
  std::string principal;
  bool is_remote = false;
  // Of a process.
  pid_t process = 0;
  uid_t user = 0;
  std::vector<gid_t> groups;  ///< its group, and its supplementary ones
  // Of a certificate.
  std::string address;  ///< numeric
  std::string subject;  ///< by RFC 2253
  std::vector<std::string>
      names;  ///< its subjectAltName: "dns:web1.example.org", "uri:..", "email:..", "ip:.."

  /// Whether nothing but its address is known.
  [[nodiscard]] bool is_unauthenticated() const { return principal.starts_with("address="); }
};

/// @throws std::system_error
Peer peer_of_process(int socket);
/// A peer whose certificate is not known yet.
Peer peer_of_address(const std::string& address);
/// A peer at this address with a certificate that was verified. @throws std::bad_alloc
Peer peer_of_certificate(const std::string& address, X509* certificate);

/// "process 12 of user 33" or "peer=CN=web1 at 192.0.2.7", for a log.
std::string name_of(const Peer& peer);

/// A name of a certificate in one spelling: those of hosts and addresses of mail in lower case.
std::string normal_name(const std::string& name);

}  // namespace manymod::signd
