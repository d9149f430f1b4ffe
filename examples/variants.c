/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of this machine and the variants of this library, with the reasons why they cannot be used. */
#include <stdio.h>

#include "manymod/manymod.h"

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, mm_last_error());
  return 1;
}

int main(void) {
  printf("manymod %s\n", mm_version());
  for (size_t i = 0; i < mm_device_count(); ++i) {
    mm_device_info info = {0};
    info.struct_size = sizeof info;
    if (mm_device_get(i, &info) != MM_OK) return failed("mm_device_get");
    printf("%s: %s%s%s\n", info.name, info.model, info.obstacle[0] ? ", not usable: " : "", info.obstacle);
  }
  size_t usable = 0;
  for (size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info info = {0};
    info.struct_size = sizeof info;
    if (mm_variant_get(i, &info) != MM_OK) return failed("mm_variant_get");
    printf("%s: %s\n", info.name, info.usable ? info.summary : info.reason);
    if (info.usable) ++usable;
  }
  return usable == 0;
}
