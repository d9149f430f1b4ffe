# SPDX-License-Identifier: Apache-2.0
"""`manymod lab`: the papers' tables and figures on this machine, for the extra `lab`."""
