"""Random small workloads for hypothesis, tight enough in memory that requests wait."""

from hypothesis import strategies as st

from engine import Workload
from engine.admission_limits import NO_LIMITS, AdmissionLimits

# Sums of multiples of 1/64 are exact, so that a moment is the same however it is computed.
_PATIENCE = st.one_of(st.just(0.0), st.integers(1, 640).map(lambda k: k / 64))
ADMISSION_LIMITS = st.one_of(
    st.just(NO_LIMITS), st.builds(AdmissionLimits, _PATIENCE, st.integers(0, 4))
)


@st.composite
def instances(draw, max_n=8, max_memory=40, fractional=True, backlog=None):
    """(workload, memory): every request fits; arrivals at 0, whole or fractional."""
    memory = draw(st.integers(2, max_memory))
    n = draw(st.integers(1, max_n))
    lengths = []
    for _ in range(n):
        prompt = draw(st.integers(1, memory - 1))
        lengths.append((prompt, draw(st.integers(1, memory - prompt))))
    whole = st.integers(0, 3 * n).map(float)
    moments = st.one_of(whole, st.floats(0, 3 * n, width=32)) if fractional else whole
    at_once = draw(st.booleans()) if backlog is None else backlog
    arrival = [0.0] * n if at_once else draw(st.lists(moments, min_size=n, max_size=n))
    prompt, output = zip(*lengths, strict=True)
    return Workload(arrival, list(prompt), list(output)), memory
