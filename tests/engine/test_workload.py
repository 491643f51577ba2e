"""A workload accepts what is sound and names the first row and field that is not."""

import numpy as np
import pytest

from engine import InputError, Workload
from engine.workload import read_only


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([], [], []), "no requests"),
        (([0, -1], [1, 1], [1, 1]), "row 2, arrival: must be a number from 0"),
        (([0, float("nan")], [1, 1], [1, 1]), "row 2, arrival"),
        (([0, float("inf")], [1, 1], [1, 1]), "row 2, arrival"),
        (([0, 0], [1, 0], [1, 1]), "row 2, prompt: must be 1 to"),
        (([0, 0], [1, 1], [-3, 1]), "row 1, output: must be 1 to"),
        (([0, 0], [1, 1.5], [1, 1]), "row 2, prompt: must be a whole number, got 1.5"),
        (([0, 0], [1, float("nan")], [1, 1]), "row 2, prompt: must be a whole number"),
        (([0, 0], [1, 10**10], [1, 1]), "row 2, prompt"),
        (([0, 0], [1], [1, 1]), "prompt has 1 rows but arrival has 2"),
        (([0, 0], ["a", "b"], [1, 1]), "prompt must be one column of numbers"),
        (
            ([0, 0], [1, 1], [1, 1], None, ("all",), None, [0, 1.5]),
            "row 2, priority: must be a who",
        ),
        (([0], [1], [1], None, ("all",), None, [10**10]), "row 1, priority: must be at most a bil"),
    ],
)
def test_bad_columns(columns, message):
    """Each kind of bad value."""
    with pytest.raises(InputError, match=message):
        Workload(*columns)


def test_columns_cannot_be_changed():
    """Caches and runs share the arrays."""
    workload = Workload([0], [1], [1])
    with pytest.raises(ValueError, match="read-only"):
        workload.prompt[0] = 2


def test_ties_break_by_key_arrival_row():
    """Whatever the order of the rows."""
    workload = Workload([5, 0, 0, 5], [1] * 4, [1] * 4)
    assert workload.ascending(np.zeros(4)).tolist() == [1, 2, 0, 3]
    assert workload.ascending(np.array([2, 2, 1, 1])).tolist() == [2, 3, 1, 0]
    in_order = Workload([0, 1, 2], [1] * 3, [1] * 3)
    assert in_order.ascending(np.array([1, 0, 1])).tolist() == [1, 0, 2]


def test_volume_counts_every_token_of_every_round():
    """(3, 4) holds 4 + 5 + 6 + 7."""
    assert Workload([0], [3], [4]).volume.tolist() == [22]


def test_digest_tells_workloads_apart():
    """One token, one class name or one arrival changes it."""
    base = Workload([0, 1], [2, 2], [3, 3])
    assert base.digest == Workload([0, 1], [2, 2], [3, 3]).digest
    others = [
        Workload([0, 1], [2, 2], [3, 4]),
        Workload([0, 1.5], [2, 2], [3, 3]),
        Workload([0, 1], [2, 2], [3, 3], classes=("b",)),
        Workload([0, 1], [2, 2], [3, 3], priority=[0, 1]),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 5


def test_priorities_are_0_unless_given_and_follow_their_requests():
    """`take` selects them like every other column."""
    assert Workload([0, 1], [2, 2], [3, 3]).priority.tolist() == [0, 0]
    given = Workload([0, 1, 2], [1] * 3, [1] * 3, priority=[5, -1, 7])
    assert given.take(np.array([2, 0])).priority.tolist() == [7, 5]


def test_columns_that_nobody_can_write_are_taken_without_a_copy():
    """Any other is copied: a view, too, whose base may be written."""
    handed_over = read_only(np.arange(1, 5))
    assert Workload(np.zeros(4), handed_over, handed_over).prompt is handed_over
    mine = np.arange(1, 5)
    view = read_only(mine[:])
    workload = Workload(np.zeros(4), mine, view)
    mine[:] = 9
    assert workload.prompt.tolist() == workload.output.tolist() == [1, 2, 3, 4]
    for column in (workload.prompt, workload.class_of, workload.row, workload.priority):
        assert not column.flags.writeable
