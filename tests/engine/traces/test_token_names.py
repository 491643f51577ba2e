"""Which names hold prompt and output: by their words, by what they hold, both of one family."""

import json

import pyarrow as pa
import pytest

from engine import InputError
from tests.engine.traces.reading import as_parquet, lengths, lines, read

WRAPPED = {
    "a usage": {"usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    "deeper": {"reply": {"data": {"llm_usage": {"input_tokens": 7, "output_tokens": 3}}}},
    "keys with dots": {"tags": {"llm.usage.input_tokens": 7, "llm.usage.output_tokens": 3}},
    "camel case": {"result": {"promptTokenCount": 7, "candidatesTokenCount": 3}},
    "beside a limit": {"in": {"max_tokens": 99}, "usage": {"input": 7, "output": 3}},
    "each of its own": {"prompt": {"tokens": 7}, "completion": {"tokens": 3}},
    "beside texts": {"prompt": "hi", "output": {"text": "x"}, "n_prompt_tok": 7, "n_output_tok": 3},
    "beside ids": {"input": "5f3a", "output": [4, 5], "tokens_in": 7, "tokens_out": 3},
    "beside means": {"mean": {"prompt_tokens": 5, "completion_tokens": 5},
                     "stats": {"prompt_tokens": 7, "completion_tokens": 3}},
    "beside a total": {"total_tokens": 10, "total_cost": 2, "prompt_tokens": 7,
                       "completion_tokens": 3, "prompt_cost": 1.5},
    "one family is 0": {"input_tokens": 0, "output_tokens": 0, "prompt_tokens": 7,
                        "completion_tokens": 3},
}  # fmt: skip


@pytest.mark.parametrize("row", WRAPPED.values(), ids=WRAPPED)
def test_counts_under_any_wrapper(row):
    """Whatever stands beside them."""
    requests, _ = read(lines(row, row))
    assert lengths(requests) == [(7, 3)] * 2


NO_COUNTS = {
    "objects": {"prompt_tokens": {"text": 5}, "completion_tokens": {"text": 5}},
    "lists": {"prompt_tokens": [1, 2], "completion_tokens": [3]},
    "text": {"prompt": "hello", "completion": "world"},
    "numbers that are not whole": {"prompt_tokens": 3.5, "completion_tokens": 2.25},
}


@pytest.mark.parametrize("what", NO_COUNTS)
def test_what_is_no_count_is_named(what):
    """And none of it read."""
    with pytest.raises(InputError, match=f"holds {what}"):
        read(lines(NO_COUNTS[what], NO_COUNTS[what]))


def test_numbers_of_rows_are_no_tokens():
    """Where a bare name counts upwards; a name that says tokens may."""
    rows = [{"prompt": 70 + i, "output": 30 + i} for i in range(5)]
    with pytest.raises(InputError, match="prompt holds numbers of rows"):
        read(lines(*rows))
    said = [{"prompt_tokens": 70 + i, "output_tokens": 30 + i} for i in range(5)]
    assert lengths(read(lines(*said))[0])[0] == (70, 30)


def test_one_family_is_read_and_the_other_said():
    """Not the prompt of one and the output of the other; the user can have the other."""
    text = "input_tokens,prompt_tokens,output_tokens,completion_tokens\n1,10,2,20\n1,11,2,21\n"
    requests, report = read(text)
    assert lengths(requests) == [(10, 20), (11, 21)]
    assert any("input_tokens and output_tokens hold other counts" in note for note in report.notes)
    requests, _ = read(text, ignored=["prompt_tokens", "completion_tokens"])
    assert lengths(requests) == [(1, 2), (1, 2)]
    with pytest.raises(InputError, match="there is no nothing to ignore"):
        read(text, ignored=["nothing"])


def test_rows_of_two_kinds():
    """Some have one family, some the other."""
    one = {"usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    other = {"usage": {"input_tokens": 5, "output_tokens": 2}}
    assert lengths(read(lines(one, other, one))[0]) == [(7, 3), (5, 2), (7, 3)]


def test_a_guess_is_said():
    """A name whose words are understood, though it is not a common one."""
    _, report = read("llm_prompt_tok_cnt,llm_reply_output_tok\n7,3\n")
    assert any("llm_prompt_tok_cnt is taken for the prompt" in note for note in report.notes)


def test_requests_by_name_are_not_one_request():
    """An object of objects, and lists a column: refused, not cut to the first."""
    row = {"prompt_tokens": 7, "completion_tokens": 3}
    with pytest.raises(InputError, match="one of several counts"):
        read(json.dumps({"a": row, "b": {**row, "prompt_tokens": 8}}))
    with pytest.raises(InputError, match="holds lists"):
        read(json.dumps({"prompt_tokens": [7, 8], "completion_tokens": [3, 3]}))


def test_records_within_parquet():
    """A column of records has columns of its own."""
    usage = pa.array([{"prompt_tokens": 7, "completion_tokens": 3}, None])
    requests, report = read(as_parquet({"usage": usage, "id": [1, 2]}))
    assert lengths(requests) == [(7, 3)]
    assert sum(report.set_aside.values()) == 1


ANTHROPIC = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 900,
             "cache_creation_input_tokens": 50}  # fmt: skip
CACHED = {
    "Anthropic": (ANTHROPIC, 960),
    "Anthropic, in parts": (
        {**ANTHROPIC, "cache_creation": {"ephemeral_5m_input_tokens": 50}}, 960
    ),
    "Bedrock": ({"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 900,
                 "cacheWriteInputTokens": 50}, 960),
    "OpenAI": ({"prompt_tokens": 960, "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 900}}, 960),
    "OpenAI responses": ({"input_tokens": 960, "output_tokens": 5,
                          "input_tokens_details": {"cached_tokens": 900}}, 960),
    "a proxy that sums": ({"prompt_tokens": 960, "completion_tokens": 5, "total_tokens": 965,
                           "cache_read_input_tokens": 900}, 960),
    "a total that says it is within": ({"input_tokens": 960, "output_tokens": 5,
                                        "total_tokens": 965, "cache_read_input_tokens": 900}, 960),
    "more cached than sent": ({"prompt_tokens": 60, "completion_tokens": 5,
                               "cached_tokens": 900}, 960),
    "hits and misses": ({"prompt_tokens": 960, "completion_tokens": 5,
                         "prompt_cache_hit_tokens": 900, "prompt_cache_miss_tokens": 60}, 960),
    "Gemini": ({"promptTokenCount": 960, "candidatesTokenCount": 5,
                "cachedContentTokenCount": 900}, 960),
}  # fmt: skip


@pytest.mark.parametrize("case", CACHED.values(), ids=CACHED)
def test_cached_tokens_are_in_the_context(case):
    """Added where a provider counts them beside, and only there."""
    usage, prompt = case
    for row in ({"usage": usage}, usage):
        requests, report = read(lines(row, row))
        assert lengths(requests) == [(prompt, 5)] * 2
        assert bool(report.notes[1:]) == (prompt != next(iter(usage.values())))


def test_a_prompt_that_was_cached_whole():
    """Its input is 0, and it is one for all that; the user can have the input alone, or a sum."""
    text = lines({**ANTHROPIC, "input_tokens": 0}, ANTHROPIC)
    assert read(text)[0].prompt.tolist() == [950, 960]
    assert read(text, columns={"prompt": "input_tokens"})[0].prompt.tolist() == [10]
    summed = {"prompt": "input_tokens + cache_read_input_tokens"}
    assert read(text, columns=summed)[0].prompt.tolist() == [900, 910]
    with pytest.raises(InputError, match="there is no input_tokens"):
        read(text, columns={"prompt": "input_tokens+nothing"})


def test_thoughts_are_output():
    """Gemini counts them beside; others within, unless a total says otherwise."""
    gemini = {"promptTokenCount": 9, "candidatesTokenCount": 5, "thoughtsTokenCount": 30}
    assert lengths(read(lines(gemini))[0]) == [(9, 35)]
    openai = {"prompt_tokens": 9, "completion_tokens": 35,
              "completion_tokens_details": {"reasoning_tokens": 30}}  # fmt: skip
    assert lengths(read(lines(openai))[0]) == [(9, 35)]
    beside = {**openai, "completion_tokens": 5, "total_tokens": 44}
    assert lengths(read(lines(beside))[0]) == [(9, 35)]


def test_what_is_missing_is_named_alone():
    """With a column that may be it."""
    with pytest.raises(InputError, match=r"holds the output tokens .*output=Made tokens"):
        read("Timestamp,Request tokens,Made tokens,Total tokens\n5,7,3,10\n")
    with pytest.raises(InputError, match="holds the prompt tokens"):
        read(lines({"usage": {"completion_tokens": 3}}))
    with pytest.raises(InputError, match="usage holds JSON as text"):
        read('ts,usage\n5,"{""prompt_tokens"": 7}"\n')
