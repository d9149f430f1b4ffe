// SPDX-License-Identifier: Apache-2.0
// The measured fastest variants: the rows embedded in the library, or those of a file instead.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/registry.hpp"

namespace manymod {

/// Among the rows for an operation, timing class and width whose variants can run, the first whose min_items
/// the batch reaches decides; if no row applies, the variants' priorities decide. A row in variable time
/// whose variant needs a shared modulus for the operation (Variant::shared_modulus_operations) applies only
/// to batches with one.
struct TuningRow {
  Operation op = Operation::powmod;
  TimingClass timing = TimingClass::public_;
  std::size_t min_bits = 1, max_bits = kMaxModulusBits;  ///< modulus widths to which the row applies
  /// Least number of items, of a bucket or of the remainder of one, for which the variant is chosen.
  std::size_t min_items = 1;
  std::string variant;
  std::string evidence;  ///< the measurement: the time of this variant and of the second fastest
};

/// A tuning table and its origin.
struct TuningTable {
  std::string source;     ///< path of the file; "" for the shipped rows
  std::string processor;  ///< where it was measured
  std::string date;
  std::string
      notes;  ///< which lines of the file were left out and why, one line each, at most kMaxTuningNotes
  std::vector<TuningRow> rows;
};

/// The rows of the files in data/tuning that the build embeds, without those of variants that this build
/// lacks.
const TuningTable& shipped_tuning();

/// The table in use: that of the last load_tuning; else that of the file named by the environment variable
/// MANYMOD_TUNING at the first call; else the shipped one. A table stays valid as long as the process runs.
/// @throws StatusError MM_ERR_TUNING as long as the file named by MANYMOD_TUNING is missing or malformed
const TuningTable& tuning_table();

/// Use a file's rows, which replace the shipped rows of the operations and timing classes that the file has
/// rows for. A null path restores the shipped rows.
/// @throws StatusError MM_ERR_TUNING if the file is missing or malformed; the table in use is then unchanged
void load_tuning(const char* path);

/// Largest number of rows of a file.
inline constexpr std::size_t kMaxTuningRows = 10'000;
/// Largest number of notes on a file; one more note counts those left out.
inline constexpr std::size_t kMaxTuningNotes = 20;
/// Largest min_items of a row.
inline constexpr std::size_t kMaxMinItems = std::size_t{1} << 24;

/// The table of a file's text. Rows whose variant is not in `variants`, or does not offer the operation, are
/// left out with a note. The rows of `shipped` for operations and timing classes without a row in the text
/// follow the text's.
/// @throws StatusError MM_ERR_TUNING that names `source` and the line
TuningTable parse_tuning(std::string_view text, const std::string& source, std::span<const Variant> variants,
                         std::span<const TuningRow> shipped);

}  // namespace manymod
