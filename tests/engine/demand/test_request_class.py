"""Classes are files, and their laws have the statistics of what they were made from."""

import json

import numpy as np
import pytest

from engine import InputError
from engine.demand.generate import generate
from engine.demand.laws import read_law
from engine.demand.request_class import classes, find_class, read_classes
from engine.demand.scenario import Scenario
from engine.sample_data import SAMPLE_DATA

LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
# Of the files named in sample_data/README.md: mean, sd and quantiles of prompt and output,
# their correlation, the mean volume and the largest total.
ORIGINAL = {
    "long": {
        "mean": (2588.08, 291.43),
        "sd": (944.7, 530.5),
        "prompt": (73, 749, 1242, 1986, 2730, 3370, 3702, 3813, 3933),
        "output": (36, 60, 78, 115, 167, 242, 372, 736, 3271),
        "correlation": -0.463,
        "volume": 705_474,
        "total": 4096,
    },
    "conversation": {
        "mean": (1154.70, 211.13),
        "sd": (1108.8, 162.9),
        "prompt": (29, 181, 207, 396, 1020, 1189, 2734, 4083, 4142),
        "output": (16, 41, 54, 85, 129, 395, 424, 451, 601),
        "correlation": -0.112,
        "volume": 259_153,
        "total": 14_089,
    },
    "code": {
        "mean": (2047.85, 27.88),
        "sd": (1973.8, 59.9),
        "prompt": (17, 75, 147, 578, 1469, 2744, 5188, 7303, 7436),
        "output": (6, 6, 7, 9, 13, 24, 55, 90, 251),
        "correlation": 0.001,
        "volume": 59_430,
        "total": 7841,
    },
}


def drawn(key):
    return generate(Scenario(mix={key: 1}, n=400_000))


@pytest.mark.parametrize("key", ORIGINAL)
def test_table_has_the_statistics_of_its_file(key):
    """Means within 1.5 %, volume within 3 %, quantiles within 5 %, correlation within 0.02."""
    workload, original = drawn(key), ORIGINAL[key]
    prompt, output = workload.prompt, workload.output
    assert (prompt.mean(), output.mean()) == pytest.approx(original["mean"], rel=0.015)
    assert (prompt.std(), output.std()) == pytest.approx(original["sd"], rel=0.08)
    assert np.quantile(prompt, LEVELS) == pytest.approx(original["prompt"], rel=0.05, abs=1)
    assert np.quantile(output, LEVELS) == pytest.approx(original["output"], rel=0.05, abs=1)
    assert np.corrcoef(prompt, output)[0, 1] == pytest.approx(original["correlation"], abs=0.02)
    assert workload.volume.mean() == pytest.approx(original["volume"], rel=0.03)
    assert workload.peak.max() <= original["total"]


def test_short_has_the_published_moments():
    """arXiv 2502.07115's means and medians, after the cut at 2,048 and rounding."""
    workload = drawn("short")
    assert workload.prompt.mean() == pytest.approx(40.62, rel=0.02)
    assert workload.output.mean() == pytest.approx(85.32, rel=0.02)
    assert (np.median(workload.prompt), np.median(workload.output)) == (11, 45)
    assert workload.prompt.max() <= 2048
    assert workload.output.max() <= 2048
    assert workload.prompt.min() == workload.output.min() == 1


def test_every_class_fits_the_default_memory_and_says_where_it_is_from():
    """No shipped class has a request that the default M = 16,492 cannot run."""
    for key, kind in classes().items():
        assert kind.key == key
        assert all((kind.title, kind.description, kind.source, kind.licence, kind.made))
        ends = np.array([0.0, 1 - 2.0**-53])
        for prompt_end in ends:
            prompt, output = kind.lengths(np.full(2, prompt_end), ends)
            assert (prompt >= 1).all()
            assert (output >= 1).all()
            assert (prompt + output <= 16_492).all()


def test_each_output_group_is_drawn_for_its_prompts():
    """`quantiles by prompt` uses the group that holds the prompt's own uniform number."""
    law = read_law(
        {
            "law": "quantiles by prompt",
            "prompt_levels": [0, 0.25, 1],
            "levels": [0, 1],
            "values": [[1, 1], [10, 20]],
        },
        "here",
    )
    prompt_uniform = np.array([0, 0.2499, 0.25, 0.9999])
    assert law.tokens(np.array([0.5, 0.9, 0.0, 0.5]), prompt_uniform).tolist() == [1, 1, 10, 15]


def test_a_file_is_a_class(tmp_path):
    """Adding a JSON file adds a class under the file's name."""
    record = json.loads((SAMPLE_DATA / "classes" / "short.json").read_text())
    (tmp_path / "tiny.json").write_text(json.dumps({**record, "title": "Tiny"}))
    found = read_classes(tmp_path)
    assert list(found) == ["tiny"]
    assert found["tiny"].title == "Tiny"


def test_unknown_class_lists_the_known():
    """The message names every class there is."""
    with pytest.raises(InputError, match="unknown request class x: choose from code, conversation"):
        find_class("x")


SHORT_LAW = {"law": "lognormal", "median": 11, "sigma": 1.6, "high": 100}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prompt": 7}, r"bad\.json: prompt: must be a record whose law is one of"),
        ({"prompt": {"law": "normal"}}, "must be a record whose law is one of: lognormal"),
        ({"prompt": {**SHORT_LAW, "median": 0}}, "prompt: median must be a number from 1"),
        ({"prompt": {**SHORT_LAW, "high": 5}}, "prompt: high must be a whole number from 11"),
        ({"prompt": {**SHORT_LAW, "mean": 5}}, "prompt: unknown field mean"),
        ({"prompt": {"law": "lognormal"}}, "prompt: the field median is missing"),
        (
            {"output": {"law": "quantiles", "levels": [0, 1], "values": [5, 4]}},
            "output: values must be two or more numbers in ascending order",
        ),
        (
            {"output": {"law": "quantiles", "levels": [0, 0.9], "values": [4, 5]}},
            "output: levels must rise from 0 to 1",
        ),
        (
            {"output": {"law": "quantiles", "levels": [0, 0.5, 1], "values": [4, 5]}},
            "output: values must have one number for each of the levels",
        ),
        ({"output": {"law": "quantiles", "levels": 3, "values": [4, 5]}}, "levels must be a list"),
        (
            {
                "output": {
                    "law": "quantiles by prompt",
                    "prompt_levels": [0, 0.5, 1],
                    "levels": [0, 1],
                    "values": [[1, 2]],
                }
            },
            "output: values must have one row for each group",
        ),
        ({"total_at_most": 50}, "total_at_most must be a whole number from 101"),
        ({"colour": "red"}, r"bad\.json: unknown field colour"),
    ],
)
def test_bad_class_file_is_named_with_the_field(tmp_path, change, said):
    """The message starts with the file and says which field is wrong and how."""
    record = json.loads((SAMPLE_DATA / "classes" / "short.json").read_text())
    record |= {"prompt": SHORT_LAW, **change}
    (tmp_path / "bad.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=said):
        read_classes(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not a readable JSON file"), ("[1]", "one JSON object"), ("{}", "title is missing")],
)
def test_unreadable_class_file_is_named(tmp_path, text, said):
    """Broken JSON, another kind of JSON, missing fields."""
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InputError, match=rf"bad\.json: .*{said}"):
        read_classes(tmp_path)
