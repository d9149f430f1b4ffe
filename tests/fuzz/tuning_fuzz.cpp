// SPDX-License-Identifier: Apache-2.0
// The parser of tuning files: whatever it accepts has rows within the documented ranges, of variants that
// offer the operation; whatever it refuses is an error of a tuning file.
#include <algorithm>
#include <string_view>

#include "core/status_error.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/tuning.hpp"
#include "fuzz/choices.hpp"

namespace manymod::fuzz {
namespace {

void check_row(const TuningRow& row) {
  require(1 <= row.min_bits && row.min_bits <= row.max_bits && row.max_bits <= kMaxModulusBits,
          "widths of a row");
  require(1 <= row.min_items && row.min_items <= kMaxMinItems, "min_items of a row");
  const auto variants = registry();
  const auto named = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& variant) { return variant.name == row.variant; });
  require(named != variants.end() && offers(*named, row.op, row.timing), "variant of a row");
}

void check_table(const TuningTable& table, std::size_t text_size) {
  require(table.source == "fuzz", "source");
  const auto lines = std::count(table.notes.begin(), table.notes.end(), '\n');
  require(static_cast<std::size_t>(lines) <= kMaxTuningNotes, "number of notes");
  require(table.rows.size() <= text_size + shipped_tuning().rows.size(), "number of rows");
  std::for_each(table.rows.begin(), table.rows.end(), check_row);
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace manymod;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const TuningTable table = parse_tuning(text, "fuzz", registry(), shipped_tuning().rows);
    fuzz::check_table(table, size);
  } catch (const StatusError& error) {
    fuzz::require(error.status() == MM_ERR_TUNING, "status of a refused file");
    fuzz::require(std::string_view(error.what()).starts_with("tuning file 'fuzz'"),
                  "message of a refused file");
  }
  return 0;
}
