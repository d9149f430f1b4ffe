// SPDX-License-Identifier: Apache-2.0
// Keys whose operations are computed by a service in this process (manymod/service.h).
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "curves.hpp"
#include "engine.hpp"
#include "manymod/service.hpp"
#include "per_process.hpp"

namespace manymod::provider {
namespace {

constexpr std::size_t kLongestAnswer = MM_RSA_MAX_BITS / 8;

/// What a service computes of a key, by the parts of its scheme.
using SchemeParts = std::tuple<Operation, mm_hash, mm_hash, int>;

SchemeParts parts_of(const Scheme& scheme) {
  return {scheme.operation, scheme.hash, scheme.mgf_hash, scheme.salt_length};
}

unsigned concurrent(const EngineSettings& settings) {
  // At least 2: with one batch at a time, the service would hold back the request of a program's only thread
  // to gather others, which cannot come.
  return settings.concurrent != 0 ? settings.concurrent : std::max(2U, mm_get_threads());
}

ServiceOptions options_of(const EngineSettings& settings) {
  ServiceOptions options;
  options.deadline = std::chrono::microseconds(settings.deadline_us);
  options.max_concurrent = concurrent(settings);
  return options;
}

/// A completion as a callback of the C interface.
struct Waiting {
  Completion done;

  static void answered(const mm_answer* answer, void* user) {
    const std::unique_ptr<Waiting> waiting(static_cast<Waiting*>(user));
    if (answer->status == MM_OK) {
      waiting->done({true, SecretBytes(std::span(answer->output.data, answer->output.size)), {}});
    } else {
      waiting->done({false, {}, mm_status_message(answer->status)});
    }
  }
};

/// A service with one key, whose operations are added when they are first asked for.
class KeyService {
 public:
  explicit KeyService(const EngineSettings& settings) : service_(options_of(settings)) {}
  virtual ~KeyService() = default;
  KeyService(const KeyService&) = delete;
  KeyService& operator=(const KeyService&) = delete;

  [[nodiscard]] bool has(const Scheme& scheme) {
    const std::scoped_lock lock(mutex_);
    return operations_.contains(parts_of(scheme));
  }
  std::size_t operation(const Scheme& scheme) {
    const std::scoped_lock lock(mutex_);
    const auto found = operations_.find(parts_of(scheme));
    if (found != operations_.end()) return found->second;
    return operations_.emplace(parts_of(scheme), add(service_, scheme)).first->second;
  }
  [[nodiscard]] Service& service() { return service_; }

 protected:
  virtual std::size_t add(Service& service, const Scheme& scheme) = 0;

 private:
  std::mutex mutex_;
  std::map<SchemeParts, std::size_t> operations_;
  Service service_;
};

/// What keys of all kinds have in common.
class ServiceKey : public PrivateKey {
 public:
  explicit ServiceKey(EngineSettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] bool is_prepared(const Request& request) override {
    KeyService* const made = of_process_.find();
    return made != nullptr && made->has(request.scheme);
  }
  void prepare(const Request& request) override { static_cast<void>(mine().operation(request.scheme)); }

  [[nodiscard]] Answer call(const Request& request) override {
    KeyService& mine = this->mine();
    const mm_service_request asked = request_of(mine, request);
    SecretBytes output(kLongestAnswer);
    mm_answer answer{};
    if (mm_service_call(mine.service().get(), &asked, output.data(), output.size(), &answer) != MM_OK) {
      return {false, {}, mm_status_message(answer.status)};
    }
    output.shorten(answer.output.size);
    return {true, std::move(output), {}};
  }

  void submit(const Request& request, Completion done) override {
    KeyService& mine = this->mine();
    const mm_service_request asked = request_of(mine, request);
    auto* const waiting = new Waiting{std::move(done)};
    const mm_status status =
        mm_service_submit(mine.service().get(), &asked, &Waiting::answered, waiting, nullptr);
    if (status == MM_OK) return;  // answered() deletes it
    delete waiting;
    check(status);
  }

 protected:
  [[nodiscard]] const EngineSettings& settings() const { return settings_; }
  [[nodiscard]] virtual std::unique_ptr<KeyService> make_service() const = 0;

 private:
  const EngineSettings settings_;
  PerProcess<KeyService> of_process_;

  KeyService& mine() {
    return of_process_.get([this] { return make_service(); });
  }

  static mm_service_request request_of(KeyService& mine, const Request& request) {
    mm_service_request asked{};
    asked.struct_size = sizeof asked;
    asked.operation = mine.operation(request.scheme);
    asked.input = {request.input.data(), request.input.size()};
    return asked;
  }
};

// ---- RSA --------------------------------------------------------------------------------------------------

class RsaService final : public KeyService {
 public:
  RsaService(const EngineSettings& settings, const rsa::Key& key)
      : KeyService(settings), ring_(std::make_unique<rsa::Ring>(key, placement_of(settings))) {}
  ~RsaService() override {
    // The service's threads compute with the ring.
    static_cast<void>(mm_service_close(service().get(), 0));
  }

 protected:
  std::size_t add(Service& service, const Scheme& scheme) override {
    switch (scheme.operation) {
      case Operation::sign_pkcs1:
        return service.add(*ring_, MM_RSA_SIGN, rsa::prehashed(rsa::pkcs1v15(scheme.hash)));
      case Operation::sign_pss:
        return service.add(*ring_, MM_RSA_SIGN,
                           rsa::prehashed(rsa::pss(scheme.hash, scheme.salt_length, scheme.mgf_hash)));
      case Operation::decrypt_pkcs1:
        return service.add(*ring_, MM_RSA_DECRYPT, rsa::pkcs1v15());
      case Operation::decrypt_oaep:
        return service.add(*ring_, MM_RSA_DECRYPT, rsa::oaep(scheme.hash, {}, scheme.mgf_hash));
      default:
        return service.add(*ring_, MM_RSA_PRIVATE, rsa::raw());
    }
  }

 private:
  std::unique_ptr<rsa::Ring> ring_;
};

class RsaServiceKey final : public ServiceKey {
 public:
  RsaServiceKey(const EngineSettings& settings, rsa::Key key)
      : ServiceKey(settings), key_(std::move(key)), bits_(key_.info().modulus_bits) {}

  [[nodiscard]] bool offers(const Request& request) const override {
    const Scheme& scheme = request.scheme;
    switch (scheme.operation) {
      case Operation::sign_pkcs1:
      case Operation::sign_pss:
        // manymod verifies signatures with SHA-1, but makes none.
        return scheme.hash != MM_HASH_NONE && scheme.hash != MM_SHA1 &&
               request.input.size() == mm_hash_size(scheme.hash);
      case Operation::decrypt_oaep:
        return scheme.hash != MM_HASH_NONE;
      case Operation::decrypt_pkcs1:
      case Operation::raw:
        return true;
      default:
        return false;
    }
  }
  [[nodiscard]] bool prefers(const Request& request, unsigned active) const override {
    return request.never_by_libcrypto || bits_ >= settings().rsa_alone_bits ||
           active > concurrent(settings());
  }

 protected:
  [[nodiscard]] std::unique_ptr<KeyService> make_service() const override {
    return std::make_unique<RsaService>(settings(), key_);
  }

 private:
  const rsa::Key key_;
  const std::size_t bits_;
};

// ---- curves -----------------------------------------------------------------------------------------------

class CurveService final : public KeyService {
 public:
  CurveService(const EngineSettings& settings, const std::string& curve, const SecretBytes& secret)
      : KeyService(settings), plan_(shared_plan(curve, settings)), secret_(secret) {}

 protected:
  std::size_t add(Service& service, const Scheme& scheme) override {
    mm_ecc_call pattern{};
    pattern.struct_size = sizeof pattern;
    pattern.op = MM_ECC_SIGN;
    pattern.count = 1;
    pattern.secret.count = 1;
    pattern.secret.data = secret_.data();
    pattern.secret.size = secret_.size();
    if (scheme.operation == Operation::sign_ecdsa) {
      pattern.hash = scheme.hash;
      pattern.prehashed = 1;
      pattern.nonces = MM_ECC_NONCE_HEDGED;
      pattern.signature_format = MM_ECC_DER;
    }
    return service.add(plan_, pattern);
  }

 private:
  ecc::Plan& plan_;
  const SecretBytes& secret_;  // of the key, which outlives this
};

class CurveServiceKey final : public ServiceKey {
 public:
  CurveServiceKey(const EngineSettings& settings, const CurveSecret& secret)
      : ServiceKey(settings), curve_(secret.curve), secret_(secret.secret.span()) {}

  [[nodiscard]] bool offers(const Request& request) const override {
    const Operation wanted = curve_ == "Ed25519" ? Operation::sign_eddsa : Operation::sign_ecdsa;
    return request.scheme.operation == wanted;
  }
  /// libcrypto is as fast on P-256 and Ed25519, and several times slower on P-384.
  [[nodiscard]] bool prefers(const Request&, unsigned active) const override {
    return curve_ == "P-384" || active > concurrent(settings());
  }

 protected:
  [[nodiscard]] std::unique_ptr<KeyService> make_service() const override {
    return std::make_unique<CurveService>(settings(), curve_, secret_);
  }

 private:
  const std::string curve_;
  const SecretBytes secret_;
};

}  // namespace

std::unique_ptr<PrivateKey> make_service_key(const EngineSettings& settings, const RsaNumbers& numbers) {
  rsa::Numbers given{};
  given.n = numbers.n.span();
  given.e = numbers.e.span();
  given.d = numbers.d.span();
  given.p = numbers.p.span();
  given.q = numbers.q.span();
  given.dp = numbers.dp.span();
  given.dq = numbers.dq.span();
  given.qinv = numbers.qinv.span();
  try {
    return std::make_unique<RsaServiceKey>(settings, rsa::Key(given));
  } catch (const Error&) {
    return nullptr;
  }
}

std::unique_ptr<PrivateKey> make_service_key(const EngineSettings& settings, const CurveSecret& secret) {
  if (mm_ecc_curve_find(secret.curve.c_str()) == nullptr || secret.secret.size() == 0) return nullptr;
  return std::make_unique<CurveServiceKey>(settings, secret);
}

}  // namespace manymod::provider
