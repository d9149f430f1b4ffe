// SPDX-License-Identifier: Apache-2.0
// Where a multiplier's tables are: compiled into the kernel, which then is one for these bases alone, or in
// memory, for any bases that its channels hold (Moss, Page, Smart 2007, section 4.2, specialisation). Which
// one a source of tables says by kFromMemory: whether it reads what it is given (ProgramJob::constants).
#pragma once

#include <memory>
#include <type_traits>

#include "core/portable.hpp"
#include "modmul/rns_float/base_pair.hpp"
#include "modmul/rns_float/extension.cuda.hpp"
#include "modmul/rns_float/tables.hpp"

namespace manymod::rns_float {

template <class Layout>
struct Table {
  alignas(16) float words[Layout::kWords];
};

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

/// The host's, made when it runs: compilers would take long.
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

/// Compilers evaluate the tables of bases with so many channels.
inline constexpr unsigned kMaxCompiledInChannels = 96;

/// Constants and the number of channels are the kernel's; moduli stay in registers. Tables that are too much
/// for compilers are in memory.
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

/// All of it is read from memory whenever it is needed.
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
