"""Every page answers, whatever the sidebar says, and says clearly what is wrong."""

import pytest

from engine import POLICIES, InputError
from engine.capacity.objective import check_it_has_a_rate
from engine.demand.example import examples, load_example
from pages.parts.declared import declared_pages
from tests.services.opened_page import CAPACITY, open_page, said

PATHS = [page.path for page in declared_pages()]
OF_NO_SCENARIO = ("8_Learn.py", "9_About.py")


@pytest.mark.parametrize("path", PATHS)
def test_page_opens(path):
    """Without exception or error, and with something to read."""
    at = open_page(path)
    assert not at.error
    assert len(said(at)) > 100


@pytest.mark.parametrize("path", PATHS)
def test_no_setting_of_the_link_is_in_a_popover(path):
    """Where the browser would not take its value over while the popover is closed."""
    at = open_page(path, arrivals="poisson", clock="llama-2-70b-a100-tp4")
    popovers = at.get("popover")
    assert popovers
    keys = {getattr(node, "key", None) for popover in popovers for node in popover}
    assert not keys & set(at.session_state["defaults"])


@pytest.mark.parametrize("path", [path for path in PATHS if path[6:] not in OF_NO_SCENARIO])
@pytest.mark.parametrize("key", examples())
def test_every_example_on_every_page(path, key):
    """A link names the example; every page can show it."""
    at = open_page(path, **{"from": key})
    assert not at.error
    assert at.selectbox(key="from").value == key
    if path == CAPACITY and not has_a_rate(load_example(key).workload):
        assert "Capacity is a rate" in said(at)
        return
    if path == "pages/5_Saved.py":  # shows what is kept, whatever the example
        return
    # What takes long is offered.
    assert at.get("plotly_chart") or [one for one in at.button if one.label.startswith("Run ")]


def has_a_rate(workload):
    """Whether requests come over time and are enough to judge."""
    try:
        check_it_has_a_rate(workload)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy(policy):
    """Each can be picked alone, by link, on a small instance."""
    group = POLICIES[policy].group
    others = {name: [] for name in {entry.group for entry in POLICIES.values()} - {group}}
    at = open_page(**{"from": "six-identical", group: [policy]}, **dict.fromkeys(others, ""))
    assert "6 requests" in said(at) or "Six identical" in said(at)
    assert policy in said(at)


def test_headline_is_computed():
    """On the six identical requests vllm wins by preempting."""
    at = open_page(**{"from": "six-identical"})
    assert "vllm" in at.markdown[0].value
    assert "8.3\u202f%" in at.markdown[0].value


def test_moving_memory_changes_the_answer():
    """More memory, less latency, in the metric and in the chart."""
    at = open_page()
    before, chart = at.metric[0].value, at.get("plotly_chart")[0].proto.spec
    at.number_input(key="memory").set_value(60_000).run()
    assert at.metric[0].value != before
    assert at.get("plotly_chart")[0].proto.spec != chart


@pytest.mark.parametrize(
    ("link", "chosen"),
    [
        (["svf", "svf"], ["svf"]),
        (["svf", "no-such-policy", "sorted-f"], ["svf", "sorted-f"]),
    ],
)
def test_a_link_with_odd_choices(link, chosen):
    """What stands there twice counts once, and an unknown one takes no other with it."""
    at = open_page(n="50", provable=link)
    assert not at.error
    assert at.session_state["provable"] == chosen


def test_link_reproduces_the_view():
    """Memory, number, share, arrivals, rate, seed and a policy parameter come from the link."""
    at = open_page(
        memory="20000", n="300", share="60", arrivals="poisson", rate="0.2", seed="5",
        **{"svf.skip": "5"},
    )  # fmt: skip
    told = said(at)
    assert "300 requests, 60 % short / 40 % long" in told
    assert "Poisson at rate 0.2" in told
    assert "seed 5, M = 20\u202f000" in told
    assert "svf skip=5" in told


def test_bad_link_falls_back():
    """Nonsense in a link gives the default view, not an error."""
    at = open_page(memory="banana", arrivals="never", provable="lifo", share="900")
    assert not at.error
    assert at.number_input(key="memory").value == 16_492


def test_nothing_picked():
    """Without a policy the page says what to do."""
    at = open_page(classic="", provable="", deployed="", ours="")
    assert "Pick a policy" in said(at)


def test_memory_too_small_for_all():
    """The message names the smallest M that would do."""
    at = open_page(memory="3")
    assert "no request fits in memory M = 3" in at.error[0].value


def test_what_cannot_be_done_is_not_offered():
    """sorted-f-exact takes at most 100 requests; above, the page says so and works."""
    at = open_page(n="300", provable=["svf", "sorted-f-exact"])
    assert "Not for so many requests: sorted-f-exact" in said(at)
    assert not [button for button in at.button if "sorted-f-exact" in button.label]


def test_dear_policy_comes_on_request():
    """It is offered with its time; asked for, it joins the table."""
    n = next(n for n in (2000, 4000, 8000, 16000) if POLICIES["sorted-f-swap"].cost(n) >= 0.05)
    at = open_page(n=str(n), provable=["svf", "sorted-f-swap"])
    offers = [button for button in at.button if button.label.startswith("Run")]
    assert "sorted-f-swap" in offers[0].label
    assert "sorted-f-swap" not in at.dataframe[0].value["Policy"].tolist()
    offers[0].click().run()
    assert not at.exception
    assert "sorted-f-swap" in at.dataframe[0].value["Policy"].tolist()


def test_overload_is_not_shown_as_a_steady_state():
    """At three times the load that can be carried, the page says that latency grows."""
    at = open_page(arrivals="poisson", rate="0.3")
    assert "Overloaded" in at.warning[0].value
    assert "overloaded" in at.dataframe[0].value["Load"].tolist()
