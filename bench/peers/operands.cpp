// SPDX-License-Identifier: Apache-2.0
#include "operands.hpp"

#include <algorithm>
#include <istream>
#include <sstream>
#include <stdexcept>

namespace peers {
namespace {

constexpr unsigned kWordBits = 64, kNibbles = 16;
constexpr unsigned kLeastRsaBits = 1024;  // message_of() needs 800

Words from_hex(const std::string& text, unsigned bits) {
  Words words((bits + kWordBits - 1) / kWordBits);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t position = text.size() - 1 - i;
    const auto digit = static_cast<std::uint64_t>(std::stoul(text.substr(position, 1), nullptr, 16));
    if (i / kNibbles >= words.size()) throw std::invalid_argument("an operand is wider than its line says");
    words[i / kNibbles] |= digit << (4 * (i % kNibbles));
  }
  return words;
}

Operands& of_width(std::vector<Operands>& all, unsigned bits) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Operands& o) { return o.bits == bits; });
  if (found != all.end()) return *found;
  all.push_back({bits, {}, {}});
  return all.back();
}

Words read_number(std::istream& line, unsigned bits) {
  std::string text;
  if (!(line >> text)) throw std::invalid_argument("a line is too short");
  return from_hex(text, bits);
}

}  // namespace

std::vector<Operands> read_operands(std::istream& input) {
  std::vector<Operands> all;
  for (std::string text; std::getline(input, text);) {
    std::istringstream line(text);
    std::string kind;
    unsigned bits = 0;
    if (!(line >> kind >> bits) || bits % 128 != 0 || bits == 0)
      throw std::invalid_argument("bad line: " + text);
    Operands& operands = of_width(all, bits);
    const auto number = [&](unsigned width) { return read_number(line, width); };
    if (kind == "power") {
      Power& power = operands.powers.emplace_back();
      for (Words* words : {&power.base, &power.exponent, &power.modulus}) *words = number(bits);
    } else if (kind == "rsa") {
      if (bits < kLeastRsaBits) throw std::invalid_argument("RSA keys have at least 1024 bits: " + text);
      Rsa& rsa = operands.rsa.emplace_back();
      for (Words* words : {&rsa.input, &rsa.n, &rsa.e, &rsa.d}) *words = number(bits);
      for (Words* words : {&rsa.p, &rsa.q, &rsa.dp, &rsa.dq, &rsa.qinv}) *words = number(bits / 2);
    } else {
      throw std::invalid_argument("bad line: " + text);
    }
  }
  return all;
}

std::string to_hex(const Words& words) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = words.size() * kNibbles; i-- > 0;) {
    text += kDigits[words[i / kNibbles] >> (4 * (i % kNibbles)) & 15];
  }
  return text;
}

std::vector<unsigned char> to_bytes(const Words& words) {
  std::vector<unsigned char> bytes(words.size() * sizeof words[0]);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[bytes.size() - 1 - i] = static_cast<unsigned char>(words[i / 8] >> (8 * (i % 8)));
  }
  return bytes;
}

std::vector<unsigned char> message_of(const Rsa& rsa) {
  constexpr std::ptrdiff_t kMessageBytes = 100;
  const auto bytes = to_bytes(rsa.input);
  return {bytes.begin(), bytes.begin() + kMessageBytes};
}

Words from_bytes(const std::vector<unsigned char>& bytes) {
  Words words((bytes.size() + 7) / 8);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    words[i / 8] |= std::uint64_t{bytes[bytes.size() - 1 - i]} << (8 * (i % 8));
  }
  return words;
}

}  // namespace peers
