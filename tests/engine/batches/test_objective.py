"""F is compared exactly, also where products leave int64."""

from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.batches.objective import better, lower, quotient_below

SUMS = st.tuples(
    st.integers(1, 10**12) | st.integers(1, 30),
    st.integers(1, 10**6) | st.integers(1, 6),
    st.integers(1, 3),
)


def f(batch):
    return Fraction(batch[0], batch[1] ** 2)


@settings(max_examples=1000)
@given(st.integers(0, 2**62), st.integers(1, 2**62), st.integers(0, 2**62), st.integers(1, 2**62))
@example(0, 1, 0, 2)
@example(2**62, 2**61, 2**61, 2**60)
def test_quotients_of_any_size(a, b, c, d):
    """a / b < c / d as in rational arithmetic."""
    assert quotient_below(a, b, c, d) == (Fraction(a, b) < Fraction(c, d))


@settings(max_examples=1000)
@given(SUMS, SUMS)
def test_order_of_batches(one, other):
    """Smaller F, then larger count, then smaller size."""
    assert lower(one, other) == (f(one) < f(other))
    key, other_key = ((f(x), -x[1], x[2]) for x in (one, other))
    assert better(one, other) == (key < other_key)


@settings(max_examples=1000)
@given(st.integers(2, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), st.integers(-1, 1))
def test_differences_below_double_precision(k, other_k, share, off):
    """F of share k^2 over k requests ties share k'^2 over k' ones, and one token unties them."""
    share = min(share, 10**12 // max(k, other_k) ** 2)
    one, other = (share * k**2 + off, k, 1), (share * other_k**2, other_k, 1)
    if share > 0:
        assert lower(one, other) == (off < 0)
        assert lower(other, one) == (off > 0)


def test_one_token_in_a_trillion():
    """Doubles cannot tell these quotients apart; they differ by 1e-24 relative."""
    one, other = (999_999_999_999, 999_999, 1), (10**12 - 2, 10**6 - 1, 1)
    assert lower(other, one)
    assert not lower(one, other)
    assert quotient_below(10**12 - 1, 10**12, 10**12, 10**12 + 1)
    assert not quotient_below(10**12, 10**12 + 1, 10**12 - 1, 10**12)
