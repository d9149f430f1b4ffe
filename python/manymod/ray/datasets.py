# SPDX-License-Identifier: Apache-2.0
"""Datasets of Ray Data through jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import ray
from ray import cloudpickle
from ray.data import Dataset

from manymod import ecc as curves
from manymod import rsa as keys_of_rsa
from manymod import set_threads
from manymod.errors import ManymodError
from manymod.ray.workers import Ledger, Workers
from manymod.tables import (
    OPERATIONS,
    BatchLimits,
    EccJob,
    EngineOptions,
    Job,
    MemorySource,
    OperandError,
    OperationJob,
    OutputNames,
    PersistentJob,
    RsaJob,
    TableFunction,
)

__all__ = ["check_portable", "ecc", "map_dataset", "powmod", "rsa"]


class BlockActor:
    """Computes blocks of a dataset; keys are loaded and plans made once.

    Args:
        job: what is done; of a job with keys, `ring` is a function that loads them.
        limits: rows that are computed at a time.
        workers: how many threads and retries.
        ledger: counts how often a block is begun.
    """

    def __init__(self, job: Job, limits: BatchLimits | None, workers: Workers, ledger: Ledger) -> None:
        set_threads(workers.threads)
        loaded = job.loaded()
        self._function = TableFunction(PersistentJob(loaded, workers.retries + 1), limits)
        self._refusal = TableFunction(PersistentJob(loaded, 0), limits)
        self._retries = workers.retries
        self._ledger = ledger

    def __call__(self, block: Any) -> Iterator[Any]:
        """Iterate over the computed batches of a block, as tables."""
        task = ray.get_runtime_context().get_task_id() or ""
        function = self._function if self._ledger.attempts_left(task, self._retries) else self._refusal
        yield function.output_schema(block.schema).empty_table()
        for computed in function.computed(block):
            yield pa.Table.from_batches([computed.rows])
        self._ledger.end(task)


def check_portable(job: Job) -> None:
    """Raise TypeError if a job cannot be sent to other processes."""
    try:
        cloudpickle.dumps(job)
    except (TypeError, AttributeError) as error:
        raise TypeError(
            f"the job cannot be sent to actors: {error}; give a function that loads the keys as its ring, "
            "such as ring=load_keys"
        ) from error


def _check_columns(dataset: Dataset, job: Job) -> None:
    """Raise OperandError if a job does not fit the columns of a dataset, as far as Ray knows them already."""
    schema = getattr(dataset.schema(fetch_if_missing=False), "base_schema", None)
    if not isinstance(schema, pa.Schema):
        return
    try:
        job.bind(MemorySource(schema.empty_table()))
    except OperandError:
        raise
    except (ManymodError, TypeError):
        pass  # keys are not loaded here, and a device or a variant may be there for actors alone


def map_dataset(
    dataset: Dataset, job: Job, *, workers: Workers | None = None, limits: BatchLimits | None = None
) -> Dataset:
    """Return a dataset with the columns of another, and the results and statuses of a job.

    Args:
        dataset: of any size; its blocks are read where they lie, without a copy.
        job: what is done with every row. Of a job with keys, `ring` is a function that returns them, which
            every actor calls once: the keys themselves are never pickled.
        workers: the actors that compute.
        limits: rows that are computed at a time.

    Returns:
        A dataset that is computed, as all of Ray Data, when it is written or iterated over. Rows whose
        operands are bad have a status that says why, and so have those whose device failed time and again; no
        row stops the run.

    Raises:
        TypeError: if the job cannot be pickled, as with a `KeyRing` in place of a function.

        OperandError: if a name does not fit the columns; where Ray does not know these yet, running the
            dataset raises it.
    """
    check_portable(job)
    _check_columns(dataset, job)
    workers = workers or Workers()
    mapped: Dataset = dataset.map_batches(
        BlockActor,
        fn_constructor_args=(job, limits, workers, Ledger()),
        batch_format="pyarrow",
        zero_copy_batch=True,
        udf_modifying_row_count=False,
        **workers.options(),
    )
    return mapped


def powmod(
    dataset: Dataset,
    base: str,
    exp: str,
    mod: str,
    *,
    names: OutputNames | None = None,
    engine: EngineOptions | None = None,
    workers: Workers | None = None,
) -> Dataset:
    """Return a dataset with base^exp mod n of every row.

    Args:
        dataset: of any size.
        base: a column, or the text of an integer for all rows.
        exp: the same.
        mod: the same.
        names: of the columns that are added.
        engine: where and how to compute, in constant time for instance.
        workers: the actors that compute.

    Other operations: `map_dataset` with an `OperationJob`.
    """
    job = OperationJob(
        operation=OPERATIONS["powmod"],
        operands={"base": base, "exp": exp, "mod": mod},
        names=names or OutputNames(),
        engine=engine or EngineOptions(),
    )
    return map_dataset(dataset, job, workers=workers)


def rsa(
    dataset: Dataset,
    operation: str,
    columns: Mapping[str, str],
    load_keys: Callable[[], keys_of_rsa.KeyRing],
    padding: keys_of_rsa.Padding,
    *,
    workers: Workers | None = None,
    **options: Any,
) -> Dataset:
    """Return a dataset with an RSA operation on every row.

    Args:
        dataset: of any size.
        operation: ``sign``, ``verify``, ``encrypt`` or ``decrypt``.
        columns: by what is in them: ``message``, ``signature``, ``ciphertext``.
        load_keys: returns the keys; every actor calls it once.
        padding: of every row.
        workers: the actors that compute.
        options: further attributes of `RsaJob`, such as `algorithm` and `key_column`.
    """
    job = RsaJob(operation=operation, operands=columns, ring=load_keys, padding=padding, **options)
    return map_dataset(dataset, job, workers=workers)


def ecc(
    dataset: Dataset,
    operation: str,
    columns: Mapping[str, str],
    keys: Callable[[], curves.KeyRing] | curves.Curve | None,
    *,
    workers: Workers | None = None,
    **options: Any,
) -> Dataset:
    """Return a dataset with an operation on curves on every row.

    Args:
        dataset: of any size.
        operation: ``sign``, ``verify``, ``exchange``, ``public`` or ``recover``.
        columns: by what is in them: ``message``, ``signature``, ``point``, ``secret``, ``public``.
        keys: returns the keys, and every actor calls it once; or the curve of the keys that rows have.
        workers: the actors that compute.
        options: further attributes of `EccJob`, such as `how` and `key_column`.
    """
    named: dict[str, Any] = {"curve": keys} if isinstance(keys, curves.Curve) else {"ring": keys}
    job = EccJob(operation=operation, operands=columns, **named, **options)
    return map_dataset(dataset, job, workers=workers)
