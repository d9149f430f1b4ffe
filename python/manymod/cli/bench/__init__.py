# SPDX-License-Identifier: Apache-2.0
"""`manymod bench`: measurements, for the extra `bench`."""
