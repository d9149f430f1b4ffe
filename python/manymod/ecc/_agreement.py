# SPDX-License-Identifier: Apache-2.0
"""Key agreement on a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manymod import _core
from manymod._run import Errors, Progress
from manymod.ecc._arithmetic import PointArithmetic
from manymod.ecc._calls import split_options
from manymod.ecc._operands import byte_items, scalar_items
from manymod.ecc._options import CurveExchangeOptions, exchange_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack


__all__ = ["KeyAgreement"]


class KeyAgreement(PointArithmetic):
    """What two sides with keys on a curve compute together; `Curve.public_keys` has the common keywords."""

    def exchange(
        self,
        secrets: Any,
        public_keys: Any,
        *,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[CurveExchangeOptions],
    ) -> Any:
        """Shared secrets: the x coordinate (ECDH, SEC 1) or u (X25519, X448). Timing class: secret.

        Args:
            secrets: private keys, as in `Curve.public_keys`.
            public_keys: of the other sides, in any encoding; they decide the kind of the answer. A point
                that is not on the curve, or would give the secret 0, is an error.
            errors: as in `Curve.public_keys`. The exception has no results.
            out: likewise.
            progress: likewise.
            **options: `device`, `variant`, `threads`, and `algorithm`: None, or a hash whose digests take
                the place of the secrets.

        >>> from manymod.ecc import X25519
        >>> ours, theirs = X25519.generate(2)
        >>> shared = X25519.exchange(ours, theirs[::-1])
        >>> bool((shared[0] == shared[1]).all())
        True
        """
        calls, how = split_options("exchange", self, options, CurveExchangeOptions)
        settings = exchange_settings(calls.curves, **how)
        operands = {
            "public_keys": byte_items("public_keys", public_keys),
            "secrets": scalar_items("secrets", secrets, self.secret_bytes),
        }
        return calls.run(
            "exchange", _core.MM_ECC_EXCHANGE, settings, operands, errors=errors, out=out, progress=progress
        )
