"""Every request of the trace has its row, whatever became of it."""

from engine import Workload, find_policy
from engine.measure.metrics import summary
from engine.measure.per_request import per_request


def test_per_request_keeps_every_row():
    """Rows set aside stay in the table, empty and labelled, in the trace's order."""
    workload = Workload([0, 0, 3], [4, 40, 4], [2, 2, 1])
    table = per_request(find_policy("svf").run(workload, 10), workload)
    assert table["index"].tolist() == [0, 1, 2]
    assert table["status"].tolist() == ["finished", "set aside: needs more than M", "finished"]
    assert table["finish"].isna().tolist() == [False, True, False]
    assert table["start"].dropna().tolist() == [0, 3]
    assert list(table.columns) == [
        "index", "class", "arrival", "prompt", "output", "start", "first_token", "finish",
        "ttft", "tpot", "preemptions", "status",
    ]  # fmt: skip


def test_per_request_of_a_closed_loop_adds_up():
    """Arrivals are when requests came, not what the trace said: latencies add up to the total."""
    workload = Workload([0, 1, 2, 3], [3] * 4, [4] * 4, concurrency=2)
    run = find_policy("mc-sf").run(workload, 10)
    table = per_request(run, workload)
    assert (table["finish"] - table["arrival"]).sum() == summary(run)["total_latency"]
    assert (table["first_token"] - table["arrival"]).tolist() == table["ttft"].tolist()
