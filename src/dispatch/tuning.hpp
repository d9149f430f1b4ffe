// SPDX-License-Identifier: Apache-2.0
// Which variant is fastest where, as measured: the rows shipped, or a file's in their place.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/registry.hpp"

namespace manymod {

/// Of the rows for an operation, timing class and width whose variants can run, the first that takes the
/// number of items at hand wins; where no row fits, the variants' priorities decide. A row whose variant
/// needs a shared modulus for the operation (Variant::shared_modulus_operations) speaks for such batches
/// alone.
struct TuningRow {
  Operation op = Operation::powmod;
  TimingClass timing = TimingClass::public_;
  std::size_t min_bits = 1, max_bits = kMaxModulusBits;  ///< modulus widths the row speaks for
  /// Least number of items, of a bucket or of what is left of one, for which the variant is the choice.
  std::size_t min_items = 1;
  std::string variant;
  std::string evidence;  ///< the measurement: this variant's time and the runner-up's
};

struct TuningTable {
  std::string source;     ///< path of the file; "" for the shipped rows alone
  std::string processor;  ///< where it was measured
  std::string date;
  std::string
      notes;  ///< what of the file was left out and why, one line each, at most kMaxTuningNotes of them
  std::vector<TuningRow> rows;
};

/// The rows of this build.
const TuningTable& shipped_tuning();

/// The table in use, which lives as long as the process: that of the last load_tuning, else that of the file
/// which the environment variable MANYMOD_TUNING named when this was first called, else the shipped one.
/// @throws StatusError MM_ERR_TUNING as long as that file is missing or malformed
const TuningTable& tuning_table();

/// Use a file's rows in place of the shipped ones of the operations and timing classes that it speaks of.
/// NULL for the shipped ones.
/// @throws StatusError MM_ERR_TUNING where the file is missing or malformed; the table in use then stays
void load_tuning(const char* path);

/// Most rows of a file.
inline constexpr std::size_t kMaxTuningRows = 10'000;
/// Most notes on a file; a last one says how many more there would be.
inline constexpr std::size_t kMaxTuningNotes = 20;
/// Most items that a row may ask for.
inline constexpr std::size_t kMaxMinItems = std::size_t{1} << 24;

/// The table of a file's text. Rows that name no variant of `variants`, or one that does not offer the
/// operation, are left out with a note; rows of `shipped` fill in where the text says nothing of an operation
/// and class.
/// @throws StatusError MM_ERR_TUNING that names `source` and the line
TuningTable parse_tuning(std::string_view text, const std::string& source, std::span<const Variant> variants,
                         std::span<const TuningRow> shipped);

}  // namespace manymod
