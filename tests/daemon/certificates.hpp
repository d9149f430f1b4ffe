// SPDX-License-Identifier: Apache-2.0
// Certificates for tests of TLS.
#pragma once

#include <openssl/x509.h>

#include <string>
#include <vector>

#include "daemon/support.hpp"

namespace manymod::signd::test {

/// What a certificate says.
struct Subject {
  std::string name;          ///< CN
  std::string alternatives;  ///< of subjectAltName, as OpenSSL's configuration has them: "DNS:a,URI:b"
  long begins = -3600, ends = 3600;  ///< seconds from now
};

/// An issuer of certificates, whose own is in the file NAME.pem of a folder.
class Authority {
 public:
  Authority(const Folder& folder, const std::string& name);
  /// One whose own certificate is of another issuer.
  Authority(const Folder& folder, const std::string& name, const Authority& issuer);
  /// Write FILE.pem and FILE.key.
  void issue(const std::string& file, const Subject& subject);
  /// Write FILE.crl, which revokes these certificates by the names of their files.
  void revoke(const std::string& file, const std::vector<std::string>& revoked);

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(X509_CRL* list) const { X509_CRL_free(list); }
    void operator()(BIO* bio) const { BIO_free(bio); }
  };
  template <class T>
  using Own = std::unique_ptr<T, Free>;

  /// With these basic constraints; without an own certificate, it is issued to itself.
  [[nodiscard]] Own<X509> certificate(const Subject& subject, EVP_PKEY* key, const std::string& basic) const;
  void write(const std::string& file, X509* certificate, EVP_PKEY* key) const;

  const Folder& folder_;
  Own<EVP_PKEY> key_;
  Own<X509> own_;
};

/// The settings of a client with the certificate FILE.pem, which trusts NAME.pem.
Settings remote_settings(const Folder& folder, const std::string& address, const std::string& file,
                         const std::string& ca = "ca");

/// A port of this machine that nothing listens at.
unsigned short free_port();

}  // namespace manymod::signd::test
