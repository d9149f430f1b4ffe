// SPDX-License-Identifier: Apache-2.0
// This library's RSA signatures, through its C ABI: with hash, padding, blinding and the check of each
// result.
#include "manymod/rsa.h"

#include "manymod/calls.hpp"

#include <cstdint>
#include <memory>

#include "operands.hpp"

namespace peers {
namespace {

using Bytes = std::vector<unsigned char>;

using Key = std::unique_ptr<mm_rsa_key, Deleter<mm_rsa_key_destroy>>;
using Ring = std::unique_ptr<mm_rsa_ring, Deleter<mm_rsa_ring_destroy>>;

Key make_key(const Rsa& rsa) {
  std::vector<Bytes> bytes;
  for (const Words* words : {&rsa.n, &rsa.e, &rsa.d, &rsa.p, &rsa.q, &rsa.dp, &rsa.dq, &rsa.qinv}) {
    bytes.push_back(to_bytes(*words));
  }
  const auto view = [&](std::size_t i) { return mm_bytes{bytes[i].data(), bytes[i].size()}; };
  mm_rsa_numbers numbers{};
  numbers.struct_size = sizeof numbers;
  numbers.n = view(0);
  numbers.e = view(1);
  numbers.d = view(2);
  numbers.p = view(3);
  numbers.q = view(4);
  numbers.dp = view(5);
  numbers.dq = view(6);
  numbers.qinv = view(7);
  mm_rsa_key* key = nullptr;
  manymod::check(mm_rsa_key_create(&numbers, &key));
  return Key(key);
}

/// A batch of signatures on one thread.
class Signatures {
 public:
  /// `own_keys`: a key for each item, else the first item's key for all.
  Signatures(const Operands& operands, bool own_keys, mm_rsa_scheme scheme)
      : bytes_(operands.bits / 8), signatures_(operands.rsa.size() * bytes_), valid_(operands.rsa.size()) {
    for (const Rsa& rsa : operands.rsa) {
      const Bytes message = message_of(rsa);
      message_bytes_ = message.size();
      messages_.insert(messages_.end(), message.begin(), message.end());
      key_.push_back(own_keys ? static_cast<std::uint32_t>(key_.size()) : 0);
    }
    std::vector<Key> keys;
    std::vector<const mm_rsa_key*> pointers;
    for (std::size_t i = 0; i < (own_keys ? operands.rsa.size() : 1); ++i) {
      keys.push_back(make_key(operands.rsa[i]));
      pointers.push_back(keys.back().get());
    }
    mm_rsa_ring_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.threads = 1;
    mm_rsa_ring* ring = nullptr;
    manymod::check(mm_rsa_ring_create(&options, pointers.data(), pointers.size(), &ring));
    ring_.reset(ring);
    padding_.scheme = scheme;
    padding_.hash = MM_SHA256;
    padding_.salt_length = MM_RSA_SALT_DIGEST;
  }

  void sign() {
    mm_rsa_call call = call_of(MM_RSA_SIGN);
    call.output = {signatures_.data(), key_.size(), bytes_, nullptr};
    manymod::check(mm_rsa_run(ring_.get(), &call));
  }

  /// Of the signatures made last.
  void verify() {
    mm_rsa_call call = call_of(MM_RSA_VERIFY);
    call.signature.count = key_.size();
    call.signature.data = signatures_.data();
    call.signature.size = bytes_;
    call.valid = valid_.data();
    manymod::check(mm_rsa_run(ring_.get(), &call));
  }

  [[nodiscard]] std::string variant(bool private_operation) const {
    return mm_rsa_ring_variant(ring_.get(), 0, private_operation ? 1 : 0, key_.size());
  }
  [[nodiscard]] std::vector<Words> made() const {
    std::vector<Words> all;
    for (auto at = signatures_.begin(); at != signatures_.end();) {
      const auto end = at + static_cast<std::ptrdiff_t>(bytes_);
      all.push_back(from_bytes({at, end}));
      at = end;
    }
    return all;
  }
  [[nodiscard]] std::vector<Words> verified() const {
    std::vector<Words> all;
    for (const std::uint8_t good : valid_) all.push_back({good});
    return all;
  }

 private:
  std::size_t bytes_;
  std::size_t message_bytes_ = 0;
  Bytes messages_, signatures_, valid_;
  std::vector<std::uint32_t> key_;
  mm_rsa_padding padding_{};
  Ring ring_;

  [[nodiscard]] mm_rsa_call call_of(mm_rsa_op op) const {
    mm_rsa_call call{};
    call.struct_size = sizeof call;
    call.op = op;
    call.padding = padding_;
    call.count = key_.size();
    call.key = key_.data();
    call.input.count = key_.size();
    call.input.data = messages_.data();
    call.input.size = message_bytes_;
    return call;
  }
};

}  // namespace

void add_manymod_signatures(std::vector<Case>& cases, const Operands& operands) {
  const std::size_t count = operands.rsa.size();
  for (const mm_rsa_scheme scheme : {MM_RSA_PKCS1V15, MM_RSA_PSS}) {
    for (const bool own_keys : {false, true}) {
      auto signatures = std::make_shared<Signatures>(operands, own_keys, scheme);
      signatures->sign();
      const std::string name = std::string(scheme == MM_RSA_PSS ? kPss : kPkcs1v15) + ", batch " +
                               std::to_string(count) + (own_keys ? ", a key each" : ", one key");
      cases.push_back({"manymod", "RSA sign " + name, operands.bits, count,
                       [signatures] { signatures->sign(); }, [signatures] { return signatures->made(); },
                       signatures->variant(true)});
      cases.push_back({"manymod", "RSA verify " + name, operands.bits, count,
                       [signatures] { signatures->verify(); },
                       [signatures] { return signatures->verified(); }, signatures->variant(false)});
    }
  }
}

}  // namespace peers
