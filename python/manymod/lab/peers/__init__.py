# SPDX-License-Identifier: Apache-2.0
"""Other libraries, where they are present: each adapter says how to get its library where it is absent."""
