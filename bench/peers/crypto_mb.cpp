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

/// One vector of private operations by the Chinese remainder theorem.
struct RsaPrivate {
  unsigned bits;
  std::vector<Rsa> items;
  std::vector<std::vector<unsigned char>> inputs, outputs;
  std::vector<int8u> scratch;
  const mbx_RSA_Method* method;

  void run() {
    Lanes<const int8u*> from;
    Lanes<int8u*> to;
    Lanes<const int64u*> p, q, dp, dq, qinv;
    for (std::size_t k = 0; k < kLanes; ++k) {
      const auto words = [](const Words& number) { return reinterpret_cast<const int64u*>(number.data()); };
      from[k] = inputs[k].data();
      to[k] = outputs[k].data();
      p[k] = words(items[k].p);
      q[k] = words(items[k].q);
      dp[k] = words(items[k].dp);
      dq[k] = words(items[k].dq);
      qinv[k] = words(items[k].qinv);
    }
    if (mbx_rsa_private_crt_mb8(from.data(), to.data(), p.data(), q.data(), dp.data(), dq.data(), qinv.data(),
                                static_cast<int>(bits), method, scratch.data()) != MBX_STATUS_OK) {
      throw std::runtime_error("crypto_mb reports an error");
    }
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

void add_rsa(std::vector<Case>& cases, const Operands& operands) {
  const mbx_RSA_Method* method = mbx_RSA_private_crt_Method(static_cast<int>(operands.bits));
  if (!method || operands.rsa.size() < kLanes) return;
  auto rsa = std::make_shared<RsaPrivate>(RsaPrivate{
      operands.bits,
      operands.rsa,
      {},
      std::vector<std::vector<unsigned char>>(kLanes, std::vector<unsigned char>(operands.bits / 8)),
      std::vector<int8u>(static_cast<std::size_t>(mbx_RSA_Method_BufSize(method))),
      method});
  for (const Rsa& item : operands.rsa) rsa->inputs.push_back(to_bytes(item.input));
  cases.push_back({"crypto_mb", "mbx_rsa_private_crt_mb8", operands.bits, kLanes, [rsa] { rsa->run(); },
                   [rsa] {
                     std::vector<Words> answers;
                     for (const auto& output : rsa->outputs) answers.push_back(from_bytes(output));
                     return answers;
                   }});
}

}  // namespace

std::string crypto_mb_version() {
  const mbxVersion& version = *mbx_getversion();
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::vector<Case> crypto_mb_cases(const Operands& operands) {
  std::vector<Case> cases;
  for (const std::size_t count : {kLanes, 8 * kLanes}) add_powers(cases, operands, count);
  add_rsa(cases, operands);
  return cases;
}

}  // namespace peers
