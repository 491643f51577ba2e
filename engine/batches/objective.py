"""F(X) = sum of outputs / |X|^2, and when one batch is better than another.

A small F means many completions soon: it is, up to a constant, what a batch
adds to everybody's latency for each pair of its requests. Sums of outputs reach
10^12 (they fit in M) and counts 10^6, so cross products leave int64; where
doubles cannot tell two quotients apart, their continued fractions do, exactly.
"""

from engine.compiled import kernel

NEAR = 1e-14  # three roundings of a double are below this


@kernel
def quotient_below(a, b, c, d):
    """Whether a / b < c / d, exactly; int64, a and c >= 0, b and d > 0."""
    while True:
        whole, other = a // b, c // d
        if whole != other:
            return whole < other
        a -= whole * b
        c -= other * d
        if a == 0 or c == 0:
            return a < c
        a, b, c, d = d, c, b, a  # a / b < c / d turns into d / c < b / a


@kernel
def lower(output, count, than_output, than_count):
    """Whether F of the first batch is below F of the second, each by sum of outputs and count."""
    left = float(output) * than_count * than_count
    right = float(than_output) * count * count
    if abs(left - right) > NEAR * right:
        return left < right
    return quotient_below(output, count * count, than_output, than_count * than_count)


@kernel
def better(output, count, size, than_output, than_count, than_size):
    """Whether the first batch wins: smaller F, then more requests, then less memory.

    A batch is given by its sum of outputs, its count and its sum of s + o.
    """
    if lower(output, count, than_output, than_count):
        return True
    if lower(than_output, than_count, output, count):
        return False
    return count > than_count or (count == than_count and size < than_size)
