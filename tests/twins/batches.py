"""Small workloads for phase 1, and what every list of batches owes, whoever solved it."""

import numpy as np
from hypothesis import strategies as st

from engine import Workload


@st.composite
def crowds(draw, max_n=9, longest=4, max_memory=30):
    """(workload, memory): short lengths, so that F ties often; rows and arrivals shuffled."""
    memory = draw(st.integers(2 * longest, max_memory))
    n = draw(st.integers(1, max_n))
    lengths = st.lists(st.integers(1, longest), min_size=n, max_size=n)
    row = draw(st.permutations(range(n)))
    arrival = draw(st.lists(st.integers(0, 2).map(float), min_size=n, max_size=n))
    return Workload(arrival, draw(lengths), draw(lengths), row=row), memory


def sums_of(batch, output, size):
    """(outputs, count, size) of a batch, given by indices or a mask, as plain integers."""
    return int(output[batch].sum()), len(output[batch]), int(size[batch].sum())


def check_batches(batches, workload, memory):
    """Every request is in one batch; each batch fits and is sorted by output, arrival, row."""
    assert sorted(batches.order.tolist()) == list(range(len(workload)))
    assert batches.order.tolist() == np.concatenate(list(batches)).tolist()
    rank = np.argsort(workload.ascending(workload.output))
    for batch in batches:
        assert len(batch) > 0
        assert workload.peak[batch].sum() <= memory
        assert (np.diff(rank[batch]) > 0).all()
