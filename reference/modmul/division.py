# SPDX-License-Identifier: Apache-2.0
"""Division of word arrays, by trial quotients and by reciprocals.

Sources
-------
- D. E. Knuth, *The Art of Computer Programming*, vol. 2, 4.3.1, Algorithm D (also HAC 14.20).
- N. Möller, T. Granlund, *Improved division by invariant integers*, IEEE Trans. Comput. 60 (2011):
  Algorithm 3 (reciprocal word, here straight from its definition), 4 (2-by-1 division),
  5 (3-by-2 division), 6 (3-by-2 reciprocal).

W is the radix 2^word_bits. A divisor is *normalised* when the top bit of its top word is set.
"""

from __future__ import annotations

from reference.repr import Words, from_words, normalised, to_words


def reciprocal_2by1(d: int, word_bits: int) -> int:
    """``v = floor((W^2 - 1) / d) - W`` for normalised d (Möller-Granlund, equation 1). 0 <= v < W."""
    assert d >> (word_bits - 1) == 1, "divisor word is not normalised"
    v = ((1 << (2 * word_bits)) - 1) // d - (1 << word_bits)
    assert 0 <= v < 1 << word_bits
    return v


def divide_2by1(u1: int, u0: int, d: int, v: int, word_bits: int) -> tuple[int, int]:
    """Quotient word and remainder of ``u1 W + u0`` by normalised d, u1 < d (Möller-Granlund, Algorithm 4)."""
    radix = 1 << word_bits
    assert u1 < d
    q = v * u1 + u1 * radix + u0
    q1, q0 = q >> word_bits, q % radix
    q1 = (q1 + 1) % radix
    r = (u0 - q1 * d) % radix
    if r > q0:
        q1 = (q1 - 1) % radix
        r = (r + d) % radix
    if r >= d:
        q1 += 1
        r -= d
    assert q1 < radix and r < d
    return q1, r


def reciprocal_3by2(d1: int, d0: int, word_bits: int) -> int:
    """``v = floor((W^3 - 1) / (d1 W + d0)) - W`` for normalised d1 (Möller-Granlund, Algorithm 6).

    Starts from the reciprocal of d1 alone and corrects it downwards for d0, at most four times in all.
    """
    radix = 1 << word_bits
    v = reciprocal_2by1(d1, word_bits)
    p = (d1 * v + d0) % radix
    if p < d0:
        v -= 1
        if p >= d1:
            v -= 1
            p -= d1
        p = (p - d1) % radix
    t1, t0 = divmod(v * d0, radix)
    p = (p + t1) % radix
    if p < t1:
        v -= 1
        if (p, t0) >= (d1, d0):
            v -= 1
    assert 0 <= v < radix
    return v


def divide_3by2(u: tuple[int, int, int], d: tuple[int, int], v: int, word_bits: int) -> tuple[int, int, int]:
    """Quotient word and two-word remainder (Möller-Granlund, Algorithm 5).

    ``u = (u2, u1, u0)`` and ``d = (d1, d0)`` are big-endian, d1 normalised, (u2, u1) < (d1, d0).
    Returns ``(q, r1, r0)``.
    """
    radix = 1 << word_bits
    (u2, u1, u0), (d1, d0) = u, d
    assert (u2, u1) < (d1, d0)
    divisor = d1 * radix + d0
    q = v * u2 + u2 * radix + u1
    q1, q0 = q >> word_bits, q % radix
    r1 = (u1 - q1 * d1) % radix
    r = (r1 * radix + u0 - d0 * q1 - divisor) % (radix * radix)
    q1 = (q1 + 1) % radix
    if r >> word_bits >= q0:
        q1 = (q1 - 1) % radix
        r = (r + divisor) % (radix * radix)
    if r >= divisor:
        q1 += 1
        r -= divisor
    assert q1 < radix and r < divisor
    return q1, r >> word_bits, r % radix


def divmod_knuth(a: Words, b: Words, word_bits: int = 64) -> tuple[Words, Words]:
    """Quotient and remainder of ``a`` by ``b != 0`` with trial quotients (Knuth, Algorithm D).

    The trial quotient from two dividend words and one divisor word, corrected by the second divisor word
    (step D3), is right or one too large; in the second case step D6 adds the divisor back.

    >>> divmod_knuth((0, 0, 1), (3, 1), 8)
    ((253, 0), (9, 0))
    """
    shift, u, d = _normalise(a, b, word_bits)
    if len(d) == 1:
        return _divide_by_word(u, d[0], shift, word_bits)
    radix, n = 1 << word_bits, len(d)
    quotient = [0] * (len(u) - n)
    for j in range(len(u) - n - 1, -1, -1):
        estimate, rest = divmod(u[j + n] * radix + u[j + n - 1], d[-1])
        while estimate >= radix or estimate * d[-2] > rest * radix + u[j + n - 2]:
            estimate -= 1
            rest += d[-1]
            if rest >= radix:
                break
        borrow = _subtract_multiple(u, d, estimate, j, word_bits)
        if borrow:
            estimate -= 1
            carry = _add_back(u, d, j, word_bits)
            assert carry == 1, "the trial quotient is more than one too large"
        quotient[j] = estimate
    return tuple(quotient), _denormalise(u[:n], shift, word_bits)


def divmod_reciprocal(a: Words, b: Words, word_bits: int = 64) -> tuple[Words, Words]:
    """Quotient and remainder of ``a`` by ``b != 0`` with 3-by-2 quotients from one reciprocal.

    As :func:`divmod_knuth`, with step D3 replaced by Algorithm 5: its quotient accounts for the two top
    divisor words, so adding back is rarer (about 2 in W). Where the top two dividend words equal the
    divisor's, the quotient word is W - 1 without a division.
    """
    shift, u, d = _normalise(a, b, word_bits)
    if len(d) == 1:
        return _divide_by_word(u, d[0], shift, word_bits)
    radix, n = 1 << word_bits, len(d)
    top = (d[-1], d[-2])
    v = reciprocal_3by2(*top, word_bits)
    quotient = [0] * (len(u) - n)
    for j in range(len(u) - n - 1, -1, -1):
        leading = (u[j + n], u[j + n - 1])
        assert leading <= top, "partial remainder is not below the divisor"
        estimate = radix - 1
        if leading != top:
            estimate = divide_3by2((*leading, u[j + n - 2]), top, v, word_bits)[0]
        if _subtract_multiple(u, d, estimate, j, word_bits):
            estimate -= 1
            carry = _add_back(u, d, j, word_bits)
            assert carry == 1, "the quotient is more than one too large"
        quotient[j] = estimate
    return tuple(quotient), _denormalise(u[:n], shift, word_bits)


def reciprocal_by_bits(d: int, word_bits: int) -> int:
    """`reciprocal_2by1`, by as many conditional subtractions as a word has bits."""
    radix = 1 << word_bits
    rest, quotient = radix - 1 - d, 0
    for _ in range(word_bits):
        rest = 2 * rest + 1
        subtracts = rest >= d
        rest -= d * subtracts
        quotient = 2 * quotient + subtracts
        assert 0 <= rest < d
    return quotient


def remainder_constant_time(x: Words, n: Words, word_bits: int = 64) -> int:
    """``x mod n`` for any n whose top word is not 0, by operations that depend on sizes and n's bit length.

    Each word of x below its top L takes one quotient digit, of the top two words of the remainder, shifted as
    n is, by n's top word. It is at most 2 too large (Knuth, 4.3.1, theorem B): what is left is at least -2 n.
    """
    size, radix, value = len(n), 1 << word_bits, from_words(n, word_bits)
    shift = size * word_bits - value.bit_length()
    top = (value << shift) >> (size - 1) * word_bits
    reciprocal = reciprocal_by_bits(top, word_bits)
    if len(x) < size:
        return from_words(x, word_bits)
    rest = from_words(x[len(x) - size :], word_bits)
    for low in (None, *reversed(x[: len(x) - size])):
        rest = rest if low is None else rest * radix + low
        assert rest < radix * value
        u1, u0 = divmod((rest << shift) >> (size - 1) * word_bits, radix)
        assert u1 <= top
        digit = radix - 1 if u1 == top else divide_2by1(u1, u0, top, reciprocal, word_bits)[0]
        rest -= digit * value
        assert -2 * value <= rest < value
        for _ in range(2):
            rest += value * (rest < 0)
    return rest


def _normalise(a: Words, b: Words, word_bits: int) -> tuple[int, list[int], Words]:
    """Shift so that the divisor is normalised; the dividend gets one more word than it has."""
    divisor = normalised(b)
    if divisor == (0,):
        raise ZeroDivisionError("division by zero")
    shift = word_bits - divisor[-1].bit_length()
    length = max(len(a), len(divisor)) + 1
    u = to_words(from_words(a, word_bits) << shift, length, word_bits)
    return shift, list(u), to_words(from_words(divisor, word_bits) << shift, len(divisor), word_bits)


def _denormalise(r: list[int], shift: int, word_bits: int) -> Words:
    value = from_words(r, word_bits)
    assert value % (1 << shift) == 0
    return to_words(value >> shift, len(r), word_bits)


def _divide_by_word(u: list[int], d: int, shift: int, word_bits: int) -> tuple[Words, Words]:
    v = reciprocal_2by1(d, word_bits)
    quotient = [0] * (len(u) - 1)
    r = u[-1]
    for j in range(len(u) - 2, -1, -1):
        quotient[j], r = divide_2by1(r, u[j], d, v, word_bits)
    return tuple(quotient), _denormalise([r], shift, word_bits)


def _subtract_multiple(u: list[int], d: Words, q: int, j: int, word_bits: int) -> int:
    """``u[j : j+n+1] -= q d``; returns the borrow out of its top word (step D4)."""
    mask, carry = (1 << word_bits) - 1, 0
    for i, d_i in enumerate(d):
        t = u[j + i] - q * d_i - carry
        u[j + i] = t & mask
        carry = -(t >> word_bits)
    t = u[j + len(d)] - carry
    u[j + len(d)] = t & mask
    return int(t < 0)


def _add_back(u: list[int], d: Words, j: int, word_bits: int) -> int:
    """``u[j : j+n+1] += d``; returns the carry out of its top word (step D6)."""
    mask, carry = (1 << word_bits) - 1, 0
    for i, d_i in enumerate((*d, 0)):
        t = u[j + i] + d_i + carry
        u[j + i] = t & mask
        carry = t >> word_bits
    return carry
