# SPDX-License-Identifier: Apache-2.0
"""Tables: record batches in, record batches out, with a status for every row.

A job is bound to a source and run into a sink; nothing here knows of a terminal.

>>> import pyarrow as pa
>>> from manymod import tables
>>> job = tables.OperationJob(
...     operation=tables.OPERATIONS["powmod"], operands={"base": "b", "exp": "3", "mod": "101"}
... )
>>> sink = tables.MemorySink()
>>> tables.run(job, tables.MemorySource(pa.table({"b": [2, 5]})), sink).rows
2
>>> sink.table().to_pydict()
{'b': [2, 5], 'result': [8, 24], 'status': ['ok', 'ok']}

Needs pyarrow: ``pip install pyarrow``.
"""

from manymod._extras import missing_extra

try:
    import pyarrow as pa  # noqa: F401
except ImportError as _error:
    raise missing_extra("manymod.tables", "arrow") from _error

from manymod.tables.batches import Batch, BatchLimits, MemorySource, Source
from manymod.tables.ecc_job import EccJob
from manymod.tables.errors import OperandError, PartsError, TableError
from manymod.tables.folders import OutputFile
from manymod.tables.formats import (
    CSV_FORMATS,
    EXTENSIONS,
    FORMATS,
    TEXT_FORMATS,
    TextOptions,
    format_of,
    open_source,
)
from manymod.tables.job import Computed, Job, Work
from manymod.tables.mapping import TableFunction
from manymod.tables.operands import OutputNames
from manymod.tables.operation_job import OperationJob
from manymod.tables.operations import OPERATIONS, EngineOptions, Operation
from manymod.tables.parts import ResumableFile
from manymod.tables.persistent import PersistentJob
from manymod.tables.rsa_job import RsaJob
from manymod.tables.run import TableProgress, run
from manymod.tables.sinks import FileSink, MemorySink, Sink, StreamSink, Tally
from manymod.tables.writers import COMPRESSIONS, output_compression

__all__ = [
    "COMPRESSIONS",
    "CSV_FORMATS",
    "EXTENSIONS",
    "FORMATS",
    "OPERATIONS",
    "TEXT_FORMATS",
    "Batch",
    "BatchLimits",
    "Computed",
    "EccJob",
    "EngineOptions",
    "FileSink",
    "Job",
    "MemorySink",
    "MemorySource",
    "OperandError",
    "Operation",
    "OperationJob",
    "OutputFile",
    "OutputNames",
    "PartsError",
    "PersistentJob",
    "ResumableFile",
    "RsaJob",
    "Sink",
    "Source",
    "StreamSink",
    "TableError",
    "TableFunction",
    "TableProgress",
    "Tally",
    "TextOptions",
    "Work",
    "format_of",
    "open_source",
    "output_compression",
    "run",
]
