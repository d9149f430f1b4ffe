// SPDX-License-Identifier: Apache-2.0
#include "daemon_key.hpp"

#include <openssl/x509.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "client/client.hpp"

namespace manymod::provider {
namespace {

const char* text_of(signd::Status status) {
  switch (status) {
    case signd::Status::ok:
      break;
    case signd::Status::busy:
      return "manymod-signd is busy";
    case signd::Status::denied:
      return "manymod-signd does not allow this user the operation";
    case signd::Status::unknown_key:
      return "manymod-signd does not have the key";
    case signd::Status::unsupported:
      return "manymod-signd does not offer the operation for the key";
    case signd::Status::rejected:
      return "manymod-signd rejected the input";
    case signd::Status::expired:
      return "manymod-signd did not answer in time";
    case signd::Status::failed:
      return "the computation of manymod-signd failed";
    case signd::Status::unavailable:
      return "manymod-signd cannot be reached";
    case signd::Status::cancelled:
      return "the request to manymod-signd was cancelled";
  }
  return "";
}

Answer answer_of(signd::Answer&& answer) {
  return {answer.status == signd::Status::ok, SecretBytes(std::move(answer.output)), text_of(answer.status)};
}

class DaemonKey final : public PrivateKey {
 public:
  DaemonKey(const Provider& provider, const signd::KeyId& id) : provider_(provider), id_(id) {}

  [[nodiscard]] bool offers(const Request&) const override { return true; }
  [[nodiscard]] bool prefers(const Request&, unsigned) const override { return true; }
  [[nodiscard]] bool is_prepared(const Request&) override { return true; }
  void prepare(const Request&) override {}

  [[nodiscard]] Answer call(const Request& request) override {
    return answer_of(provider_.daemon().call(of_daemon(request)));
  }

  void submit(const Request& request, Completion done) override {
    static_cast<void>(provider_.daemon().submit(
        of_daemon(request),
        [done = std::move(done)](signd::Answer&& answer) { done(answer_of(std::move(answer))); }));
  }

 private:
  const Provider& provider_;
  const signd::KeyId id_;

  [[nodiscard]] signd::Request of_daemon(const Request& request) const {
    return {id_, request.scheme, request.input,
            std::chrono::milliseconds(provider_.configuration().timeout_ms)};
  }
};

}  // namespace

std::unique_ptr<PrivateKey> make_daemon_key(const Provider& provider,
                                            std::span<const std::uint8_t> subject_public_key_info) {
  signd::KeyId id{};
  const Libcrypto<EVP_MD> hash(EVP_MD_fetch(provider.library(), "SHA256", kDelegate));
  if (hash == nullptr || EVP_Digest(subject_public_key_info.data(), subject_public_key_info.size(), id.data(),
                                    nullptr, hash.get(), nullptr) == 0) {
    throw std::runtime_error("SHA-256 is not available");
  }
  return std::make_unique<DaemonKey>(provider, id);
}

std::unique_ptr<PrivateKey> make_daemon_key(const Provider& provider, EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key, &der);
  if (size <= 0) return nullptr;
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(
      der, [](unsigned char* bytes) { OPENSSL_free(bytes); });
  return make_daemon_key(provider, {der, static_cast<std::size_t>(size)});
}

}  // namespace manymod::provider
