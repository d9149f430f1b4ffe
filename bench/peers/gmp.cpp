// SPDX-License-Identifier: Apache-2.0
// GMP: one power after the other, with operands prepared.
#include <gmp.h>

#include <algorithm>
#include <memory>

#include "operands.hpp"

namespace peers {
namespace {

using Function = void (*)(mpz_ptr, mpz_srcptr, mpz_srcptr, mpz_srcptr);

struct Number {
  mpz_t value;
  Number() { mpz_init(value); }
  explicit Number(const Words& words) : Number() {
    mpz_import(value, words.size(), -1, sizeof words[0], 0, 0, words.data());
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpz_clear(value); }

  [[nodiscard]] Words words(std::size_t size) const {
    Words result(size);
    mpz_export(result.data(), nullptr, -1, sizeof result[0], 0, 0, value);
    return result;
  }
};

struct Item {
  Number base, exponent, modulus, result;
  explicit Item(const Power& power) : base(power.base), exponent(power.exponent), modulus(power.modulus) {}
};

struct Powers {
  unsigned bits;
  Function function;
  std::vector<std::unique_ptr<Item>> items = {};
  std::size_t next = 0, done = 0;  // done: items that have a result

  void run() {
    Item& item = *items[next];
    function(item.result.value, item.base.value, item.exponent.value, item.modulus.value);
    done = std::max(done, next + 1);
    next = (next + 1) % items.size();
  }

  [[nodiscard]] std::vector<Words> answers() const {
    std::vector<Words> all;
    for (std::size_t i = 0; i < done; ++i) all.push_back(items[i]->result.words(bits / 64));
    return all;
  }
};

Case make_case(const Operands& operands, const char* name, Function function) {
  auto powers = std::make_shared<Powers>(Powers{operands.bits, function});
  for (const Power& power : operands.powers) powers->items.push_back(std::make_unique<Item>(power));
  return {"GMP", name, operands.bits, 1, [powers] { powers->run(); }, [powers] { return powers->answers(); }};
}

}  // namespace

std::string gmp_version_text() { return gmp_version; }

std::vector<Case> gmp_cases(const Operands& operands) {
  if (operands.powers.empty()) return {};
  return {make_case(operands, "mpz_powm_sec", mpz_powm_sec), make_case(operands, "mpz_powm", mpz_powm)};
}

}  // namespace peers
