// SPDX-License-Identifier: Apache-2.0
#include "candidates.hpp"

#include <map>

#include "gpu/engine/constants.hpp"
#include "gpu/engine/technique.hpp"
#include "modmul/rns_float/host_tables.hpp"
#include "modmul/rns_float/multiplier.cuda.hpp"
#include "modmul/rns_float/variants.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"
#include "shapes.hpp"

namespace manymod::bench {
namespace {

// By form, "+" for a specialised one. The paper has D and E specialised as B is, and shows no full words:
// those failed on its hardware.
const std::map<std::string, std::string> kLetters = {
    {"half_loaded", "A"}, {"half+", "B"}, {"half_packed+", "C"}, {"smooth+", "D"}, {"pairs+", "E"}};

std::string letter(const std::string& form) {
  const auto found = kLetters.find(form);
  return found == kLetters.end() ? "" : found->second;
}

template <template <class, unsigned> class Technique, unsigned kThreads, unsigned kPerThread>
Candidate loaded_candidate(const char* form, const char* kernel, unsigned block, unsigned blocks) {
  using M = Technique<cuda::ThreadGroup<kThreads>, kPerThread>;
  Candidate r;
  r.implementation = letter(form);
  r.form = form;
  r.shape = gpu::make_shape<Technique, kThreads, kPerThread>(kernel, block, blocks);
  r.constants = rns_float::table_bytes<M, kThreads, kPerThread>();
  r.squared_radix = rns_float::squared_radix<typename M::BasesOfShape>();
  return r;
}

}  // namespace

std::vector<Candidate> library_candidates(unsigned bits) {
  std::vector<Candidate> found;
  for (const gpu::Shape& shape : row32::cuda_techniques().front().shapes) {
    if (32 * shape.words == bits) found.push_back({"", "row32", true, shape, {}, {}});
  }
  for (const gpu::Technique& technique : rns_float::cuda_techniques()) {
    const std::string form = std::string(technique.name).substr(std::string("rns_float.").size());
    for (const gpu::Shape& shape : technique.shapes) {
      if (32 * shape.words != bits) continue;
      found.push_back({letter(form + "+"), form, true, shape, technique.constants->of_shape(shape),
                       technique.constants->radix_squared(shape)});
    }
  }
  return found;
}

std::vector<Candidate> loaded_candidates() {
#define SHAPE(form, threads, per_thread, block, blocks)               \
  loaded_candidate<rns_float::form::Multiplier, threads, per_thread>( \
      #form, "rns_float_" #form "_" #threads "x" #per_thread, block, blocks),
  return {MM_RNS_FIGURE3_LOADED(SHAPE)};
#undef SHAPE
}

}  // namespace manymod::bench
