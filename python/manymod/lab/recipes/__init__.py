# SPDX-License-Identifier: Apache-2.0
"""Ways to measure a row: by calls of this library, by programs of `bench/`, by other libraries."""
