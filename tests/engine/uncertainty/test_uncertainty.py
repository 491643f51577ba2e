"""Studies of wrong predictions: draws, bands, break-even, margins, a predictor's record."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Choice, Deployment, Experiment, InputError, Scenario, find_policy, generate
from engine.bound_method import find_method
from engine.cli import main
from engine.demand.predictions import EXACT, Interval, LognormalError, with_predictions
from engine.figures.predictor import describe_predictor, draw_predictor
from engine.figures.uncertainty import METRICS, describe_uncertainty, draw_uncertainty
from engine.machine.clock import ROUNDS, seconds_clock
from engine.policy import POLICIES
from engine.uncertainty.axis import AXES, MARGIN, find_axis
from engine.uncertainty.best import Reign, reigns
from engine.uncertainty.break_even import break_evens, first_crossing
from engine.uncertainty.margin import advise
from engine.uncertainty.pairs import FEW, Pairs, calibrate, groups, pairs_of, read_pairs
from engine.uncertainty.pooled import Pooled, band
from engine.uncertainty.resampled import resampled
from engine.uncertainty.study import Draw, PolicyCurve, Study, draw
from engine.uncertainty.words import (
    break_evens_in_words,
    calibration_in_words,
    headline,
    long_table,
    margin_in_words,
    table,
)

SCENARIO = Scenario(n=120, arrivals="poisson", rate=0.3)
KEYS = ["vllm", "fcfs", "svf", "a-min"]
CHOICES = tuple(Choice(key) for key in KEYS)


def study(axis, source=SCENARIO, model=EXACT, choices=CHOICES, clock=ROUNDS):
    experiment = Experiment(source, Deployment(8_000, clock), tuple(choices))
    return Study(experiment, find_axis(axis), model)


@pytest.fixture(scope="module")
def errors():
    return Pooled([draw(study("error"), seed) for seed in range(3)])


def drawn(latency, policies):
    """A draw with these mean latencies along values 0, 1, 2, .."""
    lines = {
        key: PolicyCurve(
            Choice(key), np.array(line, float), *(np.zeros(len(line)) for _ in range(4))
        )
        for key, line in zip(policies, latency, strict=True)
    }
    return Draw(tuple(range(len(latency[0]))), lines, 10)


@pytest.mark.parametrize("axis", AXES)
def test_a_draw_is_its_runs(axis):
    """Every number is that of the run set up by hand, the gap to the bound on the truth."""
    model = LognormalError(0.8, 0.6)
    what = study(axis, model=model)
    found = draw(what, 5)
    truth = generate(replace(SCENARIO, seed=5))
    bounds = find_method("fluid").bounds(truth, 8_000)
    for k in (0, 7, 19):
        value = what.axis.values[k]
        guessed = with_predictions(truth, what.axis.model(value, model), 5)
        for key in KEYS:
            has_margin = axis == MARGIN and key != "vllm"
            params = {MARGIN: value} if has_margin else {}
            run = find_policy(key).run(guessed, 8_000, **params)
            line = found.curves[key]
            assert line.latency[k] == pytest.approx(run.latency.mean())
            assert line.preemptions[k] == run.preemptions.sum()
            assert line.wasted[k] == run.recomputed.sum()
            covering = [bound.value for bound in bounds if bound.covers(run)]
            assert line.gap[k] == pytest.approx(run.latency.sum() / max(covering))


def test_axes_have_twenty_values():
    """As many as the promised sweep, ascending; bias multiplies, the others begin at none."""
    for axis in AXES.values():
        assert len(axis.values) == 20
        assert list(axis.values) == sorted(set(axis.values))
        assert axis.by_factor or axis.values[0] == 0


def test_errors_scale_within_a_draw():
    """A larger spread moves each prediction further the same way."""
    truth = generate(SCENARIO)
    small, large = (
        with_predictions(truth, AXES["error"].model(value, EXACT), 3) for value in (0.4, 0.8)
    )
    long = truth.output > 100  # where rounding does not matter
    signs = np.sign(np.log(small.predicted / truth.output)[long])
    further = np.abs(np.log(large.predicted / truth.output)) >= np.abs(
        np.log(small.predicted / truth.output)
    )
    assert (signs == np.sign(np.log(large.predicted / truth.output)[long])).all()
    assert further[long].all()


def test_given_requests_stay_and_errors_are_drawn():
    """Of a trace only the predictions differ between draws."""
    what = study("error", source=generate(SCENARIO))
    one, other = draw(what, 0), draw(what, 1)
    assert one.curves["svf"].latency[0] == other.curves["svf"].latency[0]
    assert (one.curves["svf"].latency != other.curves["svf"].latency).any()
    assert (one.curves["vllm"].latency == other.curves["vllm"].latency).all()


def test_what_takes_too_long_is_left_out():
    """A dear policy does not run; the others do."""
    what = study("error", choices=(*CHOICES, Choice.of("hindsight", {"seconds": 10.0})))
    assert what.affordable == CHOICES


def test_a_closed_loop_has_no_gap():
    """Its arrivals depend on the policy."""
    looped = replace(generate(SCENARIO), concurrency=5)
    found = draw(study("width", source=looped), 0)
    assert np.isnan(found.curves["svf"].gap).all()
    assert not np.isnan(found.curves["svf"].latency).any()


@settings(max_examples=100)
@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=9))
def test_bands_are_t_intervals(samples):
    """As scipy has them."""
    from scipy import stats

    found = band(np.array(samples))
    if len(samples) == 1:
        assert (found.half == 0).all()
        return
    for k in range(3):
        column = [sample[k] for sample in samples]
        if np.std(column) > 1e-6:
            ends = stats.t.interval(0.95, len(column) - 1, np.mean(column), stats.sem(column))
            assert (found.low[k], found.high[k]) == pytest.approx(ends, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("line", "at"),
    [([-1, -1, 1], 1.5), ([0, -1, 1], 0.0), ([-2, 2, -1], 0.5), ([-1, -1, -1], np.inf)],
)
def test_first_crossing(line, at):
    """Straight between two values; the first value where it is not below; infinite if never."""
    assert first_crossing(np.arange(3.0), np.array(line, float)) == at


def test_break_even_is_where_the_lines_meet():
    """svf starts at 10, vllm at 20; they meet at 1.5 in one draw and at 0.5 in the other."""
    one = drawn([[20, 20, 20], [10, 15, 25]], ("vllm", "svf"))
    other = drawn([[20, 20, 20], [10, 30, 40]], ("vllm", "svf"))
    (alone,) = break_evens(Pooled([one]))
    assert (alone.label, alone.rival, alone.at) == ("svf", "vllm", 1.5)
    assert alone.earliest == alone.latest == 1.5
    (both,) = break_evens(Pooled([one, other]))
    assert both.at == pytest.approx(0.8)
    assert both.earliest < 0.8 < both.latest
    assert break_evens(Pooled([drawn([[1, 2]], ("svf",))])) == []


def test_reigns_follow_one_another():
    """Nobody is deposed for less than 5 %."""
    lines = [[10, 10, 10, 10], [9, 10.4, 12, 14], [30, 20, 9, 8]]
    found = reigns(Pooled([drawn(lines, ("vllm", "svf", "fcfs"))]))
    assert [each.label for each in found] == ["svf", "fcfs"]
    assert found[0].until == pytest.approx(1 + (20 - 10.4) / (20 - 10.4 + 12 - 9))
    assert found[1] == Reign("fcfs", 3.0)


def test_headlines_say_who_is_best_where(errors):
    """One policy throughout, one after another, or nobody who is told anything."""
    axis = AXES["error"]
    throughout = Pooled([drawn([[20, 20], [10, 15]], ("vllm", "svf"))])
    assert "**svf** has the lowest mean latency at every" in headline(throughout, axis)
    assert "50.0\u202f% higher at 1 than at 0" in headline(throughout, axis)
    assert "pays against **vllm**" in break_evens_in_words(throughout, axis)
    turns = Pooled([drawn([[20, 20], [10, 30]], ("vllm", "svf"))])
    assert "up to a prediction error (spread) of 0.5, beyond that **vllm**" in headline(turns, axis)
    assert "stops paying against **vllm**" in break_evens_in_words(turns, axis)
    useless = Pooled([drawn([[20, 20], [25, 30]], ("vllm", "svf"))])
    assert headline(useless, axis).startswith("Predictions do not pay here: **vllm**")
    assert "lowest mean latency" in headline(errors, axis)


def test_margin_is_the_smallest_that_is_near_the_best():
    """Within 1 % of the least mean latency; what it saves has the draws' interval."""
    lines = [drawn([[100, 90.5, 90, 95]], ("svf",)), drawn([[102, 90.5, 90, 95]], ("svf",))]
    told = advise(Pooled(lines), "svf")
    assert told.margin == 1
    assert told.saved == pytest.approx(10.5 / 101)
    assert told.half > 0
    assert "cuts its mean latency by 10.4" in margin_in_words(told)
    none = advise(Pooled([drawn([[100, 99.5, 120]], ("svf",))]), "svf")
    assert (none.margin, none.saved) == (0, 0)
    assert "needs no margin" in margin_in_words(none)


def test_margins_save_preemptions():
    """With outputs predicted by half, a margin of a tenth of M leaves few preemptions."""
    found = Pooled([draw(study(MARGIN, model=LognormalError(0.5, 0.3)), seed) for seed in range(2)])
    for label in ("fcfs", "svf"):
        preemptions = found.band(label, "preemptions").mean
        assert preemptions[0] > 4 * preemptions[10]
    assert "margin" in headline(found, AXES[MARGIN])


def test_tables_and_charts_hold_every_policy(errors):
    """Each has a row, a line, a place in the sentence and rows in the file."""
    axis = AXES["error"]
    rows = table(errors, axis)
    assert rows["Policy"].tolist() == KEYS
    assert rows["Stops paying at"][0] == "uses no lengths"
    long = long_table(errors)
    assert len(long) == len(KEYS) * 20
    assert (long["draws"] == 3).all()
    for metric in METRICS:
        figure = draw_uncertainty(errors, axis, metric, "rounds", break_evens(errors), 0.5)
        names = [line.name for line in figure.data if line.showlegend is not False]
        assert names == KEYS
        told = describe_uncertainty(errors, axis, metric, "rounds")
        assert all(key in told for key in KEYS)
    bands = [line for line in figure.data if line.fill == "toself"]
    assert len(bands) >= 2


def record(true, predicted):
    columns = [np.array(column, float) for column in (true, predicted, predicted, predicted)]
    return Pairs(*columns)


def test_calibration_by_hand():
    """Half and double: right in the median of both, half of them too short."""
    found = calibrate(record([100, 100, 100, 100], [50, 50, 200, 200]))
    assert found.pairs == 4
    assert found.mean_bias == 1.25
    assert found.spread == pytest.approx(np.log(2))
    assert (found.short, found.within, found.coverage) == (0.5, 0.0, None)
    wide = Pairs(*(np.array(c, float) for c in ([5, 9], [5, 9], [4, 1], [6, 8])))
    assert calibrate(wide).coverage == 0.5
    assert "hold 50.0\u202f%" in calibration_in_words(calibrate(wide))


def test_a_model_of_a_record_errs_as_the_record_does():
    """Bias, spread and share of short predictions come back, for short and for long outputs."""
    truth = generate(Scenario(n=4000))
    seen = with_predictions(truth, LognormalError(1.3, 0.6), 1)
    again = with_predictions(generate(Scenario(n=4000, seed=9)), resampled(pairs_of(seen)), 2)
    ours, theirs = calibrate(pairs_of(again)), calibrate(pairs_of(seen))
    assert ours.bias == pytest.approx(theirs.bias, rel=0.05)
    assert ours.spread == pytest.approx(theirs.spread, rel=0.05)
    assert ours.short == pytest.approx(theirs.short, abs=0.02)


def test_a_model_of_a_record_keeps_long_and_short_apart():
    """Short outputs predicted right and long ones by half stay so."""
    true = np.r_[np.full(300, 10), np.full(300, 1000)]
    model = resampled(record(true, np.r_[np.full(300, 10), np.full(300, 500)]))
    guessed = with_predictions(
        replace(generate(Scenario(n=4)), output=np.array([9, 12, 900, 1500])), model
    )
    assert guessed.predicted.tolist() == [9, 12, 450, 750]


def test_a_model_of_intervals_keeps_them():
    """Those of a record that hold the truth still do, to a token."""
    seen = with_predictions(generate(Scenario(n=2000)), Interval(0.8))
    again = with_predictions(generate(Scenario(n=2000, seed=4)), resampled(pairs_of(seen)))
    assert (again.at_least <= again.output + 1).all()
    assert (again.at_most >= again.output - 1).all()
    assert calibrate(pairs_of(again)).coverage > 0.95


def read(text):
    return read_pairs(io.BytesIO(text.encode()))


def test_records_are_read():
    """Predictions may be fractions; other columns are left alone; groups hold everyone."""
    rows = "".join(f"{k}.4,{k + 1},x\n" for k in range(100))
    pairs = read("predicted,true,note\n" + rows)
    assert pairs.true.tolist() == list(range(1, 101))
    assert pairs.predicted[0] == 1.0  # nobody generates less than a token
    assert pairs.predicted[5] == 5.4
    assert sorted(np.concatenate(groups(pairs)).tolist()) == list(range(100))
    assert len(groups(pairs)) == 100 // FEW
    assert str(len(pairs)) in describe_predictor(pairs)
    assert len(draw_predictor(pairs).data) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("predicted,true\n" + "1,2\n" * 5, "5 pairs say too little: give at least 30"),
        ("predicted,truth\n1,2\n", "the file has no column true"),
        ("guess,true\n1,2\n", "the file has no column predicted"),
        ("predicted,true\n1,2\n-3,2\n", r"row 2 .*predicted: must be a number of tokens"),
        ("predicted,true\n1,0\n", r"row 1 .*true: must be a whole number of tokens from 1"),
        ("predicted,true,predicted_lo\n" + "1,2,1\n" * 40, "needs both columns"),
        ("predicted,true,lo,hi\n" + "1,2,1,3\n" * 40 + "1,2,5,3\n", "row 41: predicted_lo is abo"),
        ('{"predicted": 1, "true": 2}\n', "must be a CSV with columns predicted and true"),
    ],
)
def test_bad_records_are_named(text, said):
    """One sentence that names the row, the column, or what is missing."""
    with pytest.raises(InputError, match=said):
        read(text)


def ask(capsys, *arguments):
    code = main(["uncertainty", "--memory", "8000", "--n", "60", "--draws", "2", *arguments])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


def test_command_line(capsys, tmp_path):
    """The same numbers as JSON, and the answer first as text."""
    result = json.loads(ask(capsys, "--policy", "svf", "--policy", "vllm", "--format", "json"))
    what = study(
        "error", replace(SCENARIO, n=60, rate=0.08), choices=(Choice("svf"), Choice("vllm"))
    )
    pooled = Pooled([draw(what, seed) for seed in (0, 1)])
    assert result["values"] == list(AXES["error"].values)
    assert result["policies"][0]["latency"] == pytest.approx(pooled.band("svf", "latency").mean)
    assert result["policies"][1]["break_even"] is None
    assert "lowest mean latency" in ask(capsys).splitlines()[0]
    path = tmp_path / "pairs.csv"
    path.write_text("predicted,true\n" + "".join(f"{k // 2 + 1},{k + 1}\n" for k in range(60)))
    told = ask(capsys, "--pairs", str(path), "--axis", "margin")
    assert "Over 60 requests the predictor is too short by 2" in told.replace("\u202f", " ")


def test_seconds_clock_and_servers():
    """A study on a GPU's clock has gaps to bounds in seconds."""
    what = study("error", clock=seconds_clock(0.04, 2e-4, 0, 1e-7, 1e-4))
    found = draw(what, 0)
    assert (found.curves["svf"].gap >= 1).all()
    assert all(key in POLICIES for key in found.curves)
