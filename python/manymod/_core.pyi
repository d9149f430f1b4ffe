# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

_Name = str | None
_Limbs = NDArray[np.uint64]
_Signs = NDArray[np.uint8] | None
_Progress = Callable[[int, int], Any] | None
#: Bytes objects, uint8[N, W], or with offsets the block that they divide.
_ByteStrings = Sequence[Buffer] | NDArray[np.uint8] | Buffer

#: Names of the operations, in the order of mm_op.
OPERATIONS: tuple[str, ...]
MAX_THREADS: int
MM_MAX_MODULUS_BITS: int
MM_OK: int
MM_ITEM_ZERO_MODULUS: int
MM_ITEM_NOT_INVERTIBLE: int
MM_ITEM_EVEN_MODULUS: int
MM_ITEM_MODULUS_TOO_WIDE: int
MM_ITEM_NOT_COMPUTED: int
MM_ITEM_RSA_KEY: int
MM_ITEM_RSA_LENGTH: int
MM_ITEM_RSA_RANGE: int
MM_ITEM_RSA_DECRYPTION: int
MM_ITEM_RSA_FAULT: int
MM_ITEM_RSA_PADDING: int
MM_ITEM_RSA_SIGNATURE_LENGTH: int
MM_ITEM_ECC_CURVE: int
MM_ITEM_ECC_SECRET: int
MM_ITEM_ECC_POINT: int
MM_ITEM_ECC_SMALL_ORDER: int
MM_ITEM_ECC_SIGNATURE: int
MM_ITEM_ECC_LENGTH: int
MM_ITEM_ECC_NONCE: int
MM_ITEM_ECC_FAULT: int
MM_ITEM_ECC_NO_KEY: int
MM_ITEM_EXPIRED: int
MM_ITEM_EXPONENT_TOO_WIDE: int
MM_ERR_ITEMS: int
MM_ERR_NULL: int
MM_ERR_ARGUMENT: int
MM_ERR_OVERLAP: int
MM_ERR_MEMORY: int
MM_ERR_CANCELLED: int
MM_ERR_UNKNOWN_VARIANT: int
MM_ERR_UNUSABLE_VARIANT: int
MM_ERR_UNKNOWN_DEVICE: int
MM_ERR_INTERNAL: int
MM_ERR_TUNING: int
MM_ERR_DEVICE: int
MM_ERR_UNSUPPORTED: int
MM_ERR_KEY: int
MM_ERR_CRYPTO: int
MM_ERR_FULL: int
MM_ERR_CLOSED: int
MM_MODULUS_EACH: int
MM_MODULUS_SHARED: int
MM_RSA_MIN_BITS: int
MM_RSA_MAX_BITS: int
MM_RSA_EXPONENT_BITS: int
MM_RSA_MAX_PRIMES: int
MM_RSA_CHECK_PRIMES: int
MM_RSA_KEY_ANY: int
MM_RSA_KEY_PRIVATE: int
MM_RSA_KEY_PUBLIC: int
MM_RSA_UNREAD_OPENSSH: int
MM_RSA_UNREAD_ENCRYPTION: int
MM_RSA_PUBLIC: int
MM_RSA_PRIVATE: int
MM_RSA_SIGN: int
MM_RSA_ENCRYPT: int
MM_RSA_DECRYPT: int
MM_RSA_RAW: int
MM_RSA_PKCS1V15: int
MM_RSA_PSS: int
MM_RSA_OAEP: int
MM_SHA1: int
MM_SHA224: int
MM_SHA256: int
MM_SHA384: int
MM_SHA512: int
MM_SHA512_224: int
MM_SHA512_256: int
MM_SHA3_224: int
MM_SHA3_256: int
MM_SHA3_384: int
MM_SHA3_512: int
MM_SHAKE128: int
MM_SHAKE256: int
MM_SM3: int
MM_RSA_SALT_DIGEST: int
MM_RSA_SALT_AUTO: int
MM_RSA_SALT_MAX: int
MM_HASH_NONE: int
MM_ECC_WEIERSTRASS: int
MM_ECC_EDWARDS: int
MM_ECC_MONTGOMERY: int
MM_ECC_MIN_BITS: int
MM_ECC_MAX_BITS: int
MM_ECC_PUBLIC_KEY: int
MM_ECC_SIGN: int
MM_ECC_VERIFY: int
MM_ECC_VERIFY_ALL: int
MM_ECC_RECOVER: int
MM_ECC_EXCHANGE: int
MM_ECC_MULTIPLY: int
MM_ECC_ADD: int
MM_ECC_POINT: int
MM_ECC_SUM: int
MM_ECC_SM2_EXCHANGE: int
MM_ECC_DEFAULT: int
MM_ECC_ECDSA: int
MM_ECC_EDDSA: int
MM_ECC_BIP340: int
MM_ECC_SM2DSA: int
MM_ECC_NONCE_DETERMINISTIC: int
MM_ECC_NONCE_HEDGED: int
MM_ECC_NONCE_GIVEN: int
MM_ECC_RFC8032: int
MM_ECC_STRICT: int
MM_ECC_ZIP215: int
MM_ECC_RAW: int
MM_ECC_DER: int
MM_ECC_RECOVERABLE: int
MM_ECC_UNCOMPRESSED: int
MM_ECC_COMPRESSED: int
MM_ECC_X_ONLY: int

def most_bits(sequence: Sequence[Any]) -> int: ...
def scan_ints(sequence: Sequence[Any]) -> tuple[Sequence[Any], int, bool, bool]: ...
def int_widths(sequence: Sequence[Any], widths: NDArray[np.uint32]) -> None: ...
def split_runs(widths: list[NDArray[np.uint32]], fixed_bytes: int, budget_bytes: int) -> list[int]: ...
def ints_to_limbs(sequence: Sequence[Any], start: int, limbs: _Limbs, negative: _Signs) -> None: ...
def limbs_to_ints(limbs: _Limbs, negative: _Signs) -> list[int]: ...
def limbs_to_mpz(limbs: _Limbs, negative: _Signs) -> list[Any]: ...
def mpz_methods() -> tuple[str, str]: ...
def bytes_to_limbs(bytes: NDArray[np.uint8], limbs: _Limbs) -> None: ...
def limbs_to_bytes(limbs: _Limbs, bytes: NDArray[np.uint8]) -> None: ...
def bytes_list_to_limbs(sequence: Sequence[bytes], limbs: _Limbs) -> None: ...
def scan_text(
    data: Buffer,
    offsets: NDArray[np.int64],
    max_decimal_digits: int,
    notations: NDArray[np.uint8],
    widths: NDArray[np.uint32],
) -> None: ...
def text_to_limbs(
    data: Buffer,
    offsets: NDArray[np.int64],
    start: int,
    notations: NDArray[np.uint8],
    limbs: _Limbs,
    negative: _Signs,
) -> None: ...
def limbs_to_text(
    limbs: _Limbs,
    negative: _Signs,
    present: NDArray[np.bool_] | None,
    hexadecimal: NDArray[np.bool_] | None,
    min_digits: NDArray[np.uint32] | None,
    offsets: NDArray[np.int64],
) -> bytes: ...
def binary_to_limbs(data: Buffer, offsets: NDArray[np.int64], start: int, limbs: _Limbs) -> None: ...
def limbs_to_binary(limbs: _Limbs, offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> None: ...
def words_to_limbs(words: _Limbs, limbs: _Limbs, negative: NDArray[np.uint8]) -> None: ...
def limbs_to_words(limbs: _Limbs, negative: _Signs, words: _Limbs) -> None: ...
def bit_lengths(limbs: _Limbs, out: NDArray[np.int64]) -> None: ...
def compare(x: _Limbs, x_negative: _Signs, y: _Limbs, y_negative: _Signs, out: NDArray[np.int8]) -> None: ...

class DeviceLimbs:
    @staticmethod
    def allocate(device_index: int, count: int, width: int) -> DeviceLimbs: ...
    @staticmethod
    def from_capsule(capsule: Any, name: str) -> DeviceLimbs: ...
    @property
    def device_index(self) -> int: ...
    @property
    def address(self) -> int: ...
    @property
    def span_bytes(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def stride(self) -> int: ...
    @property
    def writable(self) -> bool: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def of_signed_type(self) -> bool: ...
    def __len__(self) -> int: ...
    def part(self, start: int, stop: int) -> DeviceLimbs: ...
    def to_host(self, limbs: _Limbs) -> None: ...
    def from_host(self, limbs: _Limbs) -> None: ...
    def copy(self) -> DeviceLimbs: ...
    def to_capsule(self, versioned: bool, of_signed_type: bool, flat: bool) -> object: ...
    def to_copied_capsule(self, on_host: bool, versioned: bool, of_signed_type: bool, flat: bool) -> Any: ...

_AnyLimbs = _Limbs | DeviceLimbs

class Plan:
    def __init__(
        self,
        op: int,
        timing: int,
        modulus_kind: int,
        modulus_bits: int,
        device: _Name,
        variant: _Name,
        threads: int,
    ) -> None: ...
    @property
    def variant(self) -> str: ...
    def variant_for(self, items: int) -> str: ...
    def run_lists(
        self,
        count: int,
        block: int,
        operands: tuple[tuple[Any, ...], ...],
        modulus: tuple[Any, ...],
        signed_result: bool,
        mpz: bool,
        status: NDArray[np.uint8],
        progress: Any,
    ) -> tuple[list[Any], int]: ...
    def run(
        self,
        count: int,
        terms: int,
        x: _AnyLimbs | None,
        x_negative: _Signs,
        y: _AnyLimbs | None,
        y_negative: _Signs,
        modulus: _AnyLimbs,
        modulus_negative: _Signs,
        result: _AnyLimbs,
        result_negative: _Signs,
        status: NDArray[np.uint8],
        progress: _Progress,
        first: int,
        total: int,
        z: _AnyLimbs | None = None,
        z_negative: _Signs = None,
    ) -> int: ...

class FixedBase:
    def __init__(
        self,
        base: _Limbs,
        base_negative: _Signs,
        modulus: _Limbs,
        modulus_negative: _Signs,
        timing: int,
        exponent_bits: int,
        device: _Name,
        variant: _Name,
        threads: int,
    ) -> None: ...
    @property
    def variant(self) -> str: ...
    def variant_for(self, exponents: int) -> str: ...
    def run(
        self,
        count: int,
        y: _AnyLimbs,
        y_negative: _Signs,
        result: _AnyLimbs,
        result_negative: _Signs,
        status: NDArray[np.uint8],
        progress: _Progress,
        first: int,
        total: int,
    ) -> int: ...

class RsaKey:
    @staticmethod
    def from_numbers(
        n: int,
        e: int,
        d: int | None,
        p: int | None,
        q: int | None,
        dp: int | None,
        dq: int | None,
        qinv: int | None,
        others: Sequence[tuple[int, int | None, int | None]],
        pss: tuple[int, int, int, int],
        checks: int,
        max_exponent_bits: int,
    ) -> RsaKey: ...
    @staticmethod
    def decode(
        encoded: Buffer, password: Buffer | None, checks: int, max_exponent_bits: int, kind: int
    ) -> RsaKey | tuple[int, str, int, int]: ...
    @property
    def modulus_bits(self) -> int: ...
    @property
    def modulus_bytes(self) -> int: ...
    @property
    def is_private(self) -> bool: ...
    @property
    def primes(self) -> int: ...
    @property
    def pss(self) -> tuple[int, int, int, int]: ...
    def public_numbers(self) -> tuple[bytes, bytes]: ...

class RsaPadding:
    def __init__(
        self, scheme: int, hash: int, mgf_hash: int, salt_length: int, prehashed: bool, label: bytes
    ) -> None: ...

class RsaRing:
    def __init__(
        self, keys: Sequence[RsaKey], device: _Name, variant: _Name, threads: int, blinding: bool
    ) -> None: ...
    @property
    def max_modulus_bytes(self) -> int: ...
    @property
    def private_items(self) -> int: ...
    @property
    def recomputed(self) -> int: ...
    def variant(self, key: int, private_operation: bool, items: int) -> str: ...
    def run(
        self,
        op: int,
        padding: RsaPadding,
        count: int,
        keys: NDArray[np.uint32] | None,
        input: _ByteStrings,
        input_offsets: NDArray[np.int64] | None,
        output: NDArray[np.uint8],
        sizes: NDArray[np.uint64] | None,
        status: NDArray[np.uint8],
        progress: _Progress,
    ) -> int: ...
    def verify(
        self,
        padding: RsaPadding,
        count: int,
        keys: NDArray[np.uint32] | None,
        input: _ByteStrings,
        input_offsets: NDArray[np.int64] | None,
        signature: _ByteStrings,
        signature_offsets: NDArray[np.int64] | None,
        valid: NDArray[np.uint8],
        status: NDArray[np.uint8],
        progress: _Progress,
        left_pad: bool,
    ) -> int: ...

def rsa_supported() -> bool: ...
def hash_size(hash: int) -> int: ...

class EccCurve:
    @staticmethod
    def find(name: str) -> EccCurve | None: ...
    @staticmethod
    def named() -> list[EccCurve]: ...
    @staticmethod
    def create(
        form: int, p: bytes, a: bytes, b: bytes, x: bytes, y: bytes, n: bytes, cofactor: bytes
    ) -> EccCurve: ...
    @property
    def name(self) -> str: ...
    @property
    def form(self) -> int: ...
    @property
    def field_bits(self) -> int: ...
    @property
    def order_bits(self) -> int: ...
    @property
    def coordinate_bytes(self) -> int: ...
    @property
    def scalar_bytes(self) -> int: ...
    @property
    def secret_bytes(self) -> int: ...
    @property
    def public_bytes(self) -> int: ...
    @property
    def signature_bytes(self) -> int: ...
    def usable(self, variant: str) -> bool: ...

class EccKey:
    def __init__(self, encoded: Buffer, password: Buffer | None, public_only: bool) -> None: ...
    @property
    def curve(self) -> EccCurve: ...
    @property
    def secret(self) -> bytearray: ...
    @property
    def public_bytes(self) -> bytearray: ...

class EccScheme:
    def __init__(
        self,
        scheme: int,
        hash: int,
        prehashed: bool,
        nonces: int,
        policy: int,
        signature_format: int,
        point_format: int,
        low_s: int,
        no_check: bool,
        key_bytes: int,
        responder: bool,
        confirm: bool,
    ) -> None: ...

class EccPlan:
    def __init__(self, curves: Sequence[EccCurve], device: _Name, variant: _Name, threads: int) -> None: ...
    def variant(self, curve: int) -> str: ...
    def run(
        self,
        op: int,
        scheme: EccScheme,
        count: int,
        index: NDArray[np.uint32] | None,
        ring: EccRing | None,
        inputs: tuple[tuple[_ByteStrings, NDArray[np.int64] | None, str] | None, ...],
        output: NDArray[np.uint8] | None,
        sizes: NDArray[np.uint64] | None,
        ok: NDArray[np.uint8] | None,
        status: NDArray[np.uint8],
        progress: _Progress,
    ) -> int: ...

class EccRing:
    def __init__(self, plan: EccPlan, secrets: _ByteStrings, curve: NDArray[np.uint32]) -> None: ...

def ecc_supported() -> bool: ...
def ecc_variants() -> list[str]: ...
def taken_items(items: Sequence[Any]) -> tuple[tuple[Any, ...], bool]: ...
def rows_to_bytes(rows: NDArray[np.uint8], sizes: NDArray[np.uint64]) -> list[bytes]: ...
def get_threads() -> int: ...
def set_threads(threads: int) -> int: ...
def devices() -> list[dict[str, Any]]: ...
def cuda_support() -> dict[str, Any]: ...
def opencl_support() -> dict[str, Any]: ...
def variants() -> list[dict[str, Any]]: ...
def instruction_names() -> list[str]: ...
def instruction_rate(name: str, seconds: float) -> float | None: ...
def load_tuning(path: bytes | None) -> None: ...
def tuning() -> dict[str, Any]: ...
def version() -> str: ...
def status_name(status: int) -> str: ...
def status_message(status: int) -> str: ...

class PendingAnswer:
    """What the extension keeps of a future of a `SigningService`, the base of its class."""

    def withdraw(self) -> bool: ...

class SigningService:
    def __init__(
        self,
        deadline: float,
        max_batch: int,
        max_queue: int,
        max_waiters: int,
        max_concurrent: int,
        future_type: type[PendingAnswer],
        error_of: Callable[[int, str], BaseException],
    ) -> None: ...
    def add_rsa(self, ring: RsaRing, op: int, padding: RsaPadding) -> int: ...
    def add_ecc(
        self,
        plan: EccPlan,
        op: int,
        scheme: EccScheme,
        curves: NDArray[np.uint32],
        secrets: tuple[Buffer, ...],
        context: _ByteStrings | None,
        context_offsets: NDArray[np.int64] | None,
    ) -> int: ...
    def submit(self, operation: int, input: bytes, key: int, room: float) -> Any: ...
    def submit_later(self, operation: int, input: bytes, key: int) -> Any: ...
    def submit_many(
        self,
        operation: int,
        count: int,
        keys: NDArray[np.uint32] | None,
        input: _ByteStrings,
        input_offsets: NDArray[np.int64] | None,
        output: NDArray[np.uint8],
        sizes: NDArray[np.uint64],
        status: NDArray[np.uint8],
        finish: Callable[[], tuple[Any, BaseException | None]],
        room: float,
    ) -> Any: ...
    def call(self, operation: int, input: bytes, key: int, block: bool) -> bytes: ...
    def deliver(self) -> None: ...
    def stop(self, drain: bool) -> None: ...
    def delivers_here(self) -> bool: ...
    def take_raised(self) -> BaseException | None: ...
    def statistics(self) -> dict[str, Any]: ...
