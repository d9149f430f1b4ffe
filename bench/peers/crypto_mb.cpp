// SPDX-License-Identifier: Apache-2.0
// Intel's crypto_mb: eight instances side by side in AVX-512 IFMA.
#define BN_OPENSSL_DISABLE  // its functions on plain arrays; those on OpenSSL's numbers only add a conversion
#include <crypto_mb/exp.h>
#include <crypto_mb/rsa.h>
#include <crypto_mb/version.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "operands.hpp"

namespace peers {
namespace {

constexpr std::size_t kLanes = 8;
template <class T>
using Lanes = std::array<T, kLanes>;

/// The lanes of a vector are one group; all groups are computed in a run, over one scratch buffer.
struct Powers {
  unsigned bits;
  std::vector<Power> items;
  std::vector<Words> results;
  std::vector<int8u> scratch;
  decltype(&mbx_exp_mb8) function;

  void run() {
    for (std::size_t group = 0; group < items.size(); group += kLanes) {
      Lanes<int64u*> out;
      Lanes<const int64u*> base, exponent, modulus;
      for (std::size_t k = 0; k < kLanes; ++k) {
        const Power& item = items[group + k];
        out[k] = reinterpret_cast<int64u*>(results[group + k].data());
        base[k] = reinterpret_cast<const int64u*>(item.base.data());
        exponent[k] = reinterpret_cast<const int64u*>(item.exponent.data());
        modulus[k] = reinterpret_cast<const int64u*>(item.modulus.data());
      }
      const int width = static_cast<int>(bits);
      if (function(out.data(), base.data(), exponent.data(), width, modulus.data(), width, scratch.data(),
                   static_cast<int>(scratch.size())) != MBX_STATUS_OK) {
        throw std::runtime_error("crypto_mb reports an error");
      }
    }
  }
};

const int64u* words(const Words& number) { return reinterpret_cast<const int64u*>(number.data()); }

/// RSA operations on bytes, a key for each item: a vector is one group, as above.
struct RsaOperation {
  unsigned bits;
  std::vector<Rsa> items;
  const mbx_RSA_Method* method;
  std::vector<std::vector<unsigned char>> inputs, outputs;
  std::vector<int8u> scratch;

  RsaOperation(const Operands& operands, std::size_t count, const mbx_RSA_Method* rsa_method)
      : bits(operands.bits),
        items(operands.rsa.begin(), operands.rsa.begin() + static_cast<std::ptrdiff_t>(count)),
        method(rsa_method),
        outputs(count, std::vector<unsigned char>(bits / 8)),
        scratch(static_cast<std::size_t>(mbx_RSA_Method_BufSize(method))) {
    for (const Rsa& item : items) inputs.push_back(to_bytes(item.input));
  }

  /// compute(inputs, outputs, the group's first item) for each group
  template <class Compute>
  void for_groups(const Compute& compute) {
    for (std::size_t group = 0; group < items.size(); group += kLanes) {
      Lanes<const int8u*> from;
      Lanes<int8u*> to;
      for (std::size_t k = 0; k < kLanes; ++k) {
        from[k] = inputs[group + k].data();
        to[k] = outputs[group + k].data();
      }
      if (compute(from.data(), to.data(), &items[group]) != MBX_STATUS_OK) {
        throw std::runtime_error("crypto_mb reports an error");
      }
    }
  }

  /// By the Chinese remainder theorem, without blinding, check or padding.
  void run_private() {
    for_groups([&](const int8u* const* from, int8u* const* to, const Rsa* group) {
      Lanes<const int64u*> p, q, dp, dq, qinv;
      for (std::size_t k = 0; k < kLanes; ++k) {
        p[k] = words(group[k].p);
        q[k] = words(group[k].q);
        dp[k] = words(group[k].dp);
        dq[k] = words(group[k].dq);
        qinv[k] = words(group[k].qinv);
      }
      return mbx_rsa_private_crt_mb8(from, to, p.data(), q.data(), dp.data(), dq.data(), qinv.data(),
                                     static_cast<int>(bits), method, scratch.data());
    });
  }

  /// The exponent is the method's, 65537.
  void run_public() {
    for_groups([&](const int8u* const* from, int8u* const* to, const Rsa* group) {
      Lanes<const int64u*> n;
      for (std::size_t k = 0; k < kLanes; ++k) n[k] = words(group[k].n);
      return mbx_rsa_public_mb8(from, to, n.data(), static_cast<int>(bits), method, scratch.data());
    });
  }

  [[nodiscard]] std::vector<Words> answers() const {
    std::vector<Words> all;
    for (const auto& output : outputs) all.push_back(from_bytes(output));
    return all;
  }
};

decltype(&mbx_exp_mb8) power_function(unsigned bits) {
  switch (bits) {
    case 1024:
      return mbx_exp1024_mb8;
    case 2048:
      return mbx_exp2048_mb8;
    case 3072:
      return mbx_exp3072_mb8;
    case 4096:
      return mbx_exp4096_mb8;
    default:
      return nullptr;
  }
}

void add_powers(std::vector<Case>& cases, const Operands& operands, std::size_t count) {
  const auto function = power_function(operands.bits);
  if (!function || operands.powers.size() < count) return;
  const std::vector<Power> items(operands.powers.begin(),
                                 operands.powers.begin() + static_cast<std::ptrdiff_t>(count));
  const auto scratch = static_cast<std::size_t>(mbx_exp_BufferSize(static_cast<int>(operands.bits)));
  auto powers = std::make_shared<Powers>(Powers{operands.bits, items,
                                                std::vector<Words>(count, Words(operands.bits / 64)),
                                                std::vector<int8u>(scratch), function});
  cases.push_back({"crypto_mb", "mbx_exp_mb8, batch " + std::to_string(count), operands.bits, count,
                   [powers] { powers->run(); }, [powers] { return powers->results; }});
}

void add_rsa(std::vector<Case>& cases, const Operands& operands, std::size_t count) {
  const int bits = static_cast<int>(operands.bits);
  if (operands.rsa.size() < count) return;
  const auto add = [&](const char* name, const mbx_RSA_Method* method, void (RsaOperation::*run)()) {
    if (!method) return;
    auto rsa = std::make_shared<RsaOperation>(operands, count, method);
    cases.push_back({"crypto_mb", name + std::string(", batch ") + std::to_string(count), operands.bits,
                     count, [rsa, run] { (rsa.get()->*run)(); }, [rsa] { return rsa->answers(); }});
  };
  add("mbx_rsa_private_crt_mb8", mbx_RSA_private_crt_Method(bits), &RsaOperation::run_private);
  add("mbx_rsa_public_mb8", mbx_RSA_pub65537_Method(bits), &RsaOperation::run_public);
}

}  // namespace

std::string crypto_mb_version() {
  const mbxVersion& version = *mbx_getversion();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::vector<Case> crypto_mb_cases(const Operands& operands) {
  std::vector<Case> cases;
  for (const std::size_t count : {kLanes, 8 * kLanes}) {
    add_powers(cases, operands, count);
    add_rsa(cases, operands, count);
  }
  return cases;
}

}  // namespace peers
