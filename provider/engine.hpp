// SPDX-License-Identifier: Apache-2.0
// What the provider asks of whatever computes with private keys: a service in this process, or a daemon.
//
// Nothing here starts a thread, connects or initialises a device before the first operation of a process, so
// that servers may load keys before they fork.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/secret_bytes.hpp"
#include "protocol/request.hpp"

namespace manymod::provider {

using signd::Operation;
using signd::Scheme;
using signd::SecretBytes;

/// One operation with a private key. signd::Operation states the inputs and outputs.
struct Request {
  Scheme scheme{};
  std::span<const std::uint8_t> input;  ///< copied before submit() returns
  bool never_by_libcrypto = false;      ///< because libcrypto would reveal secrets (reports_padding())
};

struct Answer {
  bool ok = false;
  SecretBytes output;
  std::string reason;  ///< unless ok
};

/// Called once, on any thread, before submit() returns or later; it must not throw or wait.
using Completion = std::function<void(Answer&&)>;

/// A private key where its operations are computed. All functions may be called from any thread, and in
/// forked children.
class PrivateKey {
 public:
  PrivateKey() = default;
  virtual ~PrivateKey() = default;
  PrivateKey(const PrivateKey&) = delete;
  PrivateKey& operator=(const PrivateKey&) = delete;

  /// Whether the key computes operations of this kind at all.
  [[nodiscard]] virtual bool offers(const Request& request) const = 0;
  /// Whether manymod should compute a request for which the calling thread waits; otherwise libcrypto does,
  /// which may be faster for one request. Always true if libcrypto cannot compute it. `active`: the requests
  /// of this key that threads wait for at present, this one included.
  [[nodiscard]] virtual bool prefers(const Request& request, unsigned active) const = 0;
  /// Whether everything exists that requests of this kind need; if not, prepare() creates it. Do not call
  /// prepare() within an asynchronous job, whose stack is too small for it.
  [[nodiscard]] virtual bool is_prepared(const Request& request) = 0;
  virtual void prepare(const Request& request) = 0;
  /// Compute and wait. In: offers(request).
  [[nodiscard]] virtual Answer call(const Request& request) = 0;
  /// Compute, and hand the answer to `done`. In: offers(request).
  virtual void submit(const Request& request, Completion done) = 0;
};

/// The numbers of a private key in this process: big-endian, or the strings of RFC 8032 and RFC 7748.
struct RsaNumbers {
  SecretBytes n, e, d, p, q, dp, dq, qinv;
};
struct CurveSecret {
  std::string curve;  ///< a name of mm_ecc_curve_find
  SecretBytes secret;
};

/// How keys of this process are computed with.
struct EngineSettings {
  std::string device = "cpu";  ///< as mm_rsa_ring_options has it
  unsigned concurrent = 0;     ///< most batches of a key at a time; 0: one for each processor, at least 2
  unsigned deadline_us = 0;    ///< longest time that a request waits for others; 0: the service's default
  /// Bits of the smallest RSA key whose single requests manymod computes; 0: chosen by what is faster here.
  /// Requests with smaller keys are computed by libcrypto unless more of them wait than there are
  /// processors.
  std::size_t rsa_alone_bits = 0;
};

/// A key whose operations are computed by a service in this process, in batches where there are several.
/// @return null if manymod cannot compute with the key, as if it is too short
std::unique_ptr<PrivateKey> make_service_key(const EngineSettings& settings, const RsaNumbers& numbers);
std::unique_ptr<PrivateKey> make_service_key(const EngineSettings& settings, const CurveSecret& secret);

}  // namespace manymod::provider
