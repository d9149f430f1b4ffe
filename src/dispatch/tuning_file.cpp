// SPDX-License-Identifier: Apache-2.0
// Reading tuning files: lines of tab-separated fields in printable ASCII.
//
//   manymod-tuning  1  PROCESSOR  DATE
//   OPERATION  TIMING  MIN_BITS  MAX_BITS  MIN_ITEMS  VARIANT  EVIDENCE
//
// Empty lines and lines that begin with # are comments. The header precedes the rows. Messages quote fields
// of files with that header only.
#include <algorithm>
#include <charconv>
#include <cstddef>

#include "core/status_error.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/tuning.hpp"

namespace manymod {
namespace {

constexpr std::string_view kMagic = "manymod-tuning";
constexpr std::string_view kVersion = "1";
constexpr std::size_t kHeaderFields = 4;
constexpr std::size_t kRowFields = 7;
constexpr std::size_t kQuotedLength = 40;  // longest part of a bad field in a message

using Fields = std::vector<std::string_view>;

std::string_view take_line(std::string_view& text) {
  const std::size_t length = text.find('\n');
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
  return line;
}

Fields fields_of(std::string_view line) {
  Fields fields;
  std::size_t begin = 0;
  for (std::size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t', begin)) {
    fields.push_back(line.substr(begin, tab - begin));
    begin = tab + 1;
  }
  fields.push_back(line.substr(begin));
  return fields;
}

class Parser {
 public:
  Parser(const std::string& source, std::span<const Variant> variants)
      : source_(source), variants_(variants) {
    table_.source = source;
  }

  TuningTable parse(std::string_view text) {
    while (!text.empty()) {
      ++line_number_;
      std::string_view line = take_line(text);
      if (line.ends_with('\r')) line.remove_suffix(1);
      check_characters(line);
      if (line.empty() || line.starts_with('#')) continue;
      if (has_header_) {
        add_row(fields_of(line));
      } else {
        take_header(fields_of(line));
      }
    }
    if (!has_header_) fail("the header line '" + std::string(kMagic) + "' is missing");
    if (left_out_ > kMaxTuningNotes) {
      table_.notes += "\n" + std::to_string(left_out_ - kMaxTuningNotes) + " more lines left out";
    }
    return std::move(table_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw StatusError(MM_ERR_TUNING,
                      "tuning file '" + source_ + "', line " + std::to_string(line_number_) + ": " + why);
  }

  static std::string in_quotes(std::string_view field) {
    std::string shown(field.substr(0, kQuotedLength));
    if (field.size() > kQuotedLength) shown += "..";
    return "'" + shown + "'";
  }

  void check_characters(std::string_view line) const {
    const bool fine =
        std::all_of(line.begin(), line.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
    if (!fine) fail("has a character other than printable ASCII and tab");
  }

  void check_field_count(const Fields& fields, std::size_t expected) const {
    if (fields.size() == expected) return;
    fail(std::to_string(fields.size()) + " tab-separated fields, expected " + std::to_string(expected));
  }

  void take_header(const Fields& fields) {
    // Whatever file this is, its text is not shown: the caller may not be allowed to read it.
    if (fields[0] != kMagic) fail("is no tuning file: expected '" + std::string(kMagic) + "'");
    if (fields.size() > 1 && fields[1] != kVersion) {
      fail("format version " + in_quotes(fields[1]) + ", this library reads version " +
           std::string(kVersion));
    }
    check_field_count(fields, kHeaderFields);
    table_.processor = fields[2];
    table_.date = fields[3];
    has_header_ = true;
  }

  [[nodiscard]] std::size_t number(std::string_view field, std::size_t limit, const char* what) const {
    std::size_t value = 0;
    const char* const first = field.data();
    const char* const last = first + field.size();
    const auto [end, error] = std::from_chars(first, last, value);
    if (error != std::errc() || end != last || value < 1 || value > limit) {
      fail(std::string(what) + " is " + in_quotes(field) + ", expected 1 to " + std::to_string(limit));
    }
    return value;
  }

  [[nodiscard]] Operation operation(std::string_view field) const {
    for (std::size_t op = 0; op < kOperationCount; ++op) {
      if (operation_name(static_cast<Operation>(op)) == field) return static_cast<Operation>(op);
    }
    fail("no operation " + in_quotes(field));
  }

  [[nodiscard]] TimingClass timing(std::string_view field) const {
    for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
      if (timing_name(timing) == field) return timing;
    }
    fail("timing class is " + in_quotes(field) + ", expected 'public' or 'secret'");
  }

  void add_row(const Fields& fields) {
    check_field_count(fields, kRowFields);
    TuningRow row;
    row.op = operation(fields[0]);
    row.timing = timing(fields[1]);
    row.min_bits = number(fields[2], kMaxModulusBits, "min_bits");
    row.max_bits = number(fields[3], kMaxModulusBits, "max_bits");
    if (row.min_bits > row.max_bits) fail("min_bits is greater than max_bits");
    row.min_items = number(fields[4], kMaxMinItems, "min_items");
    row.variant = current_variant_name(fields[5]);
    row.evidence = fields[6];
    if (row.variant.empty()) fail("the variant's name is empty");
    if (table_.rows.size() == kMaxTuningRows) fail("more than " + std::to_string(kMaxTuningRows) + " rows");
    if (is_offered(row)) table_.rows.push_back(std::move(row));
  }

  [[nodiscard]] bool is_offered(const TuningRow& row) {
    const auto named = std::find_if(variants_.begin(), variants_.end(),
                                    [&](const Variant& variant) { return variant.name == row.variant; });
    if (named == variants_.end()) {
      note("this build has no variant " + in_quotes(row.variant));
      return false;
    }
    if (offers(*named, row.op, row.timing)) return true;
    note(in_quotes(row.variant) + " does not offer " + std::string(operation_name(row.op)) + " in " +
         std::string(timing_description(row.timing)));
    return false;
  }

  void note(const std::string& why) {
    if (++left_out_ > kMaxTuningNotes) return;
    if (!table_.notes.empty()) table_.notes += '\n';
    table_.notes += "line " + std::to_string(line_number_) + " left out: " + why;
  }

  const std::string& source_;
  std::span<const Variant> variants_;
  TuningTable table_;
  std::size_t line_number_ = 0;
  std::size_t left_out_ = 0;
  bool has_header_ = false;
};

}  // namespace

TuningTable parse_tuning(std::string_view text, const std::string& source, std::span<const Variant> variants,
                         std::span<const TuningRow> shipped) {
  TuningTable table = Parser(source, variants).parse(text);
  const std::size_t own = table.rows.size();
  for (const TuningRow& row : shipped) {
    const auto end = table.rows.begin() + static_cast<std::ptrdiff_t>(own);
    const bool has_own_rows = std::any_of(table.rows.begin(), end, [&](const TuningRow& of_file) {
      return of_file.op == row.op && of_file.timing == row.timing;
    });
    if (!has_own_rows) table.rows.push_back(row);
  }
  return table;
}

}  // namespace manymod
