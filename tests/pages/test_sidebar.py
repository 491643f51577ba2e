"""The sidebar: what is picked is what is shown, and what a link cannot bring is told."""

import pytest

from engine.demand.example import examples, load_example
from tests.services.opened_page import CAPACITY, open_page, press, said

GPU = "llama-2-70b-a100-tp4"


def test_a_picked_example_brings_all_of_its_own():
    """Arrivals and times of the view before are forgotten, also those in seconds."""
    at = open_page(arrivals="on-off", period="900", n="50", clock="llama-2-70b-a100-tp4")
    at.number_input(key="period_s").set_value(77.0).run()
    at.selectbox(key="from").set_value("chat-assistant").run()
    assert at.selectbox(key="arrivals").value == "gamma"
    assert "period_s" not in at.session_state["settings"]
    assert set(at.query_params) == {"from", "clock"}


def test_a_picked_example_forgets_a_backlog():
    """From the fresh page, a backlog, to chats that come in bursts."""
    at = open_page()
    at.selectbox(key="from").set_value("chat-assistant").run()
    assert "gamma at rate 0.15 with burstiness 2" in said(at)
    assert at.query_params == {"from": "chat-assistant"}


@pytest.mark.parametrize("path", ["app.py", CAPACITY])
def test_the_memory_of_the_chosen_gpu_is_offered(path):
    """M = 16 492 is 3.2 % of what four A100 hold, by docs/model.md 1.3; one click does it."""
    at = open_page(path, **{"from": "chat-assistant"}, n="300", clock=GPU)
    assert at.warning[0].value.startswith(
        "M is 3.2\u202f% of the 522\u202f718\u202ftokens that Llama-2-70B on 4 x A100"
    )
    assert at.markdown[0].value.startswith("# ")
    held = int((80 * 0.9 * 2**30 - 68_976_648_192 * 2 / 4) // (2 * 80 * 2 * 128 * 2))
    press(at, f"Use {held:,} tokens".replace(",", "\u202f").replace(" tokens", "\u202ftokens"))
    assert at.number_input(key="memory").value == held
    assert not [one for one in at.warning if one.value.startswith("M is")]


@pytest.mark.parametrize(
    "link", [{}, {"clock": GPU, "memory": "300000"}, {"clock": "wait-paper"}], ids=str
)
def test_no_memory_is_offered_where_none_is_known_or_m_is_near(link):
    """In rounds, at more than half of what the GPUs hold, or on coefficients without GPUs."""
    assert not [one for one in open_page(n="50", **link).warning if one.value.startswith("M is")]


def test_more_than_the_gpu_holds_is_told():
    """Also for a GPU whose M would be less."""
    at = open_page(n="50", clock=GPU, memory="600000")
    assert at.warning[0].value.startswith("M is 115\u202f% of the 522")


def told_of_link(at):
    return [one.value for one in at.info if one.value.startswith("Of this link")]


def test_what_of_a_link_cannot_be_used_is_told():
    """Each with what is shown instead, until it is moved; a link that can be used is silent."""
    bad = {"rate": "abc", "memory": "-5", "clock": "nope", "log": "maybe", "provable": "lifo"}
    at = open_page(**{"from": "chat-assistant"}, n="300", unknown="7", **bad)
    (told,) = told_of_link(at)
    assert "“rate=abc” (shown instead: 0.15)" in told
    assert "“memory=-5” (shown instead: 16492)" in told
    assert "“clock=nope” (shown instead: rounds)" in told
    assert "“log=maybe” (shown instead: false)" in told
    assert "“provable=lifo” (shown instead: " in told
    assert "“unknown=7” (has no use here)" in told
    assert "n=300" not in told
    at.number_input(key="memory").set_value(20_000).run()
    (told,) = told_of_link(at)
    assert "memory" not in told
    assert "“rate=abc”" in told
    at.switch_page(CAPACITY).run()
    assert not told_of_link(at)


@pytest.mark.parametrize(
    "link",
    [
        {"from": "chat-assistant", "rate": "0.2", "log": "true", "provable": "svf"},
        {"clock": GPU, "c0": "50", "memory": "300000"},
        {"from": "upload", "memory": "10", "round_seconds": "0.5"},
        {"classic": "fcfs", "provable": "", "deployed": "", "ours": ""},
    ],
    ids=str,
)
def test_a_good_link_is_not_complained_of(link):
    """Nor one that waits for a trace."""
    assert not told_of_link(open_page(**link))


def test_what_is_switched_off_is_not_complained_of():
    """Its parameter leaves the address with its control."""
    at = open_page(arrivals="poisson", rate="0.2", n="300")
    at.selectbox(key="arrivals").set_value("backlog").run()
    assert at.query_params == {"n": "300"}
    assert not told_of_link(at)


def test_a_kept_trace_can_be_removed():
    """On the next page the box is empty: what is kept is named there, and one click forgets it."""
    at = open_page(**{"from": "upload"}, memory="10")
    trace = b"arrival,prompt,output\n0,5,5\n0,9,1\n2.5,1,1\n"
    at.file_uploader[0].upload("mine.csv", trace, "text/csv").run()
    assert "kept from before" not in said(at)
    at.switch_page("pages/1_Memory_Gantt.py").run()
    assert "mine.csv, kept from before" in said(at)
    press(at, "Remove")
    assert "mine.csv" not in said(at)
    assert "Drop a trace" in said(at)


@pytest.mark.parametrize("key", examples())
def test_an_example_promises_only_what_it_ships(key):
    """Its sentence holds as it is shipped; on another clock or M it says so."""
    at = open_page("pages/9_About.py", **{"from": key})
    assert load_example(key).shows in [one.value for one in at.caption]
    for change in ({"clock": GPU}, {"memory": "20007"}, {"servers": "alike", "replicas": "2"}):
        changed = open_page("pages/9_About.py", **{"from": key}, **change)
        (told,) = [one.value for one in changed.caption if load_example(key).shows in one.value]
        assert told.startswith("As shipped (it was changed here): ")
