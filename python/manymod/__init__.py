# SPDX-License-Identifier: Apache-2.0
"""Modular arithmetic on many independent big integers at once.

>>> import manymod
>>> manymod.powmod([2, 3, 5], [10, 20, 30], 1_000_003)
[1024, 773943, 547217]
"""

from manymod._starting import EndsAtOnce, is_command

with EndsAtOnce(is_command()):  # signals of other programs are theirs
    from manymod import _core
    from manymod.asynchronous import submit
    from manymod.device_array import DeviceArray, to_device
    from manymod.errors import (
        CryptoError,
        DeviceError,
        InternalError,
        InvalidKeyError,
        ItemError,
        ItemValueError,
        ItemZeroDivisionError,
        ManymodError,
        Status,
        TuningError,
        UnsupportedError,
        VariantError,
    )
    from manymod.fixed_base import FixedBase
    from manymod.hardware import (
        CudaSupport,
        Device,
        OpenclSupport,
        Tuning,
        TuningRow,
        Variant,
        cuda_support,
        devices,
        get_threads,
        load_tuning,
        opencl_support,
        set_threads,
        tuning,
        variants,
    )
    from manymod.intarray import IntArray
    from manymod.multi import multi_powmod
    from manymod.ops import (
        addmod,
        fmamod,
        invmod,
        invmod_sec,
        mulmod,
        negmod,
        powmod,
        powmod_sec,
        sqrmod,
        submod,
    )
    from manymod.plan import Plan, clear_plans
    from manymod.reductions import dotmod, prodmod, summod
    from manymod.residues import Residues

__version__ = _core.version()

__all__ = [
    "CryptoError",
    "CudaSupport",
    "Device",
    "DeviceArray",
    "DeviceError",
    "FixedBase",
    "IntArray",
    "InternalError",
    "InvalidKeyError",
    "ItemError",
    "ItemValueError",
    "ItemZeroDivisionError",
    "ManymodError",
    "OpenclSupport",
    "Plan",
    "Residues",
    "Status",
    "Tuning",
    "TuningError",
    "TuningRow",
    "UnsupportedError",
    "Variant",
    "VariantError",
    "__version__",
    "addmod",
    "clear_plans",
    "cuda_support",
    "devices",
    "dotmod",
    "fmamod",
    "get_threads",
    "invmod",
    "invmod_sec",
    "load_tuning",
    "mulmod",
    "multi_powmod",
    "negmod",
    "opencl_support",
    "powmod",
    "powmod_sec",
    "prodmod",
    "set_threads",
    "sqrmod",
    "submit",
    "submod",
    "summod",
    "to_device",
    "tuning",
    "variants",
]
