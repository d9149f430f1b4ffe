// SPDX-License-Identifier: Apache-2.0
#include "crypto/pem.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace manymod::crypto {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ";
constexpr std::string_view kEnd = "-----END ";
constexpr std::string_view kDashes = "-----";
constexpr std::size_t kLongestLabel = 64;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The bytes of white space that `text` begins with: line breaks may be written as \n and \r, two characters
// each.
std::size_t space_at(std::string_view text) {
  if (text.empty()) return 0;
  if (is_space(text[0])) return 1;
  return text.starts_with("\\n") || text.starts_with("\\r") ? 2 : 0;
}

std::string_view without_leading_space(std::string_view text) {
  while (const std::size_t space = space_at(text)) text.remove_prefix(space);
  return text;
}

// Take the next word off `text`.
std::string_view take_word(std::string_view& text) {
  text = without_leading_space(text);
  std::size_t size = 0;
  while (size < text.size() && space_at(text.substr(size)) == 0) ++size;
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

// Take off the headers that an empty line ends.
std::string take_header_lines(std::string_view& body) {
  std::string headers;
  std::string_view rest = body;
  while (!rest.empty()) {
    const std::size_t line_end = rest.find('\n');
    if (line_end == std::string_view::npos) return {};
    std::string_view line = rest.substr(0, line_end);
    rest.remove_prefix(line_end + 1);
    // The key itself must not be copied here: only lines with a colon, and those that continue them after
    // white space, are headers.
    if (!line.empty() && !is_space(line.front()) && line.find(':') == std::string_view::npos) return {};
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    if (!line.empty()) {
      headers.append(line).append("\n");
    } else if (headers.find(':') != std::string::npos) {
      body = rest;
      return headers;
    }
  }
  return {};
}

// Take off headers that are words with a colon and a word behind it, which is all that an encrypted block
// has.
std::string take_header_words(std::string_view& body) {
  std::string headers;
  for (std::string_view rest = body;;) {
    const std::string_view word = take_word(rest);
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) return headers;
    std::string_view value = word.substr(colon + 1);
    if (value.empty()) value = take_word(rest);
    headers.append(word.substr(0, colon)).append(": ").append(value).append("\n");
    body = rest;
  }
}

std::string take_headers(std::string_view& body) {
  if (body.find(':') == std::string_view::npos) return {};
  std::string headers = take_header_lines(body);
  return headers.empty() ? take_header_words(body) : headers;
}

}  // namespace

std::vector<PemBlock> pem_blocks(std::string_view text) {
  std::vector<PemBlock> blocks;
  for (std::size_t begin = text.find(kBegin); begin != std::string_view::npos; begin = text.find(kBegin)) {
    text.remove_prefix(begin);
    const std::string_view from_begin = text;
    text.remove_prefix(kBegin.size());
    const std::size_t dashes = text.substr(0, kLongestLabel).find(kDashes);
    if (dashes == std::string_view::npos) continue;
    PemBlock block{std::string(text.substr(0, dashes)), {}, {}, false};
    text.remove_prefix(dashes + kDashes.size());
    const std::string_view body = text.substr(0, text.find(kBegin));
    const std::string end_line = std::string(kEnd) + block.label + std::string(kDashes);
    const std::size_t end = body.find(end_line);
    block.complete = end != std::string_view::npos;
    block.body = body.substr(0, end);
    const std::size_t head = kBegin.size() + dashes + kDashes.size();
    block.whole = from_begin.substr(0, head + block.body.size() + (block.complete ? end_line.size() : 0));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

bool read_pem(const PemBlock& block, PemContent& content) {
  std::string_view body = block.body;
  content.headers = take_headers(body);
  return decode_base64(body, content.der);
}

bool decode_base64(std::string_view base64, std::vector<std::uint8_t>& bytes) {
  SecretBytes digits(base64.size());
  std::size_t count = 0;
  for (std::string_view rest = base64; !(rest = without_leading_space(rest)).empty(); rest.remove_prefix(1)) {
    digits[count++] = static_cast<std::uint8_t>(rest[0]);
  }
  const std::span<std::uint8_t> text = digits.first(count);
  const auto padding = static_cast<std::size_t>(std::ranges::count(text, '='));
  // libcrypto takes a dash for the end of the text, and an equals sign for zero bits wherever it stands.
  if (count == 0 || count % 4 != 0 || padding > 2 || std::ranges::count(text, '-') != 0 ||
      static_cast<std::size_t>(std::ranges::count(text.last(padding), '=')) != padding) {
    return false;
  }
  bytes.assign(count / 4 * 3, 0);
  const int size = EVP_DecodeBlock(bytes.data(), text.data(), static_cast<int>(count));
  if (size != static_cast<int>(bytes.size())) return false;
  bytes.resize(bytes.size() - padding);
  return true;
}

}  // namespace manymod::crypto
