"""What a command remarks stands in its JSON, on its page and in its report, and nothing else does.

Every case is asked for by a command, as a table and as JSON, and by the link of a page. A page may
have no remark that the command has not: neither one that it shows as such, nor one that a
command makes in another case.
"""

import html
import json
import re
from dataclasses import dataclass
from functools import cache
from unittest import mock

import numpy as np
import pytest

from engine import POLICIES
from engine.cli import main
from pages.parts import show
from tests.services.opened_page import AUDIT, CAPACITY, GAP, open_page, press, vllm_result
from tests.services.reading import read

COMPARE, UNCERTAINTY = "app.py", "pages/6_Uncertainty.py"
GROUPS = {policy.group for policy in POLICIES.values()}
USUAL = ("fcfs", "svf", "vllm")
STEPS = {  # what is pressed on a page until all that its command tells is there
    AUDIT: ["Audit the trace", "Calibrate round times"],
    CAPACITY: ["Run the capacity", "Run servers", "Run the clients"],
    UNCERTAINTY: ["Run"],
}


@dataclass(frozen=True)
class Case:
    """A trace, how the commands ask about it, and how a link does.

    `commands` are (command, arguments of its own, page, link of its own).
    """

    name: str
    trace: str
    options: list
    link: dict
    commands: list
    memory: int = 100
    policies: tuple = USUAL

    def __str__(self):
        return self.name


SIMULATE = ("simulate", [], COMPARE, {})
BOUND = ("simulate", ["--bound", "fluid"], GAP, {})
REPORT = ("report", ["--bound", "fluid"], None, {})
JUDGE = ("audit", ["--window-requests", "50"], AUDIT, {"window": "50"})
STUDY = ("uncertainty", ["--draws", "1"], UNCERTAINTY, {})
RATE = ("capacity", ["--load", 0.4], CAPACITY, {"load": 0.4})
LIMIT = ("bound", [], None, {})
SWEEP = ("sweep", ["--knob", "memory=90,100"], None, {})
READ = ("import", [], AUDIT, {})
ALONE = {"import": 0, "calibrate": 0, "bound": 1}  # which take no policy; and whether an M
GPU = ["--clock", "seconds", "--hardware", "llama-2-70b-a100-tp4"]
ON_GPU = {"clock": "llama-2-70b-a100-tp4"}
CASES = [
    Case("calm", "calm", [], {}, [SIMULATE, BOUND, REPORT, JUDGE, STUDY, RATE]),
    Case("overloaded", "busy", [], {}, [SIMULATE, BOUND, REPORT, JUDGE, STUDY]),
    Case("set aside", "long", [], {}, [SIMULATE, BOUND, REPORT, JUDGE, STUDY, LIMIT]),
    Case("tie", "tie", [], {}, [SIMULATE, BOUND, REPORT, JUDGE, STUDY]),
    Case("a log in rounds", "log", [], {}, [SIMULATE, BOUND, REPORT, JUDGE, STUDY, SWEEP, READ]),
    Case("patience", "busy", ["--patience", 20], {"patience": 20}, [SIMULATE, REPORT, RATE]),
    Case("queue limit", "busy", ["--queue-limit", 5], {"queue_limit": 5}, [SIMULATE, REPORT]),
    Case(
        "too long",
        "calm",
        ["--max-model-len", 40],
        {"max_model_len": 40},
        [SIMULATE, BOUND, REPORT, LIMIT],
    ),
    Case("longer than M", "calm", ["--max-model-len", 900], {"max_model_len": 900}, [SIMULATE]),
    Case(
        "closed loop",
        "calm",
        ["--concurrency", 5],
        {"clients": 5},
        [SIMULATE, REPORT, ("capacity", ["--slo-latency", 50], CAPACITY, {"slo_latency": 50})],
    ),
    Case(
        "predicted",
        "busy",
        ["--predict", "lognormal:spread=0.5"],
        {"predict": "lognormal", "spread": 0.5},
        [SIMULATE, BOUND, STUDY],
        policies=("svf", "a-max", "vllm"),
    ),
    Case("M far off", "calm", GPU, ON_GPU, [SIMULATE, JUDGE, STUDY], memory=1000),
    Case("fleet", "busy", ["--replicas", 3], {"replicas": 3}, [SIMULATE, BOUND, JUDGE]),
    Case(
        "pools",
        "busy",
        ["--pools", "1:2"],
        {"servers": "pools", "prefillers": 1, "decoders": 2},
        [SIMULATE, BOUND],
    ),
    Case("loose", "loose", [], {}, [JUDGE, BOUND], memory=12),
    Case(
        "measured, calibrated",
        "measured",
        GPU,
        ON_GPU,
        [SIMULATE, JUDGE, ("calibrate", [], AUDIT, {})],
        memory=16_492,
    ),
    Case("measured, in rounds", "measured", [], {}, [JUDGE], memory=16_492),
    Case("preempted", "busy", [], {}, [BOUND, REPORT], memory=60, policies=("svf", "vllm")),
]
LOG = "timestamp,prompt_tokens,completion_tokens"
ASKED = [(case, *command) for case in CASES for command in case.commands]


@cache
def traces():
    """Small ones, by name: their file names and contents."""
    rng = np.random.default_rng(3)

    def poisson(n, rate):
        arrival = np.cumsum(rng.exponential(1 / rate, n)).round(3)
        return zip(arrival, rng.integers(5, 30, n), rng.integers(2, 20, n), strict=True)

    def table(rows, header="arrival,prompt,output"):
        return "\n".join([header, *(",".join(map(str, row)) for row in rows)]).encode()

    calm, busy = list(poisson(150, 0.1)), list(poisson(150, 2))
    return {
        "calm": ("calm.csv", table(calm)),
        "busy": ("busy.csv", table(busy)),
        "long": ("long.csv", table([*calm[:140], *[(5000, 90, 40)] * 3])),
        "tie": ("tie.csv", table([(0, 10, 5)] * 30)),
        "log": ("log.csv", table([*poisson(120, 0.5), (300, 7, 0)], LOG)),
        "loose": ("loose.csv", table([(0, 6, 1)] * 120)),
        "measured": ("measured.json", vllm_result(120)),
    }


@pytest.fixture(autouse=True)
def short_proof(monkeypatch):
    """Runs that show whether a load is carried for good have 1,500 requests, to be quick."""
    for module in ("rate", "drain", "servers", "limit"):
        monkeypatch.setattr(f"engine.capacity.{module}.STEADY", 1500, raising=False)
    monkeypatch.setattr("engine.capacity.rate.CONFIRMED_BY", 1500)
    monkeypatch.setattr("engine.capacity.clients.FEWEST_SENT", 1500)
    for advice in ("headroom", "advice"):  # runs of their own, which no command has
        monkeypatch.setattr(show, advice, lambda view, best: None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("traces")
    for name, content in traces().values():
        (made / name).write_bytes(content)
    return made


def arguments(case, command, own, folder):
    asked = [command, str(folder / traces()[case.trace][0])]
    if ALONE.get(command, 1):
        asked += ["--memory", case.memory, *case.options]
    if command not in ALONE:
        # The page's audit is about vllm, and the command's about the first policy.
        named = sorted(case.policies, key=lambda key: key != "vllm" or command != "audit")
        asked += [part for key in named for part in ("--policy", key)]
    return list(map(str, [*asked, *own]))


def said(capsys, folder, case, command, own):
    """The remarks in the JSON and those on stderr; a report's file, where there is one."""
    asked = arguments(case, command, own, folder)
    wrote = folder / "page.html"
    wrote.unlink(missing_ok=True)
    asked += {"report": ["-o", str(wrote)], "audit": ["--report", str(wrote)]}.get(command, [])
    assert main([*asked, "--format", "json"]) == 0
    told = capsys.readouterr()
    remarks = json.loads(told.out)["remarks"]
    return remarks, told.err.splitlines(), wrote.read_text() if wrote.exists() else None


@pytest.fixture(scope="module")
def every_remark():
    """What has been remarked in any case, to be found nowhere else; filled as the cases run."""
    return set()


def texts(at):
    kinds = (at.markdown, at.caption, at.error, at.info, at.warning)
    return read(" ".join(element.value for kind in kinds for element in kind)).replace("**", "")


def opened(case, page, own):
    """The page of a visitor with this link who has dropped the trace: its text, its remarks."""
    shown = []
    draw = show.remarks

    def noted(sentences):
        shown.extend(read(sentence).replace("**", "") for sentence in sentences)
        draw(sentences)

    picked = {group: [k for k in case.policies if POLICIES[k].group == group] for group in GROUPS}
    picked = {group: keys or "" for group, keys in picked.items()}
    link = {"from": "upload", "memory": case.memory, **case.link, **own}
    link = {name: str(value) for name, value in link.items()} | picked
    with mock.patch.object(show, "remarks", noted):
        at = open_page(page, **link)
        at.file_uploader[0].upload(*traces()[case.trace]).run()
        for step in STEPS.get(page, []):
            if any(step in button.label for button in at.button):
                shown.clear()
                press(at, next(b.label for b in at.button if step in b.label))
    assert not at.exception, at.exception
    return texts(at), shown


@pytest.mark.parametrize(("case", "command", "own", "page", "link"), ASKED, ids=str)
def test_remarks_are_alike(case, command, own, page, link, capsys, folder, every_remark):
    """The same sentences on stderr, in JSON, in the report and on the page."""
    remarks, on_stderr, report = said(capsys, folder, case, command, own)
    progress = re.compile(r"\s*\d+ %|compiling")
    if command != "import":  # whose table they stand in
        assert [line for line in on_stderr if line and not progress.match(line)] == remarks
    every_remark.update(remarks)
    others = [r for r in every_remark if not any(r in sentence for sentence in remarks)]
    if report is not None:
        written = html.unescape(re.sub(r"<[^>]*>", "", report))
        assert not [sentence for sentence in remarks if sentence not in written]
        assert not [sentence for sentence in others if sentence in written]
    if page is not None:
        text, shown = opened(case, page, link)
        assert not [sentence for sentence in remarks if sentence not in text]
        if command not in ("calibrate", "import"):  # whose page audits, too
            assert not set(shown) - set(remarks)
            assert not [sentence for sentence in others if sentence in text]
