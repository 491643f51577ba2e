"""A CSV that is downloaded is no program for a spreadsheet."""

import csv
import io

import pandas as pd
import pytest

from engine.measure.csv_text import csv_text


def rows(table):
    return list(csv.reader(io.StringIO(csv_text(table))))


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_formulas_are_defused(first):
    """In cells and in names of columns."""
    formula = f"{first}cmd|' /C calc'!A0"
    table = pd.DataFrame({"class": ["chat", formula], formula: ["a", "b"]})
    shown = f"'{formula}".replace("\r", "\n")  # which begins a new line in the cell, and no row
    assert rows(table) == [["class", shown], ["chat", "a"], [shown, "b"]]


def test_numbers_stay():
    """As numbers and as texts of numbers; so does what begins like any name."""
    table = pd.DataFrame({"x": [-1.5, 2e-9], "text": ["-3", "+4.5e-6"], "name": ["a=b", "x-y"]})
    assert rows(table)[1:] == [["-1.5", "-3", "a=b"], ["2e-09", "+4.5e-6", "x-y"]]
