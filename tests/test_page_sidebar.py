"""The sidebar: what is picked is what is shown, and what a link cannot bring is told."""

from tests.test_pages import open_page, said


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
