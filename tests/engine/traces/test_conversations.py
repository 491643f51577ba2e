"""Conversations: lengths are estimates, a request is a conversation up to its first answer."""

import json

import pytest

from tests.engine.traces.reading import TOKENS, lengths, lines, read

HUMAN = {"from": "human", "value": "x" * 9}
GPT = {"from": "gpt", "value": "y" * 4}
TALKS = {
    "ShareGPT": ({"conversations": [HUMAN, GPT]}, (3, 1)),
    "system first": ({"conversations": [{"from": "system", "value": "s"}, HUMAN, GPT]}, (3, 1)),
    "capitals": ({"conversations": [{"from": "USER", "value": "x"}, GPT]}, (1, 1)),
    "LMSYS": (
        {"conversation": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]},
        (1, 1),
    ),
    "bare strings": ({"conversations": ["x" * 5, "y" * 5]}, (2, 2)),
    "asked twice": ({"conversations": [HUMAN, HUMAN, GPT]}, (5, 1)),
    "later turns": ({"conversations": [HUMAN, GPT, HUMAN, GPT, HUMAN, GPT]}, (3, 1)),
}


@pytest.mark.parametrize("case", TALKS.values(), ids=TALKS)
def test_conversations_are_estimated(case):
    """Four characters a token, rounded up, up to the first answer; labelled as an estimate."""
    talk, expected = case
    for text in (json.dumps([talk]), json.dumps([talk], indent=1), lines(talk, talk)):
        requests, report = read(text)
        assert set(lengths(requests)) == {expected}
        assert any("4 characters of English" in note for note in report.notes)
        assert any("a backlog" in note for note in report.notes)


def test_conversations_without_an_exchange_are_counted():
    """No answer, no question before it, an empty answer, no list: each a row set aside."""
    good = {"conversations": [HUMAN, GPT, HUMAN, GPT]}
    bad = [[HUMAN], [GPT, HUMAN], [], None, "talk", [{"value": "x"}, 5]]
    empty = {"conversations": [HUMAN, {"from": "gpt", "value": ""}]}
    requests, report = read(json.dumps([good, *({"conversations": b} for b in bad), empty]))
    assert len(requests) == 1
    assert report.set_aside == {
        "the conversation is not one that has a question and an answer": 6,
        f"output {TOKENS}": 1,
    }
    assert "1 later answers are no requests here: the first of each is" in report.notes


def test_wildchat_has_a_time():
    """The conversation's own, as a date."""
    talk = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    requests, report = read(
        lines(
            {"conversation": talk, "timestamp": "2023-04-09T00:02:53+00:00"},
            {"conversation": talk, "timestamp": "2023-04-09T00:03:53+00:00"},
        )
    )
    assert requests.seconds.tolist() == [0, 60]
    assert report.time_unit == "date and time"


def test_messages():
    """OpenAI's form under any name, with parts, tools and texts of other scripts."""
    parts = [{"type": "text", "text": "x" * 8}, {"type": "image_url", "image_url": {"url": "u"}}]
    call = {"function": {"name": "f", "arguments": "y" * 12}}
    talk = [{"role": "user", "content": parts},
            {"role": "assistant", "content": None, "tool_calls": [call]}]  # fmt: skip
    for row in ({"messages": talk}, {"request": {"items": talk}}):
        requests, report = read(lines(row, row))
        assert lengths(requests) == [(2, 3)] * 2
        assert any("2 images" in note for note in report.notes)
    greek = [{"role": "user", "content": "λ" * 8}, {"role": "assistant", "content": "言" * 8}]
    assert lengths(read(lines({"messages": greek}))[0]) == [(4, 6)]


def test_counts_go_before_texts():
    """Where rows have both."""
    row = {"messages": [HUMAN, GPT], "usage": {"prompt_tokens": 70, "completion_tokens": 30}}
    assert lengths(read(lines(row))[0]) == [(70, 30)]
