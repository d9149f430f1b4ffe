# SPDX-License-Identifier: Apache-2.0
"""`manymod signd`: what the daemon manymod-signd has and does."""
