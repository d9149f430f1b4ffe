// SPDX-License-Identifier: Apache-2.0
// Where a multiplier's tables are (Moss, Page, Smart 2007, section 4.2, specialisation): compiled into a
// kernel that is specialised on its bases, or in memory, for any bases that fit the kernel's channels. A
// source of tables has kFromMemory, which tells whether it reads the address that it is given
// (ProgramJob::constants).
#pragma once

#include <memory>
#include <type_traits>

#include "core/portable.hpp"
#include "modmul/rns_float/base_pair.hpp"
#include "modmul/rns_float/extension.cuda.hpp"
#include "modmul/rns_float/tables.hpp"

namespace manymod::rns_float {

/// The words of a table.
template <class Layout>
struct Table {
  alignas(16) float words[Layout::kWords];
};

/// The table of the bases, at compile time.
template <class Kind, class Bases, unsigned kThreads, unsigned kPerThread>
constexpr Table<Layout<Kind, kThreads, kPerThread>> make_table() {
  Table<Layout<Kind, kThreads, kPerThread>> table{};
  TableMaker<Kind, kThreads, kPerThread>(table.words, base_b<Bases>(), base_a<Bases>()).make();
  return table;
}

#if defined(__CUDACC__)
template <class Kind, class Bases, unsigned kThreads, unsigned kPerThread>
__device__ constexpr Table<Layout<Kind, kThreads, kPerThread>> device_table =
    make_table<Kind, Bases, kThreads, kPerThread>();
#endif

/// The table of the bases on the host. It is built on first use, as compilers would take long to evaluate it.
/// Thread-safe.
template <class Kind, class Bases, unsigned kThreads, unsigned kPerThread>
const Table<Layout<Kind, kThreads, kPerThread>>& host_table() {
  using TableOfShape = Table<Layout<Kind, kThreads, kPerThread>>;
  static const std::unique_ptr<const TableOfShape> kTable = [] {
    auto table = std::make_unique<TableOfShape>();
    TableMaker<Kind, kThreads, kPerThread>(table->words, base_b<Bases>(), base_a<Bases>()).make();
    return table;
  }();
  return *kTable;
}

/// Bases of at most this many channels have their tables compiled in.
inline constexpr unsigned kMaxCompiledInChannels = 96;

/// A form specialised on its bases: constants and the number of channels are known at compile time, and
/// moduli stay in registers. Tables that are too large for compilers are in memory.
struct Specialised {
  template <class Kind, unsigned kThreads, unsigned kCount>
  using Moduli = ModuliInRegisters<Kind, kThreads, kCount>;

  template <class Kind, class Bases, unsigned kThreads, unsigned kPerThread>
  struct CompiledIn {
    static constexpr bool kFromMemory = false;
    MM_DEVICE explicit CompiledIn(const void* /*constants*/) {}
    MM_DEVICE static const float* words() {
#if defined(__CUDA_ARCH__)
      return device_table<Kind, Bases, kThreads, kPerThread>.words;
#else
      return host_table<Kind, Bases, kThreads, kPerThread>().words;
#endif
    }
    MM_DEVICE static constexpr unsigned channels() { return Bases::kChannels; }
  };

  template <class Bases>
  class InMemory {
   public:
    static constexpr bool kFromMemory = true;
    MM_DEVICE explicit InMemory(const void* constants) : words_(static_cast<const float*>(constants)) {}
    [[nodiscard]] MM_DEVICE const float* words() const { return words_; }
    MM_DEVICE static constexpr unsigned channels() { return Bases::kChannels; }

   private:
    const float* words_;
  };

  template <class Kind, class Bases, unsigned kThreads, unsigned kPerThread>
  using Source = std::conditional_t<Bases::kChannels <= kMaxCompiledInChannels,
                                    CompiledIn<Kind, Bases, kThreads, kPerThread>, InMemory<Bases>>;
};

/// A form for any bases: everything is read from memory whenever it is needed.
struct Loaded {
  template <class Kind, unsigned kThreads, unsigned kCount>
  using Moduli = ModuliInMemory<Kind, kThreads, kCount>;

  template <class Kind, class Bases, unsigned kThreads, unsigned kPerThread>
  class Source {
   public:
    static constexpr bool kFromMemory = true;
    MM_DEVICE explicit Source(const void* constants)
        : words_(static_cast<const float*>(constants)),
          channels_(static_cast<unsigned>(
              cuda::integer_of(cuda::load_one(words_ + Layout<Kind, kThreads, kPerThread>::kCount)))) {}
    [[nodiscard]] MM_DEVICE const float* words() const { return words_; }
    [[nodiscard]] MM_DEVICE unsigned channels() const { return channels_; }

   private:
    const float* words_;
    unsigned channels_;
  };
};

}  // namespace manymod::rns_float
