// SPDX-License-Identifier: Apache-2.0
// Threads, devices, variants, the tuning table and measured instruction rates, as Python objects.
#include <algorithm>
#include <optional>
#include <string>

#include "arch/instruction_rates.hpp"
#include "core/cpu_features.hpp"
#include "manymod/manymod.h"
#include "python/call.hpp"
#include "python/gil.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace manymod::python {
namespace {

namespace nb = nanobind;

const char* backend_name(mm_backend backend) {
  if (backend == MM_BACKEND_OPENCL) return "opencl";
  return backend == MM_BACKEND_CPU ? "cpu" : "cuda";
}

nb::list devices() {
  nb::list all;
  for (std::size_t i = 0; i < mm_device_count(); ++i) {
    mm_device_info info{};
    info.struct_size = sizeof info;
    if (const mm_status status = mm_device_get(i, &info); status != MM_OK) throw_call_error(status);
    nb::dict device;
    device["name"] = info.name;
    device["model"] = readable(info.model);
    device["backend"] = backend_name(info.backend);
    device["index"] = info.device_index;
    device["features"] = readable(info.features);
    device["units"] = info.units;
    device["memory_bytes"] = info.memory_bytes;
    device["obstacle"] = readable(info.obstacle);
    all.append(device);
  }
  return all;
}

nb::dict cuda_support() {
  mm_cuda_info info{};
  info.struct_size = sizeof info;
  if (const mm_status status = mm_cuda_get_info(&info); status != MM_OK) throw_call_error(status);
  nb::dict support;
  support["built"] = info.built != 0;
  support["driver"] = readable(info.driver);
  support["obstacle"] = readable(info.obstacle);
  return support;
}

nb::dict opencl_support() {
  mm_opencl_info info{};
  info.struct_size = sizeof info;
  if (const mm_status status = mm_opencl_get_info(&info); status != MM_OK) throw_call_error(status);
  nb::dict support;
  support["version"] = readable(info.version);
  support["obstacle"] = readable(info.obstacle);
  return support;
}

nb::list variants() {
  nb::list all;
  for (std::size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info info{};
    info.struct_size = sizeof info;
    if (const mm_status status = mm_variant_get(i, &info); status != MM_OK) throw_call_error(status);
    nb::dict variant;
    variant["name"] = info.name;
    variant["technique"] = info.technique;
    variant["backend"] = backend_name(info.backend);
    variant["public_ops"] = info.public_ops;
    variant["secret_ops"] = info.secret_ops;
    variant["min_bits"] = info.min_bits;
    variant["max_bits"] = info.max_bits;
    variant["instances"] = info.instances;
    variant["threads_per_instance"] = info.threads_per_instance;
    variant["needs"] = info.needs;
    variant["summary"] = info.summary;
    variant["usable"] = info.usable != 0;
    variant["reason"] = readable(info.reason);
    variant["shared_modulus_ops"] = info.shared_modulus_ops;
    variant["comparison_only"] = (info.traits & MM_VARIANT_COMPARISON_ONLY) != 0;
    variant["wants_fast_doubles"] = (info.traits & MM_VARIANT_WANTS_FAST_DOUBLES) != 0;
    all.append(variant);
  }
  return all;
}

nb::list instruction_names() {
  nb::list names;
  for (const InstructionLoop& loop : instruction_loops()) {
    names.append(nb::str(loop.name.data(), loop.name.size()));
  }
  return names;
}

/// None if this build or this CPU does not have the instruction.
std::optional<double> measure_instruction(const std::string& name, double seconds) {
  if (!(seconds > 0 && seconds <= 10)) throw nb::value_error("seconds must be above 0 and at most 10");
  const auto loops = instruction_loops();
  const auto loop = std::find_if(loops.begin(), loops.end(), [&](const auto& l) { return l.name == name; });
  if (loop == loops.end() || (loop->needs & ~cpu_info().features) != 0) return std::nullopt;
  const ReleasedGil release;
  return instruction_rate(*loop, seconds);
}

/// `path`: as the system has it, whose names of files need not be UTF-8.
void use_tuning(const std::optional<nb::bytes>& path) {
  const mm_status status = mm_tuning_load(path ? path->c_str() : nullptr);
  if (status != MM_OK) throw_call_error(status);
}

nb::dict tuning() {
  mm_tuning_info info{};
  info.struct_size = sizeof info;
  if (const mm_status status = mm_tuning_get_info(&info); status != MM_OK) throw_call_error(status);
  nb::list rows;
  for (std::size_t i = 0; i < info.rows; ++i) {
    mm_tuning_row row{};
    row.struct_size = sizeof row;
    if (const mm_status status = mm_tuning_get(i, &row); status != MM_OK) throw_call_error(status);
    nb::dict fields;
    fields["op"] = static_cast<int>(row.op);
    fields["secret"] = row.timing == MM_TIMING_SECRET;
    fields["min_bits"] = row.min_bits;
    fields["max_bits"] = row.max_bits;
    fields["min_items"] = row.min_items;
    fields["variant"] = row.variant;
    fields["evidence"] = readable(row.evidence);
    rows.append(fields);
  }
  nb::dict table;
  table["source"] = nb::steal(PyUnicode_DecodeFSDefault(info.source));
  table["processor"] = readable(info.processor);
  table["date"] = readable(info.date);
  table["notes"] = readable(info.notes);
  table["rows"] = rows;
  return table;
}

std::string status_name(int status) { return mm_status_name(static_cast<mm_status>(status)); }

std::string status_message(int status) { return mm_status_message(static_cast<mm_status>(status)); }

}  // namespace

void bind_hardware(nb::module_& module) {
  module.def("get_threads", &mm_get_threads);
  module.def("set_threads", &mm_set_threads, nb::arg("threads"));
  module.def("devices", &devices);
  module.def("cuda_support", &cuda_support);
  module.def("opencl_support", &opencl_support);
  module.def("variants", &variants);
  module.def("load_tuning", &use_tuning, nb::arg("path").none());
  module.def("tuning", &tuning);
  module.def("version", &mm_version);
  module.def("instruction_names", &instruction_names);
  module.def("instruction_rate", &measure_instruction, nb::arg("name"), nb::arg("seconds"));
  module.def("status_name", &status_name, nb::arg("status"));
  module.def("status_message", &status_message, nb::arg("status"));
}

}  // namespace manymod::python
