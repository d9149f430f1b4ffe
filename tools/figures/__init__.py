# SPDX-License-Identifier: Apache-2.0
"""The drawings of the documents: ``PYTHONPATH=tools python -m figures`` writes them to docs/images."""
