// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 with certificates on both sides (RFC 8446), by libssl.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "transport/stream.hpp"

namespace manymod::signd {

/// PEM files.
struct TlsFiles {
  std::string ca;           ///< certificates of those that may issue the other side's, with or without roots
  std::string certificate;  ///< the own one, and what is between it and its root
  std::string key;          ///< of the own certificate, not encrypted
  std::string revoked;      ///< lists of revoked certificates (CRL) by their issuers; "": none is looked at
};

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

/// What one side's connections have alike. Thread-safe once it is made.
///
/// TLS here has a library context of its own: a client may be a part of an OpenSSL provider, whose
/// application has that provider do what TLS needs. A process has one, for ever: libcrypto's threads look at
/// it when they end. That of a parent is left alone in its children, as its locks may be held by threads that
/// are not there.
class TlsContext {
 public:
  enum class Side : std::uint8_t { client, server };
  /// @throws std::runtime_error that names the file that is wrong
  TlsContext(Side side, const TlsFiles& files);
  [[nodiscard]] SSL_CTX* get() const { return context_.get(); }
  [[nodiscard]] Side side() const { return side_; }
  /// Whether a connection's certificate, which another context has accepted, would be accepted by this one:
  /// its issuer, its time, the lists of revoked ones.
  [[nodiscard]] bool accepts(const SSL* connection) const;

 private:
  void configure();
  void trust_without_roots();
  void use_key(const std::string& path);
  void use_revoked(const std::string& path);

  const Side side_;
  OSSL_LIB_CTX* const library_;
  std::unique_ptr<SSL_CTX, FreeTls> context_;
};

/// A connection. The first receive() or send() begins the handshake; where the other side has not chosen the
/// protocol of manymod-signd (ALPN), the stream ends with it.
class TlsStream final : public Stream {
 public:
  /// @param host for clients: the name or the address that the daemon's certificate must have
  /// @throws std::bad_alloc, std::runtime_error for a host that is none
  TlsStream(const TlsContext& context, Descriptor socket, const std::string& host = "");
  ~TlsStream() override;

  [[nodiscard]] int socket() const override { return socket_.get(); }
  Transfer receive(std::span<std::uint8_t> bytes) override;
  Transfer send(ByteSpan bytes) override;
  [[nodiscard]] std::string failure() const override { return failure_; }
  /// Whether the handshake is done.
  [[nodiscard]] bool is_established() const { return established_; }
  /// The other side's certificate; null before is_established(), and the stream's.
  [[nodiscard]] X509* certificate() const;
  [[nodiscard]] const SSL* connection() const { return connection_.get(); }

 private:
  [[nodiscard]] bool shake_hands(Transfer& failed);
  [[nodiscard]] bool speaks_our_protocol() const;
  Transfer outcome(int result, std::size_t bytes);

  Descriptor socket_;
  std::unique_ptr<SSL, FreeTls> connection_;
  bool established_ = false;
  std::string failure_;
};

}  // namespace manymod::signd
