"""A trace that is dropped into the sidebar is on every page, or is refused by row and field."""

from tests.services.opened_page import open_page, said


def test_upload():
    """A good trace is used on every page; a bad one is refused by row and field."""
    at = open_page(**{"from": "upload"})
    assert "Drop a trace" in said(at)
    good = b"arrival,prompt,output\n0,5,5\n0,9,1\n2.5,1,1\n"
    at.file_uploader[0].upload("mine.csv", good, "text/csv").run()
    at.number_input(key="memory").set_value(10).run()
    assert not at.error
    assert "mine.csv: 3 requests" in said(at)
    at.switch_page("pages/1_Memory_Gantt.py").run()
    assert not at.exception
    assert "mine.csv: 3 requests" in said(at)
    bad = open_page(**{"from": "upload"})
    bad.file_uploader[0].upload("bad.csv", b"arrival,prompt,output\n0,5,5\n0,-2,1\n").run()
    assert "row 2" in bad.error[0].value
    assert "prompt" in bad.error[0].value


def test_upload_link_keeps_its_settings():
    """A link to an upload does not hold the trace, but all that was set for it."""
    at = open_page(**{"from": "upload"}, memory="10", round_seconds="0.5", **{"svf.skip": "3"})
    trace = b"arrival,prompt,output\n0,5,5\n0,9,1\n2.5,1,1\n"
    at.file_uploader[0].upload("mine.csv", trace, "text/csv").run()
    assert not at.error
    assert at.number_input(key="memory").value == 10
    assert "mine.csv, 0.500 s a round, M = 10" in said(at)
    assert "svf skip=3" in said(at)


def test_upload_error_names_the_file():
    """Not "the trace"."""
    at = open_page(**{"from": "upload"})
    at.file_uploader[0].upload("mine.csv", b"arrival,prompt,output\n0,5,0\n").run()
    assert at.error[0].value.startswith("mine.csv: row 1")
