"""A serving engine picked in the sidebar: on every page, with its own policies and limits."""

import pytest

from engine import Choice, Deployment, Scenario, compare
from engine.engines import find_engine, read_engine
from engine.experiment import Experiment
from pages.parts.declared import declared_pages
from tests.services.opened_page import open_page, said

GPU = "llama-2-70b-a100-tp4"


@pytest.mark.parametrize("path", [page.path for page in declared_pages()])
def test_every_page_is_drawn_inside_an_engine(path):
    """Nothing on it asks for what no engine does, and what holds there is told."""
    at = open_page(path, engine="vllm", n="80", arrivals="poisson", memory="6000")
    assert not at.exception
    assert not at.error
    assert "vLLM 0.32: blocks of 16" in said(at) or path in ("pages/8_Learn.py", "pages/9_About.py")


def test_the_numbers_are_those_of_the_engine():
    """As the library has them: with the options of the link, not the ideal ones."""
    link = {"engine": "vllm", "n": "80", "memory": "6000", "max_num_seqs": "4", "block_size": "32"}
    at = open_page("app.py", **link, classic="", provable="svf")
    engine = read_engine("vllm:max_num_seqs=4,block_size=32")
    asked = Experiment(Scenario(n=80), Deployment(6000, engine=engine), (Choice("svf"),))
    (run,) = compare(asked, []).runs.values()
    (mean,) = (metric.value for metric in at.metric if metric.label.startswith("Mean latency"))
    assert float(mean.replace("\u202f", "")) == pytest.approx(run.latency.mean(), rel=1e-2)
    assert (
        run.latency.mean()
        > 1.01 * Deployment(6000).run(Choice("svf"), asked.workload).latency.mean()
    )


def test_only_orders_are_offered():
    """What is no order, or ranks who has not come, is no choice there; orders stay chosen."""
    at = open_page("app.py", engine="vllm", n="40", deployed=["vllm", "sarathi"])
    assert not at.error
    offered = {option for group in at.get("button_group") for option in group.options}
    assert offered.isdisjoint({"vllm", "sarathi", "sorted-f", "best-found"})
    assert "Comparing fcfs" in said(at)


def test_an_engines_defaults_are_those_on_the_gpu():
    """vLLM has more tokens a round on an H100 than on an A100."""
    at = open_page("app.py", engine="vllm", n="40", clock="llama-3-8b-h100")
    assert f"{find_engine('vllm').max_num_batched_tokens}" == "2048"
    assert "8\u202f192 tokens a round" in said(at)
    assert "2\u202f048 tokens a round" in said(
        open_page("app.py", engine="vllm", n="40", clock=GPU)
    )
