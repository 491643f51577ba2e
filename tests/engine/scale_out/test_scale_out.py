"""Where a sweep runs changes when its results come and nothing else; nothing of it is left over."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import InputError, Scenario, find_policy, generate
from engine.capacity.draws import Draws
from engine.cli import main
from engine.scale_out import CORES, HERE, SCHEDULER, Sweep, run_all, where
from engine.version import version
from tests.services import sweeps
from tests.services.cluster import ROOT, Cluster, wait_for

USUAL = "--memory 16492 --policy svf --policy vllm --format json"
GRID = "--knob memory=9000:20000:4 --knob rate=0.05:0.15:4"
SWEEP = f"sweep --n 300 {GRID} {USUAL}".split()
CAPACITY = f"capacity --n 200 --seeds 3 --load 0.2 {USUAL}".split()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    found.add_worker()
    found.add_worker()
    _wait_for_workers(found, 2)
    yield found
    found.stop()


@pytest.fixture
def own_cluster(tmp_path):
    """One to be damaged."""
    found = Cluster(tmp_path)
    yield found
    found.stop()


def ticks(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


@given(items=st.lists(st.integers(-9, 9), max_size=40))
@settings(max_examples=15, deadline=None)
def test_cores_do_what_one_thread_does(items):
    """Every item once, with its own result."""
    sweep = Sweep(sweeps.square, "shared", items)
    expected = [(k, (item * item, "shared")) for k, item in enumerate(items)]
    assert list(run_all(sweep, HERE)) == expected
    assert sorted(run_all(sweep, CORES)) == expected


@pytest.mark.parametrize("command", [SWEEP, CAPACITY], ids=["sweep", "capacity"])
def test_same_bytes_whatever_runs_it(command, cluster, capsys, monkeypatch):
    """One thread, this machine's cores, a cluster of processes."""
    told = []
    for scheduler in (HERE, CORES, cluster.address):
        assert main([*command, "--scheduler", scheduler]) == 0
        told.append(capsys.readouterr().out)
    assert json.loads(told[0])
    assert told[0] == told[1] == told[2]
    monkeypatch.setenv(SCHEDULER, cluster.address)
    assert where(None) == cluster.address
    assert where(CORES) == CORES


def test_results_come_as_they_are_done(cluster, tmp_path):
    """The first is there long before the last."""
    sweep = Sweep(sweeps.tick, str(tmp_path), list(range(8)))
    for on in (CORES, cluster.address):
        began, at = time.monotonic(), []
        for _ in run_all(sweep, on):
            at.append(time.monotonic() - began)
        assert at[0] < at[-1] / 2


def test_the_cluster_really_does_it(cluster, tmp_path):
    """Both workers, and not this process."""
    sweep = Sweep(sweeps.tick, str(tmp_path), list(range(6)))
    done_by = {pid for _, (_, pid) in run_all(sweep, cluster.address)}
    assert done_by == {worker.pid for worker in cluster.workers}


def test_a_lost_worker_is_replaced(own_cluster, tmp_path):
    """One of two is killed in the middle: every result comes, once, from those left."""
    own_cluster.add_worker()
    victim = own_cluster.add_worker()
    _wait_for_workers(own_cluster, 2)
    folder = tmp_path / "ticks"
    folder.mkdir()
    found = []
    for number, result in run_all(Sweep(sweeps.tick, str(folder), list(range(12))),
                                  own_cluster.address):  # fmt: skip
        if not found:
            victim.send_signal(signal.SIGKILL)
        found.append((number, result[0]))
    assert sorted(found) == [(k, k) for k in range(12)]
    assert victim.wait() == -signal.SIGKILL


def _wait_for_workers(cluster, count):
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)


@pytest.mark.parametrize("on", [CORES, "cluster"])
@pytest.mark.parametrize("how", ["closed", "progress"])
def test_a_cancelled_sweep_leaves_nothing_running(on, how, cluster, tmp_path):
    """No piece goes on or begins, no thread or process is left."""

    class Cancelled(Exception):
        pass

    def progress(share, told=""):
        if how == "progress" and ticks(tmp_path) > 5:
            raise Cancelled

    address = cluster.address if on == "cluster" else on
    before = set(threading.enumerate())
    found = run_all(Sweep(sweeps.tick, str(tmp_path), list(range(200))), address, progress)
    if how == "closed":
        next(found)
        found.close()
    else:
        with pytest.raises(Cancelled):
            list(found)
    time.sleep(0.2)  # a piece that was under way ends at its next report
    seen = ticks(tmp_path)
    time.sleep(0.5)
    assert 0 < seen == ticks(tmp_path)
    assert _left_on(cluster.address) == 0
    wait_for(lambda: not _sweeping(set(threading.enumerate()) - before))


def _left_on(address: str) -> int:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


def _sweeping(threads) -> list:
    """Threads that could run a piece; the idle event loop of a client is none."""
    return [thread for thread in threads if thread.name.startswith("sweep")]


@pytest.mark.parametrize("on", [HERE, CORES, "cluster"])
def test_bad_input_of_a_piece_is_told_as_it_is(on, cluster):
    """The same exception wherever it was met; a defect stays one."""
    address = cluster.address if on == "cluster" else on
    with pytest.raises(InputError, match="item 3 is bad"):
        list(run_all(Sweep(sweeps.odd, 3, list(range(9))), address))
    with pytest.raises(ZeroDivisionError):
        list(run_all(Sweep(sweeps.broken, None, [1, 2]), address))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "tcp://", "http://x:1", "a b"])
def test_no_scheduler_there(address, capsys):
    """One sentence, soon, and no traceback."""
    began = time.monotonic()
    assert main([*SWEEP, "--scheduler", address]) == 2
    assert time.monotonic() - began < 15
    told = capsys.readouterr()
    assert "no Dask scheduler answers at" in told.err
    assert "Traceback" not in told.err


def test_a_client_that_never_connected_is_gone():
    """Collected later, in the midst of the start of another, it would wait for it for ever."""
    import gc

    from distributed import Client

    gc.collect()
    before = sum(isinstance(held, Client) for held in gc.get_objects())
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        list(run_all(Sweep(sweeps.square, None, [1, 2]), "tcp://127.0.0.1:9"))
    assert sum(isinstance(held, Client) for held in gc.get_objects()) == before


def test_no_workers(own_cluster):
    """A scheduler alone would let a sweep wait for ever."""
    with pytest.raises(InputError, match="has no workers: start one"):
        list(run_all(Sweep(sweeps.square, None, [1, 2]), own_cluster.address))


@pytest.mark.parametrize("answers", [1, 0])
def test_a_worker_lost_while_it_is_asked(answers):
    """The others do its work; without any, that is told."""
    from distributed.comm import CommClosedError

    from engine.scale_out.on_cluster import _check_workers

    class Asked:
        def scheduler_info(self, n_workers):
            return {"workers": {"tcp://a:1": {}, "tcp://b:2": {}}}

        def run(self, function, on_error):
            lost = {"tcp://a:1": CommClosedError("Stream is closed")}
            others = {"tcp://b:2": version()} if answers else {}
            return lost | others

    if answers:
        _check_workers(Asked(), "tcp://s:3")
    else:
        with pytest.raises(InputError, match="are lost: start one"):
            _check_workers(Asked(), "tcp://s:3")


def test_worker_without_this_engine(own_cluster, tmp_path):
    """Without any, and with another: both are told, neither is used."""
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    # In this environment the engine may be installed: there it is not.
    (nothing / "engine.py").write_text("raise ModuleNotFoundError('no engine', name='engine')")
    worker = own_cluster.add_worker(nothing)
    _wait_for_workers(own_cluster, 1)
    with pytest.raises(InputError, match="lacks this engine"):
        list(run_all(Sweep(sweeps.square, None, [1, 2]), own_cluster.address))
    worker.kill()
    other = tmp_path / "other"
    for name in ("engine", "sample_data"):
        shutil.copytree(ROOT / name, other / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "engine" / "measure" / "overload.py").open("a") as file:
        file.write("\n# another rule\n")
    worker.wait()
    own_cluster.add_worker(other)
    _wait_for_workers(own_cluster, 1)
    with pytest.raises(InputError, match=f"another version of the engine .*here {version()}"):
        list(run_all(Sweep(sweeps.square, None, [1, 2]), own_cluster.address))


def test_a_lost_scheduler_is_told(own_cluster, tmp_path):
    """The sweep ends with a sentence."""
    own_cluster.add_worker()
    _wait_for_workers(own_cluster, 1)
    folder = tmp_path / "ticks"
    folder.mkdir()
    found = run_all(Sweep(sweeps.tick, str(folder), list(range(100))), own_cluster.address)
    next(found)
    own_cluster.scheduler.kill()
    with pytest.raises(InputError, match="scheduler"):
        list(found)


def test_what_is_sent_arrives_as_it_was():
    """Requests stay read-only, or kernels would be compiled anew; policies are the registry's."""
    workload = generate(Scenario(n=20))
    again = pickle.loads(pickle.dumps(workload))
    assert again.digest == workload.digest
    assert not any(
        getattr(again, name).flags.writeable for name in ("arrival", "prompt", "output", "row")
    )
    assert pickle.loads(pickle.dumps(find_policy("svf"))) is find_policy("svf")
    draws = Draws(Scenario(n=200, arrivals="poisson"), 2)
    assert pickle.loads(pickle.dumps(draws)).present.digest == draws.present.digest
    assert len(pickle.dumps(draws)) < 2000
    assert isinstance(workload.arrival, np.ndarray)


def test_interrupted_command_leaves_no_process():
    """Ctrl-C in a terminal: exit code 130, and nothing that goes on."""
    long = "sweep --n 50000 --memory 16492 --policy vllm --knob memory=9000:20000:900"
    command = [sys.executable, "-m", "engine", *long.split()]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's & ignores it
    )  # fmt: skip
    time.sleep(6)
    assert process.poll() is None
    while process.poll() is None:
        # Python drops an interrupt that falls into a callback: people press again.
        os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=5)
    assert process.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
