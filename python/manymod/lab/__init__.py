# SPDX-License-Identifier: Apache-2.0
"""The lab: tables and figures of five papers, measured on the machine at hand; for the extra `lab`."""
