// SPDX-License-Identifier: Apache-2.0
// What is measured, and what every peer offers to be measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace peers {

/// For std::unique_ptr to objects of C libraries.
template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

/// A number of a fixed width, least significant word first.
using Words = std::vector<std::uint64_t>;

/// base^exponent mod modulus: an odd modulus and an exponent of full length, 0 <= base < modulus.
struct Power {
  Words base, exponent, modulus;
};

/// An RSA operation: input, below the n of all items, and a key with p, q and dp, dq, qinv (d mod p-1, d mod
/// q-1, 1/q mod p), half as wide. The items' keys differ.
struct Rsa {
  Words input, n, e, d, p, q, dp, dq, qinv;
};

/// All operands of one width.
struct Operands {
  unsigned bits = 0;
  std::vector<Power> powers;
  std::vector<Rsa> rsa;
};

/// One operation of one peer. `run` computes `items` items; `answers` gives the results of the last run,
/// those of the first items of the operands, in order.
struct Case {
  std::string peer, operation;
  unsigned bits = 0;
  std::size_t items = 0;
  std::function<void()> run;
  std::function<std::vector<Words>()> answers;
  std::string variant = {};  ///< manymod's choice
};

/// Reads lines "power BITS BASE EXPONENT MODULUS" and "rsa BITS INPUT N E D P Q DP DQ QINV", numbers in
/// hexadecimal; widths in the order of their first appearance, multiples of 128, of RSA at least 1024.
/// @throws std::invalid_argument
std::vector<Operands> read_operands(std::istream& input);

std::string to_hex(const Words& words);

std::vector<unsigned char> to_bytes(const Words& words);  ///< big-endian
/// What an item signs: the first 100 bytes of its input.
std::vector<unsigned char> message_of(const Rsa& rsa);

// Paddings of signatures, as operations name them; the hash is SHA-256.
inline constexpr const char* kPkcs1v15 = "PKCS#1 v1.5";
inline constexpr const char* kPss = "PSS";

Words from_bytes(const std::vector<unsigned char>& bytes);

// The version of a peer, and the cases it offers for some operands; in the file of its name.
std::string crypto_mb_version();
std::vector<Case> crypto_mb_cases(const Operands& operands);
std::string openssl_version();
std::vector<Case> openssl_cases(const Operands& operands);
std::string gmp_version_text();
std::vector<Case> gmp_cases(const Operands& operands);
std::string manymod_version();
std::vector<Case> manymod_cases(const Operands& operands);
void add_manymod_signatures(std::vector<Case>& cases, const Operands& operands);

}  // namespace peers
