"""What a lesson is, and the registry that finds every lesson file.

A lesson is one file in engine/learn/lessons. It declares itself with `lesson` and is then on the
Learn page and under the tests that hold for every lesson; nothing else has to be touched.
All it shows comes from runs of the engine, so no number in it can be out of date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd

from engine import wording
from engine.policy import find_policy
from engine.registry import modules_in
from engine.simulate.run import Run
from engine.workload import Workload


@dataclass(frozen=True)
class LessonControl:
    """The one thing a learner may turn, to see when the lesson holds and when it breaks.

    Attributes
    ----------
    label, help : what it is, with its unit, and what to try
    values : (k,) whole numbers it may have, ascending
    default : one of them
    """

    label: str
    values: tuple[int, ...]
    default: int
    help: str


@dataclass(frozen=True)
class LessonQuestion:
    """Asked before the picture is shown.

    Attributes
    ----------
    text, options : what is asked, and the answers to choose from
    right : the index of the right one, computed from the runs
    why : said once an answer is chosen
    """

    text: str
    options: tuple[str, ...]
    right: int
    why: str


@dataclass(frozen=True, eq=False)
class Curves:
    """A small chart of lines.

    Attributes
    ----------
    x, y : what the axes count, with units
    lines : per label its points (x, y); a label that is a policy's key has its colour
    mark : the x at the parameter's value; None: nowhere
    log : logarithmic axes
    steps : values that hold for a whole round, and not between points
    """

    x: str
    y: str
    lines: Mapping[str, tuple]
    mark: float | None = None
    log: bool = False
    steps: bool = False

    def in_words(self) -> str:
        """The chart in one sentence, for those who cannot see it."""
        ends = (
            f"{label} from {line[1][0]:.3g} to {line[1][-1]:.3g}"
            for label, line in self.lines.items()
        )
        return f"{self.y} against {self.x}: {', '.join(ends)}."


@dataclass(frozen=True, eq=False)
class LessonStep:
    """One screen of a lesson.

    Attributes
    ----------
    title : a few words
    text : two or three plain sentences
    question : asked first; what follows is shown once it is answered
    runs : per label a run to play round by round
    curves : a chart
    table, about : a table of written numbers, and what it is
    """

    title: str
    text: str
    question: LessonQuestion | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    curves: Curves | None = None
    table: pd.DataFrame | None = None
    about: str = ""


@dataclass(frozen=True)
class Lesson:
    """A guided path.

    Attributes
    ----------
    key, title : the name in links, the name to read
    place : its place in the course
    asks : the question it answers
    parameter : what can be turned
    steps : the parameter's value -> the screens, in order
    """

    key: str
    title: str
    place: int
    asks: str
    parameter: LessonControl
    steps: Callable[[int], list[LessonStep]]


LESSONS: dict[str, Lesson] = {}


def lesson(**declared):
    """Register the decorated (value of the parameter) -> list of LessonStep as a lesson."""

    def register(steps):
        declared_lesson = Lesson(steps=steps, **declared)
        if declared_lesson.key in LESSONS:
            raise ValueError(f"two lessons are called {declared_lesson.key}")
        LESSONS[declared_lesson.key] = declared_lesson
        return steps

    return register


def load_lessons() -> dict[str, Lesson]:
    """Import every file of engine/learn/lessons; the lessons by their place in the course."""
    modules_in("engine.learn.lessons")
    return dict(sorted(LESSONS.items(), key=lambda item: item[1].place))


def run(key: str, workload: Workload, memory: int, **options) -> Run:
    """One policy on a lesson's requests."""
    return find_policy(key).run(workload, memory, **options)


def total(of: Run) -> float:
    """The total latency of a run, in its clock's unit."""
    return float(of.latency.sum())


def said(of: Run) -> str:
    """The same in words: 84 rounds."""
    written = wording.total(total(of))
    return f"{written}{wording.THIN}{wording.in_number(written, of.unit)}"


def outcomes(runs: Mapping[str, Run]) -> pd.DataFrame:
    """What is compared again and again: one row a run, numbers written."""
    return pd.DataFrame(
        {
            "Policy": list(runs),
            "Total latency": [wording.number(total(of)) for of in runs.values()],
            "Mean latency": [wording.number(float(of.latency.mean())) for of in runs.values()],
            "Last one done": [wording.number(of.finished_at.max().item()) for of in runs.values()],
            "Preemptions": [wording.count(of.preemptions.sum()) for of in runs.values()],
        }
    )
