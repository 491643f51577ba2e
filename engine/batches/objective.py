"""F(X) = sum of outputs / |X|^2, and which of two batches is better.

In these files a batch is judged by its sums alone, a tuple (outputs, count,
size): the sum of its outputs, how many requests it has, and the sum of their
peaks s + o.

Sums of outputs reach 10^12 (they fit in M) and counts 10^6, so cross products
leave int64. Doubles decide where they can; where they are too close, the
quotients' continued fractions do, exactly.
"""

from engine.compiled import kernel

NEAR = 1e-14  # relative; the roundings of two double products are below it


@kernel
def quotient_below(a, b, c, d):
    """Whether a / b < c / d, exactly; int64 with a, c >= 0 and b, d > 0."""
    while True:
        whole, other = a // b, c // d
        if whole != other:
            return whole < other
        a -= whole * b
        c -= other * d
        if a == 0 or c == 0:
            return a < c
        a, b, c, d = d, c, b, a  # of two fractions below 1 the smaller has the larger inverse


@kernel
def lower(batch, than):
    """Whether F of `batch` is below F of `than`, exactly."""
    left = float(batch[0]) * than[1] * than[1]
    right = float(than[0]) * batch[1] * batch[1]
    if abs(left - right) > NEAR * right:
        return left < right
    return quotient_below(batch[0], batch[1] * batch[1], than[0], than[1] * than[1])


@kernel
def better(batch, than):
    """Whether `batch` has the smaller F, or the same and more requests, or these and less size."""
    if lower(batch, than):
        return True
    if lower(than, batch):
        return False
    return batch[1] > than[1] or (batch[1] == than[1] and batch[2] < than[2])
