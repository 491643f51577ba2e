"""Compare: what a newcomer is told, and a bound at a click where none is quick."""

from tests.test_pages import open_page, said


def test_a_bound_is_offered_where_none_is_there():
    """One click, and the headline says how far the best run is from the best possible."""
    at = open_page(**{"from": "chat-assistant"})
    assert "no certified bound" in at.markdown[0].value
    button = next(b for b in at.button if b.label.startswith("How far from the best"))
    button.click().run(timeout=60)
    assert "from the best possible" in at.markdown[0].value
    assert not any(b.label.startswith("How far from the best") for b in at.button)


def test_a_newcomer_is_told_about_this_very_view():
    """The sentence has the view's numbers; it goes away with the first change."""
    at = open_page()
    assert "**New here?** 2\u202f000 requests wait" in said(at)
    assert "holds 16\u202f492 tokens" in said(at)
    at.number_input(key="n").set_value(100).run()
    assert "New here?" not in said(at)
