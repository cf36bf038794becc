"""``sum_{k=1..n} k^p beta^k``, in so few steps as n has digits.

The terms from m + 1 to 2 m are those from 1 to m, moved by m:

    sum_{k=1..m} (k + m)^p beta^(k+m) = beta^m sum_j binomial(p, j) m^(p-j) sum_{k=1..m} k^j beta^k

so that n is built from its binary digits.  For beta >= 0 nothing is subtracted, and no digits are lost; the closed
form has ``1 - beta^n - n beta^n (1 - beta)`` above ``(1 - beta)^2``, and loses all of them where beta^n is near 1.

Example: beta = 1/2, p = 1: m = 1 has 1/2, and m = 2 has 1/2 + 1/2 (1/2 + 1/2) = 1 = 1/2 + 2/4.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb


@lru_cache(maxsize=64)  # those of a step are asked for by every group
def power_sums(decay: float, count: int, degree: int) -> tuple[float, ...]:
    """The sums for the powers p = 0 .. degree."""
    sums, made = [0.0] * (degree + 1), 0
    for digit in f"{count:b}":
        fall = decay**made
        sums = [
            x + fall * sum(comb(p, j) * float(made) ** (p - j) * sums[j] for j in range(p + 1))
            for p, x in enumerate(sums)
        ]
        made *= 2
        if digit == "1":
            made += 1
            newest = decay**made
            sums = [x + float(made) ** p * newest for p, x in enumerate(sums)]
    return tuple(sums)
