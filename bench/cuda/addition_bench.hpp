// SPDX-License-Identifier: Apache-2.0
// Modular additions and subtractions by fios's arithmetic: `add`, `sub`, and `add_1024`, `sub_1024` in the
// paper's grid.
#pragma once

#include <optional>
#include <string>

#include "instances.hpp"
#include "options.hpp"
#include "shape_bench.hpp"

namespace manymod::bench {

class AdditionBench {
 public:
  AdditionBench(Session& session, const Options& options);

  /// All forms at the instances' width, where it is one of the paper's. `results`: as many bytes as an
  /// operand has.
  /// @throws cuda::DriverError
  void measure(const Instances& instances, const Checker& checker, const gpu::DeviceBuffer& results);

 private:
  struct Form {
    const char* name;
    unsigned digit_bits;
    bool shared;
  };
  struct Run {
    const char* operation;
    bool subtract;
    gpu::LaunchShape launch;
    std::size_t items;
  };

  Session& session_;
  const Options& options_;
  cuda::ModuleHandle module_ = nullptr;  ///< as long as the process

  void measure_form(const Form& form, const Instances& instances, const Checker& checker,
                    const gpu::DeviceBuffer& results);
  void measure_run(const Run& run, const Json& about, const cuda::Kernel& kernel, const Instances& instances,
                   const Checker& checker, const gpu::DeviceBuffer& results);
  [[nodiscard]] cuda::Kernel kernel(const std::string& name) const;
};

}  // namespace manymod::bench
