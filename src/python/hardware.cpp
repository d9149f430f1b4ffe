// SPDX-License-Identifier: Apache-2.0
// Threads, devices and variants.
#include <string>

#include "manymod/manymod.h"
#include "python/call.hpp"

#include <nanobind/stl/string.h>

namespace manymod::python {
namespace {

namespace nb = nanobind;

const char* backend_name(mm_backend backend) { return backend == MM_BACKEND_CPU ? "cpu" : "cuda"; }

nb::list devices() {
  nb::list all;
  for (std::size_t i = 0; i < mm_device_count(); ++i) {
    mm_device_info info{};
    info.struct_size = sizeof info;
    if (const mm_status status = mm_device_get(i, &info); status != MM_OK) throw_call_error(status);
    nb::dict device;
    device["name"] = info.name;
    device["model"] = info.model;
    device["backend"] = backend_name(info.backend);
    device["features"] = info.features;
    device["units"] = info.units;
    device["memory_bytes"] = info.memory_bytes;
    all.append(device);
  }
  return all;
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
    variant["reason"] = info.reason;
    all.append(variant);
  }
  return all;
}

std::string status_message(int status) { return mm_status_message(static_cast<mm_status>(status)); }

}  // namespace

void bind_hardware(nb::module_& module) {
  module.def("get_threads", &mm_get_threads);
  module.def("set_threads", &mm_set_threads, nb::arg("threads"));
  module.def("devices", &devices);
  module.def("variants", &variants);
  module.def("version", &mm_version);
  module.def("status_message", &status_message, nb::arg("status"));
}

}  // namespace manymod::python
