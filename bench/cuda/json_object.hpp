// SPDX-License-Identifier: Apache-2.0
// Objects of JSON, written member by member.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace manymod::bench {

class JsonObject {
 public:
  JsonObject& set(std::string_view name, std::string_view text) { return set_raw(name, quoted(text)); }
  JsonObject& set(std::string_view name, const char* text) { return set(name, std::string_view(text)); }
  template <std::integral T>
  JsonObject& set(std::string_view name, T number) {
    if constexpr (std::same_as<T, bool>) return set_raw(name, number ? "true" : "false");
    return set_raw(name, std::to_string(number));
  }
  JsonObject& set(std::string_view name, double number) {
    char text[32];
    return set_raw(
        name, {text, std::to_chars(text, text + sizeof text, number, std::chars_format::general, 8).ptr});
  }
  JsonObject& set(std::string_view name, const JsonObject& object) { return set_raw(name, object.text()); }
  JsonObject& set(std::string_view name, const std::vector<JsonObject>& objects) {
    std::string list;
    for (const JsonObject& object : objects) list += (list.empty() ? "\n  " : ",\n  ") + object.text();
    return set_raw(name, "[" + list + "\n ]");
  }
  /// Add another's members.
  JsonObject& merge(const JsonObject& other) {
    if (!members_.empty() && !other.members_.empty()) members_ += ", ";
    members_ += other.members_;
    return *this;
  }
  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  std::string members_;

  JsonObject& set_raw(std::string_view name, std::string_view value) {
    if (!members_.empty()) members_ += ", ";
    members_ += quoted(name) + ": ";
    members_ += value;
    return *this;
  }
  static std::string quoted(std::string_view text) {
    std::string r = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') r += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) {
        r += c;
      } else {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
        r += escape;
      }
    }
    return r + '"';
  }
};

}  // namespace manymod::bench
