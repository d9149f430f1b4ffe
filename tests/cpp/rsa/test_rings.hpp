// SPDX-License-Identifier: Apache-2.0
// Rings with injected faults.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/status_error.hpp"
#include "rsa/key.hpp"
#include "rsa/ring.hpp"
#include "rsa/test_calls.hpp"

namespace manymod::testing {

/// A ring of new keys whose intermediate results tests can corrupt.
class RingOfKeys {
 public:
  RingOfKeys(std::initializer_list<std::size_t> bits, const mm_rsa_ring_options& options)
      : RingOfKeys(keys_of(bits), options) {}
  RingOfKeys(std::span<const std::shared_ptr<const rsa::Key>> keys, const mm_rsa_ring_options& options)
      : ring_(std::make_unique<rsa::Ring>(options, keys)) {
    for (const auto& key : keys) stride_ = std::max(stride_, key->bytes());
  }

  /// From now on, flip one bit of the residue of row `row` at this point.
  void flip(rsa::FaultPoint point, std::size_t row, std::size_t bit) {
    ring_->set_fault_hook([=](rsa::FaultPoint at, std::span<Limb> residues, std::size_t limbs) {
      if (at != point) return;
      Limb& limb = residues[(row * limbs + bit / 64) % residues.size()];
      limb ^= Limb{1} << (bit % 64);
    });
  }
  void set_hook(rsa::FaultHook hook) { ring_->set_fault_hook(std::move(hook)); }

  Results sign(std::span<const Bytes> messages, std::span<const std::uint32_t> key_of = {},
               mm_progress_fn progress = nullptr, bool prehashed = false) {
    const Pointers input(messages);
    Bytes data(messages.size() * stride_, 0xee);
    std::vector<std::size_t> sizes(messages.size());
    Results results;
    results.item_status.assign(messages.size(), 99);
    results.recomputed.assign(messages.size(), 99);
    mm_rsa_call call{};
    call.struct_size = sizeof call;
    call.op = MM_RSA_SIGN;
    call.padding = padding(MM_RSA_PKCS1V15, MM_SHA256);
    call.padding.prehashed = prehashed ? 1 : 0;
    call.count = messages.size();
    call.key = key_of.empty() ? nullptr : key_of.data();
    call.input = input.view();
    call.output = {data.data(), messages.size(), stride_, sizes.data()};
    call.item_status = results.item_status.data();
    call.item_recomputed = results.recomputed.data();
    call.progress = progress;
    try {
      results.status = ring_->run(call);
    } catch (const StatusError& error) {
      results.status = error.status();
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto* begin = data.data() + i * stride_;
      results.outputs.emplace_back(begin, begin + sizes[i]);
      results.zero_behind =
          results.zero_behind && std::all_of(begin + sizes[i], begin + stride_,
                                             [](std::uint8_t byte) { return byte == 0 || byte == 0xee; });
    }
    return results;
  }
  [[nodiscard]] std::uint64_t recomputed() const { return ring_->info().recomputed; }
  [[nodiscard]] std::uint64_t private_items() const { return ring_->info().private_items; }

 private:
  std::size_t stride_ = 0;
  std::unique_ptr<rsa::Ring> ring_;

  static std::vector<std::shared_ptr<const rsa::Key>> keys_of(std::initializer_list<std::size_t> bits) {
    std::vector<std::shared_ptr<const rsa::Key>> keys;
    for (const std::size_t size : bits) {
      keys.push_back(rsa::key_from_numbers(private_numbers(test_key(size).bytes)));
    }
    return keys;
  }
};

/// A FaultHook that undoes the powers by the public exponent, as if they had been skipped.
class PowersAreSkipped {
 public:
  void operator()(rsa::FaultPoint point, std::span<Limb> residues, std::size_t) {
    if (point == rsa::FaultPoint::before_check) before_.assign(residues.begin(), residues.end());
    if (point == rsa::FaultPoint::after_check) std::ranges::copy(before_, residues.begin());
  }

 private:
  std::vector<Limb> before_;
};

}  // namespace manymod::testing
