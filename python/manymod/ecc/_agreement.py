# SPDX-License-Identifier: Apache-2.0
"""Key agreement on a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manymod import _core
from manymod._run import Errors, Progress
from manymod.ecc._arithmetic import PointArithmetic
from manymod.ecc._calls import calls_with, split_options
from manymod.ecc._operands import byte_items, scalar_items
from manymod.ecc._options import CurveExchangeOptions, exchange_settings, sm2_exchange_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from manymod.ecc._options import PlanOptions

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

    def sm2_exchange(
        self,
        secrets: Any,
        ephemeral_secrets: Any,
        public_keys: Any,
        ephemeral_public_keys: Any,
        *,
        responder: bool = False,
        key_bytes: int = 16,
        ids: Any = None,
        peer_ids: Any = None,
        confirm: bool = False,
        errors: Errors = "raise",
        out: Any = None,
        progress: Progress | None = None,
        **options: Unpack[PlanOptions],
    ) -> Any:
        """Keys of SM2 key exchanges (GB/T 32918.3), on the curve `SM2` only. Timing class: secret.

        Both sides send each other an ephemeral public key, made for this exchange, and compute the same key.

        Args:
            secrets: own private keys, as in `Curve.public_keys`.
            ephemeral_secrets: own ephemeral private keys, each for one exchange only.
            public_keys: of the other sides, in any encoding.
            ephemeral_public_keys: likewise, as they were sent; they decide the kind of the answer.
            responder: whether the other sides sent the first message.
            key_bytes: of a key, 1 to 65536.
            ids: bytes that name this side; None: ``b"1234567812345678"``, as in the standard.
            peer_ids: bytes that name the other sides; likewise.
            confirm: whether 64 bytes follow each key: the digest of 32 bytes that the responder sends to
                confirm it, and that which the initiator sends. Compare the other side's by
                `hmac.compare_digest`.
            errors: as in `Curve.public_keys`. The exception has no results.
            out: likewise.
            progress: likewise.
            **options: likewise.

        >>> from manymod.ecc import SM2
        >>> (ours, our_keys), (theirs, their_keys) = SM2.generate(3), SM2.generate(3)
        >>> (our_once, we_send), (their_once, they_send) = SM2.generate(3), SM2.generate(3)
        >>> keys = SM2.sm2_exchange(ours, our_once, their_keys, they_send)
        >>> bool((keys == SM2.sm2_exchange(theirs, their_once, our_keys, we_send, responder=True)).all())
        True
        """
        calls = calls_with("sm2_exchange", self, options)
        settings = sm2_exchange_settings(key_bytes, responder=responder, confirm=confirm)
        operands = {
            "ephemeral_public_keys": byte_items("ephemeral_public_keys", ephemeral_public_keys),
            "public_keys": byte_items("public_keys", public_keys),
            "ephemeral_secrets": scalar_items("ephemeral_secrets", ephemeral_secrets, self.secret_bytes),
            "secrets": scalar_items("secrets", secrets, self.secret_bytes),
        }
        for name, given in (("ids", ids), ("peer_ids", peer_ids)):
            if given is not None:
                operands[name] = byte_items(name, given)
        once = operands["ephemeral_secrets"].count
        if once is None and any((operand.count or 1) > 1 for operand in operands.values()):
            raise ValueError("ephemeral_secrets: each exchange needs its own")
        return calls.run(
            "sm2_exchange",
            _core.MM_ECC_SM2_EXCHANGE,
            settings,
            operands,
            errors=errors,
            out=out,
            progress=progress,
        )
