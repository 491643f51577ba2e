"""Models of predictors: the same bytes for a seed, and what each promises about the truth."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Choice, Deployment, InputError, Scenario, Topology, Workload, generate
from engine.demand.predictions import (
    EXACT,
    MODELS,
    Bucket,
    ClassMean,
    Interval,
    LognormalError,
    Nothing,
    read_predictions,
    with_predictions,
    write_predictions,
)

models = st.one_of(
    st.just(EXACT),
    st.builds(LognormalError, st.floats(0.01, 100), st.floats(0, 5)),
    st.builds(Interval, st.floats(0, 100)),
    st.builds(Bucket, st.integers(1, 5000), st.sampled_from(["mid", "upper"])),
    st.just(ClassMean()),
    st.just(Nothing()),
)
outputs = st.lists(st.integers(1, 10**9), min_size=1, max_size=30)


def backlog(output):
    return Workload(np.zeros(len(output)), np.ones(len(output)), output)


@settings(max_examples=300)
@given(models, outputs, st.integers(0, 2**32 - 1))
def test_predictions_are_tokens_in_order(model, output, seed):
    """Whole numbers from 1 on, low <= high, and the same ones for the same seed."""
    workload = with_predictions(backlog(output), model, seed)
    assert (workload.at_least >= 1).all()
    assert (workload.at_least <= workload.at_most).all()
    assert workload.digest == with_predictions(backlog(output), model, seed).digest
    if isinstance(model, (Interval, Bucket, Nothing)):
        assert (workload.at_least <= workload.output).all()
        assert (workload.output <= workload.at_most).all()
        assert (workload.at_least <= workload.expected).all()
        assert (workload.expected <= workload.at_most).all()


@settings(max_examples=200)
@given(models)
def test_text_names_the_model(model):
    """What is written is read as the same model."""
    again = read_predictions(write_predictions(model))
    assert again == read_predictions(again)
    assert type(again) is type(model)
    assert write_predictions(again) == write_predictions(model)


def test_golden_bytes():
    """A seed pins every prediction, on every machine and with every version of numpy."""
    told = {}
    for text in ("lognormal:bias=1.1,spread=0.6", "interval:width=1.5"):
        workload = generate(Scenario(n=500, seed=7, predict=text))
        columns = (workload.predicted, workload.predicted_lo, workload.predicted_hi)
        told[text] = hashlib.sha256(b"".join(c.tobytes() for c in columns)).hexdigest()[:16]
    assert told == {
        "lognormal:bias=1.1,spread=0.6": "9f2e72d8b4cd8ffd",
        "interval:width=1.5": "07d58bcfe1d36efa",
    }


def test_predictions_leave_the_requests_alone():
    """Arrivals, prompts and outputs stay, and a larger n only adds predictions."""
    plain = generate(Scenario(n=300, arrivals="poisson"))
    predicted = generate(Scenario(n=300, arrivals="poisson", predict="lognormal"))
    assert (
        plain.digest
        == replace(predicted, predicted=None, predicted_lo=None, predicted_hi=None).digest
    )
    fewer = generate(Scenario(n=100, arrivals="poisson", predict="lognormal"))
    assert (predicted.predicted[:100] == fewer.predicted).all()


@pytest.mark.parametrize(("bias", "spread"), [(1.0, 0.5), (0.5, 1.0), (2.0, 0.1)])
def test_lognormal_has_its_bias_and_spread(bias, spread):
    """Median of predicted over true, and the spread of its logarithm, over 20,000 requests."""
    workload = with_predictions(backlog(np.full(20_000, 10_000)), LognormalError(bias, spread))
    ratio = np.log(workload.predicted / workload.output)
    assert np.exp(np.median(ratio)) == pytest.approx(bias, rel=0.02 + 0.03 * spread)
    assert ratio.std() == pytest.approx(spread, rel=0.02)


def test_the_truth_lies_anywhere_in_its_interval():
    """Uniformly from one end to the other; the length is the width asked for."""
    workload = with_predictions(backlog(np.full(20_000, 10_000)), Interval(0.8))
    length = workload.predicted_hi - workload.predicted_lo
    place = (workload.output - workload.predicted_lo) / length
    assert length == pytest.approx(8_000, abs=2)
    assert np.quantile(place, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.02)


def test_no_error_is_exact():
    """Spread 0, width 0 and bins of one token are the truth."""
    for model in (LognormalError(1, 0), Interval(0), Bucket(1)):
        workload = with_predictions(backlog([1, 7, 400]), model)
        for column in (workload.at_least, workload.expected, workload.at_most):
            assert column.tolist() == [1, 7, 400]


def test_simple_models():
    """Bins, the mean of a class, and nothing at all, written out."""
    workload = Workload([0] * 4, [1] * 4, [1, 100, 101, 250], [0, 0, 1, 1], ("a", "b"))
    bins = with_predictions(workload, Bucket(100))
    assert bins.predicted_lo.tolist() == [1, 1, 101, 201]
    assert bins.predicted.tolist() == [50, 50, 150, 250]
    assert with_predictions(workload, Bucket(100, "upper")).predicted.tolist() == [
        100, 100, 200, 300,
    ]  # fmt: skip
    assert with_predictions(workload, ClassMean()).predicted.tolist() == [50, 50, 176, 176]
    nothing = with_predictions(workload, Nothing())
    assert nothing.predicted.tolist() == nothing.predicted_lo.tolist() == [1] * 4
    assert nothing.predicted_hi.tolist() == [250] * 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("oracle", f"unknown predictions oracle: choose from {', '.join(MODELS)}"),
        ("lognormal:spread", "predictions must look like lognormal:spread=0.5, got"),
        ("lognormal:width=1", r"predictions lognormal: unknown field width .*bias, spread"),
        ("lognormal:spread=-1", "predictions lognormal: spread must be a number from 0 to 5"),
        ("interval:width=wide", "predictions interval: width must be a number"),
        ("bucket:size=0", "predictions bucket: size must be a whole number from 1"),
        ("bucket:edge=lower", "predictions bucket: edge must be one of mid, upper, got lower"),
    ],
)
def test_bad_models_are_named(text, said):
    """One sentence that names the model and the field."""
    with pytest.raises(InputError, match=said):
        Scenario(predict=text)


def test_intervals_need_both_ends_in_order():
    """The first row whose ends are crossed is named."""
    with pytest.raises(InputError, match="row 2, predicted_lo: must be at most predicted_hi"):
        Workload([0, 0], [1, 1], [1, 1], predicted_lo=[1, 5], predicted_hi=[1, 4])
    with pytest.raises(InputError, match="predicted_hi is given without predicted_lo"):
        Workload([0], [1], [1], predicted_hi=[1])
    with pytest.raises(InputError, match="row 1, predicted: must be 1 to"):
        Workload([0], [1], [1], predicted=[0])


def test_taking_requests_takes_their_predictions():
    """And those of a pool that decodes are of what is left after the first token."""
    workload = with_predictions(generate(Scenario(n=50)), Interval(1.0))
    some = workload.take(np.array([3, 1]))
    assert some.predicted_hi.tolist() == workload.predicted_hi[[3, 1]].tolist()
    pools = Deployment(16_492, topology=Topology(pools=(1, 1)))
    schedule = pools.run(Choice("mc-sf"), workload).schedule
    assert (
        schedule.decode.workload.at_most == np.maximum(workload.at_most[schedule.decoded] - 1, 1)
    ).all()
    assert not schedule.prefill.workload.is_predicted
