"""Round times and memory budgets of known GPUs."""

import pytest

from engine import InputError
from engine.machine.catalogue import gpus, models
from engine.machine.hardware import budget, find_preset, presets, read_coefficients

# (model, TP, tokens): figures of a published planner, which leaves out the weights outside
# the layers and floors to 4,096 tokens.
PLANNER = [
    ("llama-2-70b", 2, 53_248),
    ("llama-2-70b", 4, 524_288),
    ("llama-3-8b", 1, 483_328),
    ("llama-2-7b", 1, 118_784),
]


@pytest.mark.parametrize(("key", "tensor_parallel", "tokens"), PLANNER)
def test_budgets_of_the_planner(key, tensor_parallel, tokens):
    """0.9 of 80 GiB less the layers' weights, floored to 4,096 tokens."""
    model = models()[key]
    outside = 2 * (model.parameters - model.layer_parameters) / tensor_parallel / 2**30
    found = budget(model, 80, tensor_parallel)
    assert (found.for_cache + outside) * 2**30 / found.bytes_per_token // 4096 * 4096 == tokens


def test_true_weights_leave_less():
    """Llama-3-8B with all its weights: 466,944 in whole 4,096s."""
    assert budget(models()["llama-3-8b"], 80).tokens // 4096 * 4096 == 466_944


def test_bytes_per_token():
    """Llama-3-8B: 131,072 bytes in 16 bits; four GPUs share the heads of Llama-2-70B."""
    assert models()["llama-3-8b"].bytes_per_token() == 131_072
    assert models()["llama-2-70b"].bytes_per_token(2) == 163_840
    assert models()["llama-2-70b"].bytes_per_token(16) == models()["llama-2-70b"].bytes_per_token(8)


def test_eight_bit_cache_doubles_it():
    """Before flooring."""
    model = models()["llama-3-8b"]
    wide, narrow = budget(model, 80), budget(model, 80, kv_bytes=1)
    assert narrow.tokens in (2 * wide.tokens, 2 * wide.tokens + 1)


def test_no_room_is_said():
    """70B on one A100: the weights alone are larger."""
    with pytest.raises(InputError, match="use more GPUs"):
        budget(models()["llama-2-70b"], 80)


def test_presets_are_whole():
    """Each names known things and takes time."""
    assert len(presets()) >= 10
    for preset in presets().values():
        assert preset.clock.step(100, 10, 5000) > 0
        assert preset.model in ("", *models())
        assert preset.gpu in ("", *gpus())


def test_find_preset_names_the_others():
    """The message helps."""
    with pytest.raises(InputError, match="llama-3-8b-a100"):
        find_preset("h300")


def test_coefficients_of_a_text():
    """Named, in any order, those left out 0."""
    clock = read_coefficients("N0=90, c0=0.5")
    assert clock.step == (0.5, 0.0, 90.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "must look like"),
        ("c0", "must look like"),
        ("c0=x", "must look like"),
        ("c0=1,c0=2", "twice"),
        ("c0=1,c9=2", "not one of"),
        ("c1=1", "need at least c0"),
        ("c0=-1", "c0 must be a number from 0"),
        ("c0=nan", "c0 must be"),
        ("c0=0", "must take time"),
    ],
)
def test_bad_coefficients(text, told):
    """Each message says which part is wrong."""
    with pytest.raises(InputError, match=told):
        read_coefficients(text)
