// SPDX-License-Identifier: Apache-2.0
#include "rsa/call.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "abi/last_error.hpp"
#include "core/all_zero.hpp"
#include "core/ticker.hpp"
#include "exec/executor.hpp"
#include "gpu/device_error.hpp"
#include "rsa/codec.hpp"
#include "rsa/public_operation.hpp"
#include "rsa/ring.hpp"

namespace manymod::rsa {
namespace {

// Working memory of a block of items: about nine numbers per item.
constexpr std::size_t kBlockBytes = std::size_t{96} << 20;
constexpr std::size_t kNumbersPerItem = 9;
// A block for a GPU has as many items as the GPU computes at a time, within these limits. While the GPU
// computes one block, other blocks are encoded, blinded and decoded.
constexpr std::size_t kLeastGpuBlock = 64;
constexpr std::size_t kMostGpuBlock = 32768;
// A block of public operations has as many items as give each thread one, but not fewer than
// kLeastPublicGpuBlock, and no more than have numbers of so many bytes. The CPU is the bottleneck there: a
// block has its numbers in four buffers, and beyond a mebibyte each these exceed a processor's cache. Private
// operations have longer blocks: with blocks this short, batches of requests that share a GPU take 1.4 times
// as long, while a single call gains 20 % at most.
constexpr std::size_t kLeastPublicGpuBlock = 1024;
constexpr std::size_t kPublicGpuBlockBytes = std::size_t{1} << 20;
// A block of private operations keeps the GPU busy for milliseconds: a few blocks in flight suffice, and
// several threads should encode the first one. A block of public operations takes the CPU longer than the
// GPU.
constexpr unsigned kPrivateBlocksAtATime = 6;
constexpr unsigned kPublicBlocksAtATime = 16;
constexpr std::size_t kGpuBlocksBytes = std::size_t{1} << 30;
// The cost of encoding or decoding one item: a few digests, and kByteNs for each byte of its message.
constexpr double kItemNs = 3000;
constexpr double kByteNs = 1;
// Rough shares of a block's time.
constexpr double kEncodingShare = 0.02;
constexpr double kPowersShare = 0.96;

class CallRun {
 public:
  CallRun(const Ring& ring, const mm_rsa_call& call)
      : ring_(ring),
        checked_(ring, call),
        status_(call.count, static_cast<std::uint8_t>(MM_ITEM_NOT_COMPUTED)) {
    if (call.item_recomputed != nullptr) std::fill_n(call.item_recomputed, call.count, std::uint8_t{0});
    if (checked_.op == MM_RSA_VERIFY) std::fill_n(call.valid, call.count, std::uint8_t{0});
  }

  mm_status run() {
    const std::size_t wave = ring_.gpu_wave(timing(), powers());
    by_kind_ = wave > 0;
    try {
      return finish(wave > 0 ? run_blocks_at_a_time(wave) : run_blocks());
    } catch (...) {
      // Plaintexts of earlier blocks must not stay in a buffer that the caller believes to be empty.
      discard();
      throw;
    }
  }

 private:
  const Ring& ring_;
  CheckedCall checked_;
  std::vector<std::uint8_t> status_;  ///< of each item; copied to the caller's array at the end
  RowBlocks row_blocks_;              ///< in ordinary memory
  bool by_kind_ = false;              ///< rows computed together have keys of the same kind (Ring::kind_of)

  [[nodiscard]] std::size_t key_of(std::size_t item) const { return checked_.key_of(item); }
  [[nodiscard]] bool has_key(std::size_t item) const {
    const std::size_t key = key_of(item);
    return key < ring_.size() && (!checked_.is_private() || ring_.key(key).key().is_private());
  }
  void set_status(std::size_t item, mm_status status) { status_[item] = static_cast<std::uint8_t>(status); }

  [[nodiscard]] std::size_t kind_of(std::size_t item) const {
    return by_kind_ ? ring_.kind_of(key_of(item)) : 0;
  }

  /// The items that have a key, sorted by its place in the ring (Ring::place_of): those of one key are
  /// adjacent, and those that can be computed together.
  [[nodiscard]] std::vector<std::size_t> sorted_items(std::size_t begin, std::size_t end) {
    std::vector<std::pair<std::size_t, std::size_t>> placed;  // of each item, its key's place and itself
    placed.reserve(end - begin);
    for (std::size_t item = begin; item < end; ++item) {
      if (has_key(item)) {
        placed.emplace_back(ring_.place_of(key_of(item)), item);
      } else {
        set_status(item, MM_ITEM_RSA_KEY);
      }
    }
    if (!std::ranges::is_sorted(placed)) std::ranges::sort(placed);
    std::vector<std::size_t> items;
    items.reserve(placed.size());
    for (const auto& [place, item] : placed) items.push_back(item);
    return items;
  }

  /// A block that no other thread uses. A GPU that fails, or works in another process, gives ordinary memory.
  [[nodiscard]] RowLease lend_rows() {
    const std::optional<PowerGpu> gpu = by_kind_ ? ring_.gpu_for(timing(), powers()) : std::nullopt;
    if (!gpu) return {row_blocks_, nullptr};
    try {
      return ring_.devices().lend_rows(*gpu);
    } catch (const gpu::DeviceError&) {
      return {row_blocks_, nullptr};
    }
  }

  /// Sets `rows` to those of the longest prefix of `items` that can be computed together.
  void take_rows(Rows& rows, std::span<const std::size_t> items) const {
    rows.items.clear();
    rows.runs.clear();
    rows.limbs = ring_.key(key_of(items.front())).key().limbs();
    for (const std::size_t item : items) {
      const RingKey& key = ring_.key(key_of(item));
      if (key.key().limbs() != rows.limbs || kind_of(item) != kind_of(items.front())) break;
      if (rows.runs.empty() || rows.runs.back().key != &key) {
        rows.runs.push_back({&key, rows.count(), rows.count()});
      }
      rows.items.push_back(item);
      ++rows.runs.back().end;
    }
  }

  [[nodiscard]] std::size_t item_bytes() const { return kNumbersPerItem * ring_.max_modulus_bytes(); }
  /// Items of a block, at most.
  [[nodiscard]] std::size_t most_items() const {
    return std::max<std::size_t>(1, kBlockBytes / item_bytes());
  }

  /// Compute the blocks one after the other, each on all threads.
  bool run_blocks() {
    const std::size_t count = checked_.call.count;
    const std::size_t block = most_items();
    const Progress progress = caller_progress();
    // Each step of a block calls the callback by a clock of its own, and may be too short for that.
    std::size_t done = 0;
    std::atomic<bool> stop{false};
    const Tick tick = [&] { return progress.wants_stop(done, count); };
    Ticker ticker(tick, stop);
    for (std::size_t begin = 0; begin < count; begin += block) {
      done = std::min(count, begin + block);
      if (!run_block(begin, done, ring_.threads(), progress)) return false;
      if (progress.observed() && done < count) ticker.poll_clock();
      if (stop) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t most_of_public_block(unsigned threads) const {
    const std::size_t share = (checked_.call.count + threads - 1) / threads;
    const std::size_t in_cache = kPublicGpuBlockBytes / ring_.max_modulus_bytes();
    return std::clamp(share, kLeastPublicGpuBlock, std::max(kLeastPublicGpuBlock, in_cache));
  }

  /// Compute several blocks at a time, so that the GPU never waits for the CPU.
  bool run_blocks_at_a_time(std::size_t wave) {
    const std::size_t count = checked_.call.count;
    const unsigned threads = ring_.threads() == 0 ? default_threads() : ring_.threads();
    const std::size_t largest = checked_.is_private() ? kMostGpuBlock : most_of_public_block(threads);
    const std::size_t most = std::min(std::clamp(wave, kLeastGpuBlock, largest), most_items());
    const std::size_t blocks = (count + most - 1) / most;
    if (blocks == 1) return run_block(0, count, ring_.threads(), caller_progress());
    const std::size_t fitting = std::max<std::size_t>(2, kGpuBlocksBytes / (most * item_bytes()));
    const unsigned wanted = checked_.is_private() ? kPrivateBlocksAtATime : kPublicBlocksAtATime;
    const auto at_a_time = static_cast<unsigned>(std::min<std::size_t>({threads, blocks, fitting, wanted}));
    const unsigned of_block = (threads + at_a_time - 1) / at_a_time;
    const auto run_some = [&](std::size_t first, std::size_t last, const StopToken& stop) {
      // The progress callback of a block polls the block's token, which calls the caller's callback on the
      // calling thread.
      const Progress progress{&stop_requested, const_cast<StopToken*>(&stop)};
      for (std::size_t block = first; block < last; ++block) {
        run_block(count * block / blocks, count * (block + 1) / blocks, of_block, progress);
      }
    };
    const ProgressPart whole = whole_call();
    return execute_ranges(uniform_part(blocks, kLongestChunkNs), {true, at_a_time}, whole, run_some);
  }

  static int stop_requested(std::size_t, std::size_t, void* token) {
    return static_cast<const StopToken*>(token)->requested_now() ? 1 : 0;
  }

  [[nodiscard]] Progress caller_progress() const {
    return {checked_.call.progress, checked_.call.progress_user};
  }
  [[nodiscard]] ProgressPart whole_call() const {
    const std::size_t count = checked_.call.count;
    return {caller_progress(), count, 0, static_cast<double>(count)};
  }

  bool run_block(std::size_t begin, std::size_t end, unsigned threads, const Progress& progress) {
    const std::vector<std::size_t> items = sorted_items(begin, end);
    std::span<const std::size_t> rest = items;
    RowLease block = lend_rows();
    Rows& rows = block->rows();
    while (!rest.empty()) {
      take_rows(rows, rest);
      block->make_room();
      block.set_clean(false);
      const ProgressPart part{progress, checked_.call.count, static_cast<double>(end - rest.size()),
                              static_cast<double>(rows.count())};
      if (!run_rows(rows, threads, part)) return false;
      block.set_clean(true);
      rest = rest.subspan(rows.count());
    }
    return true;
  }

  bool run_rows(Rows& rows, unsigned threads, const ProgressPart& progress) {
    std::vector<RowOutcome> outcomes(rows.count(), RowOutcome::ok);
    return encode(rows, threads, progress.part(0, kEncodingShare)) &&
           raise(rows, outcomes, threads, progress.part(kEncodingShare, kPowersShare)) &&
           decode(rows, outcomes, threads,
                  progress.part(kEncodingShare + kPowersShare, 1 - kEncodingShare - kPowersShare));
  }

  /// The timing class of the powers.
  [[nodiscard]] TimingClass timing() const {
    return checked_.op == MM_RSA_VERIFY ? TimingClass::public_ : TimingClass::secret;
  }

  /// Powers of the call, of which the private operation of an item has two.
  [[nodiscard]] std::size_t powers() const {
    return checked_.is_private() ? 2 * checked_.call.count : checked_.call.count;
  }

  bool raise(Rows& rows, std::span<RowOutcome> outcomes, unsigned threads, const ProgressPart& progress) {
    if (!checked_.is_private()) {
      return raise_to_public(rows, rows.numbers, rows.powers, {timing(), threads, &ring_.devices()},
                             progress);
    }
    if (!ring_.raise_private(rows, outcomes, threads, progress)) return false;
    count_computed(rows, outcomes);
    return true;
  }

  /// Rows whose items already have a status are not counted.
  void count_computed(const Rows& rows, std::span<const RowOutcome> outcomes) const {
    std::uint64_t computed = 0;
    std::uint64_t wrong = 0;
    for (std::size_t row = 0; row < rows.count(); ++row) {
      if (status_[rows.items[row]] != MM_ITEM_NOT_COMPUTED) continue;
      ++computed;
      if (outcomes[row] != RowOutcome::ok) ++wrong;
    }
    ring_.count_private(computed, wrong);
  }

  /// Call visit(codec, key, row) for all rows; each thread has its own codec.
  template <class Visit>
  bool for_codecs(const Rows& rows, unsigned threads, const ProgressPart& progress, const Visit& visit) {
    double bytes = 0;
    std::size_t longest = 0;
    for (const std::size_t item : rows.items) bytes += static_cast<double>(checked_.input[item].size());
    for (const KeyRun& run : rows.runs) longest = std::max(longest, run.key->key().bytes());
    const double row_ns = kItemNs + kByteNs * bytes / static_cast<double>(rows.count());
    const Codec model(checked_, longest);
    return execute_ranges(rows.count(), row_ns, threads, progress,
                          [&](std::size_t begin, std::size_t end, const StopToken& stop) {
                            Codec codec = model.another();
                            for_runs(rows.runs, begin, end,
                                     [&](const KeyRun& run, std::size_t from, std::size_t to) {
                                       for (std::size_t row = from; row < to && !stop.requested(); ++row) {
                                         visit(codec, run.key->key(), row);
                                       }
                                     });
                          });
  }

  bool encode(Rows& rows, unsigned threads, const ProgressPart& progress) {
    return for_codecs(rows, threads, progress, [&](Codec& codec, const Key& key, std::size_t row) {
      const std::size_t item = rows.items[row];
      set_status(item, codec.encode(key, item, rows.number(row)));
    });
  }

  /// Zeroes the rows, too.
  bool decode(Rows& rows, std::span<const RowOutcome> outcomes, unsigned threads,
              const ProgressPart& progress) {
    return for_codecs(rows, threads, progress, [&](Codec& codec, const Key& key, std::size_t row) {
      decode_row(codec, key, rows, row, outcomes[row]);
      rows.wipe(row);
    });
  }

  void decode_row(Codec& codec, const Key& key, const Rows& rows, std::size_t row, RowOutcome outcome) {
    const std::size_t item = rows.items[row];
    if (status_[item] != MM_ITEM_NOT_COMPUTED) return;
    if (outcome == RowOutcome::faulty) return set_status(item, MM_ITEM_RSA_FAULT);
    if (outcome == RowOutcome::recomputed && checked_.call.item_recomputed != nullptr) {
      checked_.call.item_recomputed[item] = 1;
    }
    set_status(item, codec.decode(key, item, rows.number(row), rows.power(row)));
  }

  void clear_output(std::size_t item) const {
    const mm_bytes_result& output = checked_.call.output;
    if (checked_.op == MM_RSA_VERIFY) return;
    if (output.sizes != nullptr) output.sizes[item] = 0;
    std::fill_n(output.data + item * output.stride, checked_.row_bytes, std::uint8_t{0});
  }

  void publish_statuses() const {
    if (checked_.call.item_status != nullptr) std::ranges::copy(status_, checked_.call.item_status);
  }

  /// Leave the call without any result.
  void discard() {
    const mm_rsa_call& call = checked_.call;
    for (std::size_t item = 0; item < call.count; ++item) {
      set_status(item, MM_ITEM_NOT_COMPUTED);
      clear_output(item);
      if (checked_.op == MM_RSA_VERIFY) call.valid[item] = 0;
      if (call.item_recomputed != nullptr) call.item_recomputed[item] = 0;
    }
    publish_statuses();
  }

  // Statuses are public. Not inlined, because the secret-independence tests suppress findings in this
  // function by its name.
  [[gnu::noinline]] mm_status finish(bool completed) const {
    static_assert(MM_OK == 0);
    if (completed && all_zero(std::span<const std::uint8_t>(status_))) {
      publish_statuses();
      return MM_OK;
    }
    FailedItems failed;
    for (std::size_t item = status_.size(); item-- > 0;) {
      // A signature of a wrong length has its answer: it is not valid.
      if (status_[item] == MM_OK || status_[item] == MM_ITEM_RSA_SIGNATURE_LENGTH) continue;
      failed = {failed.count + 1, item, static_cast<mm_status>(status_[item])};
      clear_output(item);
    }
    publish_statuses();
    return fail_items(completed, status_.size(), failed);
  }
};

}  // namespace

mm_status run_call(const Ring& ring, const mm_rsa_call& call) { return CallRun(ring, call).run(); }

}  // namespace manymod::rsa
