// SPDX-License-Identifier: Apache-2.0
// The makers of the schemes.
#pragma once

#include <memory>

#include "ecc/schemes/choice.hpp"

namespace manymod::ecc {

/// What a scheme is made for; all must outlive it.
struct SchemeArguments {
  Task task;
  const PointEngine& engine;
  const Inputs& inputs;
  const Outputs& outputs;
};

/// FIPS 186-5 and SEC 1: MM_ECC_SIGN, _VERIFY, _VERIFY_ALL, _RECOVER.
std::unique_ptr<Scheme> make_ecdsa(const SchemeArguments& arguments);
/// GB/T 32918.2: MM_ECC_SIGN, _VERIFY, _VERIFY_ALL.
std::unique_ptr<Scheme> make_sm2(const SchemeArguments& arguments);
/// GB/T 32918.3: MM_ECC_SM2_EXCHANGE.
std::unique_ptr<Scheme> make_sm2_exchange(const SchemeArguments& arguments);
/// BIP 340: MM_ECC_SIGN, _VERIFY, _VERIFY_ALL.
std::unique_ptr<Scheme> make_bip340(const SchemeArguments& arguments);
/// SEC 1: MM_ECC_EXCHANGE.
std::unique_ptr<Scheme> make_ecdh(const SchemeArguments& arguments);
/// MM_ECC_PUBLIC_KEY of Weierstrass curves, MM_ECC_MULTIPLY.
std::unique_ptr<Scheme> make_multiplication(const SchemeArguments& arguments);
/// MM_ECC_ADD, _POINT, _SUM.
std::unique_ptr<Scheme> make_points(const SchemeArguments& arguments);

}  // namespace manymod::ecc
