# SPDX-License-Identifier: Apache-2.0
"""Tables beyond one machine: jobs of `manymod.tables` over datasets of Ray Data.

>>> from manymod import ray as bulk, tables
>>> job = tables.OperationJob(
...     operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "65537", "mod": "n"}
... )
>>> bulk.Workers(count=4, threads=8)
Workers(count=4, threads=8, cpus=None, gpus=0.0, retries=3)

`map_dataset` makes a dataset of a dataset, `powmod`, `rsa` and `ecc` are short forms of it, and
`parquet_to_parquet` runs a job from files to files.

Needs Ray: ``pip install ray[data] pyarrow``.
"""

from manymod._extras import missing_extra

try:
    import ray.data  # noqa: F401
except ImportError as _error:
    raise missing_extra("manymod.ray", "ray") from _error

from manymod.ray.cluster import connected, gpu_share
from manymod.ray.datasets import ecc, map_dataset, powmod, rsa
from manymod.ray.parquet import parquet_to_parquet
from manymod.ray.workers import Workers

__all__ = [
    "Workers",
    "connected",
    "ecc",
    "gpu_share",
    "map_dataset",
    "parquet_to_parquet",
    "powmod",
    "rsa",
]
