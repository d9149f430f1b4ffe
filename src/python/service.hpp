// SPDX-License-Identifier: Apache-2.0
// Services of service.h as Python objects.
#pragma once

#include <nanobind/nanobind.h>

namespace manymod::python {

/// Add SigningService and PendingAnswer to the extension module.
void bind_service(nanobind::module_& module);

}  // namespace manymod::python
