"""Where Nested WAIT's gates stand, and how many requests go on together at each."""

from typing import NamedTuple

import numpy as np

from engine.simulate.timetable import NEVER

SLACK = 0.05  # the paper's eta: groups shrink a little less than the share that goes on


class GateRule(NamedTuple):
    """Where the gates are and who goes on together.

    Attributes
    ----------
    at, size : (m + 1,) int64, the gates as `gates_at` describes them
    group : how many new requests start together
    max_wait : clock units after which a request waits for no group
    """

    at: np.ndarray
    size: np.ndarray
    group: int
    max_wait: float


def gates_at(output, segments, group):
    """Where the gates are and how many go on together at each.

    Gates cut the longest output into equal parts. A group is the group before times the
    share of those that pass the gate, plus 0.05, at most 0.99 (2504.11320, revised).

    Parameters
    ----------
    output : (n,) int64, from which the shares are taken

    Returns
    -------
    (m + 1,) int64 and (m + 1,) int64, the last of which is a gate that nobody reaches.
    """
    longest = int(output.max())
    at = np.unique([k * longest // segments for k in range(1, segments)]).astype(np.int64)
    at = at[at > 0]
    passing = np.array([(output > gate).sum() for gate in at], np.int64)
    reaching = np.concatenate([[len(output)], passing[:-1]])
    shares = np.minimum(passing / np.maximum(reaching, 1) + SLACK, 0.99)
    sizes = np.maximum(1, np.rint(group * np.cumprod(shares))).astype(np.int64)
    return np.append(at, NEVER), np.append(sizes, 1)
