// SPDX-License-Identifier: Apache-2.0
#include "transport/tls.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string_view>

#include "common/secret_file.hpp"

namespace manymod::signd {
namespace {

/// The protocol's name in ALPN (RFC 7301), after its length: connections of other protocols are not taken.
constexpr std::array<unsigned char, 16> kProtocol = {15,  'm', 'a', 'n', 'y', 'm', 'o', 'd',
                                                     '-', 's', 'i', 'g', 'n', 'd', '/', '1'};

struct FreeObject {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeObject>;

OSSL_LIB_CTX* library_of_process() {
  struct Owned {
    pid_t process;
    OSSL_LIB_CTX* library;
  };
  static std::atomic<const Owned*> current{nullptr};
  const Owned* before = current.load();
  if (before != nullptr && before->process == getpid()) return before->library;
  auto made = std::make_unique<Owned>(Owned{getpid(), OSSL_LIB_CTX_new()});
  if (made->library == nullptr) throw std::bad_alloc();
  if (current.compare_exchange_strong(before, made.get())) return made.release()->library;
  OSSL_LIB_CTX_free(made->library);  // another thread was first
  return before->library;
}

std::string reason_of_failure() {
  const unsigned long error = ERR_peek_last_error();
  const char* const reason = ERR_reason_error_string(error);
  ERR_clear_error();
  return reason != nullptr ? reason : "the connection was lost";
}

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error(path + ": " + reason_of_failure());
}

// ---- sockets: libssl's own BIO writes without MSG_NOSIGNAL, which would end programs by SIGPIPE ----------

int socket_of(BIO* bio) { return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio))); }

int write_socket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  const ssize_t sent = send(socket_of(bio), bytes, static_cast<std::size_t>(size), flags);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_socket(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = recv(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const made =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK | BIO_TYPE_DESCRIPTOR, "socket");
    if (made == nullptr || BIO_meth_set_write(made, write_socket) != 1 ||
        BIO_meth_set_read(made, read_socket) != 1 || BIO_meth_set_ctrl(made, control_socket) != 1) {
      throw std::bad_alloc();
    }
    return made;
  }();
  return method;
}

BIO* bio_of(int socket) {
  BIO* const bio = BIO_new(socket_method());
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

// Verification callback for chains that end with an intermediate issuer which the file `ca` names as
// trusted. It accepts the errors that the search for that issuer's own revocation status leads to, since its
// issuer is not in the file. OpenSSL 3.0 may also take a revocation list of another issuer, if the list has
// no key identifier, for one by the last certificate of the chain, and then reports a wrong signature.
int pass_over_trusted_issuer(int good, X509_STORE_CTX* verification) {
  if (good == 1) return 1;
  const int error = X509_STORE_CTX_get_error(verification);
  const int depth = X509_STORE_CTX_get_error_depth(verification);
  const bool unasked = error == X509_V_ERR_UNABLE_TO_GET_CRL ||
                       error == X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER ||
                       error == X509_V_ERR_CRL_SIGNATURE_FAILURE;
  if (!unasked || depth == 0 || depth != sk_X509_num(X509_STORE_CTX_get0_chain(verification)) - 1) return 0;
  X509_STORE_CTX_set_error(verification, X509_V_OK);
  ERR_clear_error();
  return 1;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, kProtocol.data(), kProtocol.size(), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsContext::TlsContext(Side side, const TlsFiles& files) : side_(side), library_(library_of_process()) {
  const SSL_METHOD* const method = side == Side::client ? TLS_client_method() : TLS_server_method();
  context_.reset(SSL_CTX_new_ex(library_, nullptr, method));
  if (!context_) throw std::runtime_error("TLS: " + reason_of_failure());
  configure();
  if (SSL_CTX_load_verify_file(get(), files.ca.c_str()) != 1) fail(files.ca);
  trust_without_roots();
  if (SSL_CTX_use_certificate_chain_file(get(), files.certificate.c_str()) != 1) fail(files.certificate);
  use_key(files.key);
  if (!files.revoked.empty()) use_revoked(files.revoked);
}

// Sessions are not resumed: each connection shows its certificate.
void TlsContext::configure() {
  SSL_CTX_set_options(get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CLEANSE_PLAINTEXT);
  SSL_CTX_set_mode(
      get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_security_level(get(), 2);  // 112 bits: RSA from 2048 bits, no SHA-1
  SSL_CTX_set_verify(get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const bool good =
      SSL_CTX_set_min_proto_version(get(), TLS1_3_VERSION) == 1 && SSL_CTX_set_num_tickets(get(), 0) == 1 &&
      (side_ == Side::server || SSL_CTX_set_alpn_protos(get(), kProtocol.data(), kProtocol.size()) == 0);
  if (!good) throw std::runtime_error("TLS 1.3: " + reason_of_failure());
  if (side_ == Side::server) SSL_CTX_set_alpn_select_cb(get(), choose_protocol, nullptr);
}

// If the file contains no root certificate, the issuers in it are the trust anchors. If it contains one,
// only roots are: then every chain must lead to a root, and the revocation of the intermediate issuers is
// checked.
void TlsContext::trust_without_roots() {
  X509_STORE* const store = SSL_CTX_get_cert_store(get());
  const STACK_OF(X509_OBJECT)* const objects = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    X509* const issuer = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
    if (issuer != nullptr && X509_check_issued(issuer, issuer) == X509_V_OK) return;
  }
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  X509_STORE_set_verify_cb(store, pass_over_trusted_issuer);
}

void TlsContext::use_key(const std::string& path) {
  const SecretBytes file = read_secret_file(path);
  const Owned<BIO> memory(BIO_new_mem_buf(file.data(), static_cast<int>(file.size())));
  if (!memory) throw std::bad_alloc();
  const auto no_password = [](char*, int, int, void*) { return -1; };
  const Owned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey_ex(memory.get(), nullptr, no_password, nullptr, library_, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(get(), key.get()) != 1 || SSL_CTX_check_private_key(get()) != 1) {
    fail(path);
  }
}

void TlsContext::use_revoked(const std::string& path) {
  X509_STORE* const store = SSL_CTX_get_cert_store(get());
  X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
  if (lookup == nullptr || X509_load_crl_file(lookup, path.c_str(), X509_FILETYPE_PEM) < 1 ||
      X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) != 1) {
    fail(path);
  }
}

bool TlsContext::accepts(const SSL* connection) const {
  X509* const certificate = SSL_get0_peer_certificate(connection);
  const Owned<X509_STORE_CTX> verification(X509_STORE_CTX_new_ex(library_, nullptr));
  const bool good = certificate != nullptr && verification != nullptr &&
                    X509_STORE_CTX_init(verification.get(), SSL_CTX_get_cert_store(get()), certificate,
                                        SSL_get_peer_cert_chain(connection)) == 1 &&
                    X509_STORE_CTX_set_default(verification.get(),
                                               side_ == Side::server ? "ssl_client" : "ssl_server") == 1 &&
                    X509_verify_cert(verification.get()) == 1;
  ERR_clear_error();
  return good;
}

TlsStream::TlsStream(const TlsContext& context, Descriptor socket, const std::string& host)
    : socket_(std::move(socket)), connection_(SSL_new(context.get())) {
  if (!connection_) throw std::bad_alloc();
  BIO* const bio = bio_of(socket_.get());
  SSL_set_bio(connection_.get(), bio, bio);
  if (context.side() == TlsContext::Side::server) {
    SSL_set_accept_state(connection_.get());
    return;
  }
  SSL_set_connect_state(connection_.get());
  std::array<unsigned char, 16> address;
  X509_VERIFY_PARAM* const checks = SSL_get0_param(connection_.get());
  X509_VERIFY_PARAM_set_hostflags(checks,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool is_address = inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
                          inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
  const bool good = is_address ? X509_VERIFY_PARAM_set1_ip_asc(checks, host.c_str()) == 1
                               : X509_VERIFY_PARAM_set1_host(checks, host.c_str(), host.size()) == 1 &&
                                     SSL_set_tlsext_host_name(connection_.get(), host.c_str()) == 1;
  if (host.empty() || !good) throw std::runtime_error("no host: " + host);
}

// Tells the other side of the end (close_notify) if the socket has room for it, and does not wait for an
// answer.
TlsStream::~TlsStream() {
  if (socket_ && failure_.empty() && SSL_is_init_finished(connection_.get()) == 1) {
    static_cast<void>(SSL_shutdown(connection_.get()));
    ERR_clear_error();
  }
}

Transfer TlsStream::receive(std::span<std::uint8_t> bytes) {
  Transfer failed;
  if (!shake_hands(failed)) return failed;
  ERR_clear_error();
  std::size_t got = 0;
  const int result = SSL_read_ex(connection_.get(), bytes.data(), bytes.size(), &got);
  return outcome(result, got);
}

Transfer TlsStream::send(ByteSpan bytes) {
  Transfer failed;
  if (!shake_hands(failed)) return failed;
  ERR_clear_error();
  std::size_t sent = 0;
  const int result = SSL_write_ex(connection_.get(), bytes.data(), bytes.size(), &sent);
  return outcome(result, sent);
}

Transfer TlsStream::outcome(int result, std::size_t bytes) {
  if (result == 1) return {Step::done, bytes};
  switch (SSL_get_error(connection_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Step::want_read, 0};
    case SSL_ERROR_WANT_WRITE:
      return {Step::want_write, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {Step::ended, 0};
    default:
      break;
  }
  const long verified = SSL_get_verify_result(connection_.get());
  const std::string reason = reason_of_failure();
  failure_ = verified == X509_V_OK ? reason : X509_verify_cert_error_string(verified);
  return {Step::ended, 0};
}

bool TlsStream::speaks_our_protocol() const {
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(connection_.get(), &protocol, &size);
  return size == kProtocol[0] && std::equal(protocol, protocol + size, kProtocol.begin() + 1);
}

// Both sides check the chosen protocol before they send or accept anything else: the peer may be a server of
// another protocol with a certificate of the same issuer.
bool TlsStream::shake_hands(Transfer& failed) {
  if (established_) return true;
  ERR_clear_error();
  const int result = SSL_do_handshake(connection_.get());
  if (result != 1) {
    failed = outcome(result, 0);
    return false;
  }
  established_ = speaks_our_protocol();
  if (!established_) failure_ = "another protocol than manymod-signd's (ALPN)";
  failed = {Step::ended, 0};
  return established_;
}

X509* TlsStream::certificate() const {
  return established_ ? SSL_get0_peer_certificate(connection_.get()) : nullptr;
}

}  // namespace manymod::signd
