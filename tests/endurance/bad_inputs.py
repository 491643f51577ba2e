"""Random files and options for every command: each ends soon, with an answer or one sentence.

`python -m tests.endurance.bad_inputs --cases 10000` works off the cases in a process beside this
one, which stops it where a case takes too long, and goes on behind that case. It prints how many
were answered (exit code 0 or 1), refused (2, one sentence on stderr), and what else there was.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from engine import Scenario, find_policy, generate
from engine.cli import COMMANDS, main, parser
from tests.endurance.damage import CANONICAL, examples, hurt, hurt_json, value
from tests.services.benchmark_result import benchmark_result

LIMIT = 60.0  # seconds a case
SLOW = 10.0
FILE = "hurt.file"  # what a case's file is called
SMALL = ["--n", "30"]
BASE = {
    "simulate": [FILE, "-M", "500", "--policy", "svf"],
    "bound": [FILE, "-M", "500"],
    "verify": ["certificate.json", FILE],
    "generate": [*SMALL, "-o", "out.csv"],
    "import": [FILE],
    "audit": [FILE, "-M", "500", "--policy", "svf"],
    "calibrate": [FILE],
    "capacity": ["--n", "100", "-M", "20000", "--policy", "svf", "--seeds", "1"],
    "sweep": [*SMALL, "-M", "20000", "--policy", "svf", "--knob", "memory=9000,20000"],
    "report": [*SMALL, "-M", "20000", "--policy", "svf", "--output", "out.html"],
    "uncertainty": [*SMALL, "-M", "20000", "--policy", "svf", "--draws", "1"],
    "policies": [],
    "hardware": [],
}
LEFT_OUT = ("--scheduler", "--help", "-h")  # waits for a network; ends at once


def options_of(command: str) -> list[str]:
    """What a command may be given."""
    commands = next(action for action in parser()._actions if action.choices)
    own = commands.choices[command].complete()._actions
    return [text for action in own for text in action.option_strings if text not in LEFT_OUT]


def case(number: int, seed: int) -> tuple[list[str], bytes]:
    """The arguments of a case and the content of its file."""
    draw = random.Random(f"{seed} {number}")
    command = draw.choice(list(BASE))
    arguments = list(BASE[command])
    if arguments and draw.random() < 0.3:
        place = draw.randrange(len(arguments))
        arguments[place] = value(draw, arguments[place])
    for _ in range(draw.randrange(3)):
        option = draw.choice(options_of(command))
        place = draw.randrange(len(arguments) + 1)
        arguments[place:place] = [option, value(draw)][: draw.choice((1, 2, 2, 2, 2))]
    sound = CANONICAL.encode() if draw.random() < 0.5 else draw.choice(examples())
    return [command, *arguments], hurt(draw, sound) if draw.random() < 0.7 else sound


def outcome(number: int, seed: int) -> dict:
    """What came of a case, run in this process and folder."""
    arguments, content = case(number, seed)
    draw = random.Random(f"file {seed} {number}")
    Path(FILE).write_bytes(content)
    certificate = Path("sound.json").read_text()
    Path("certificate.json").write_bytes(hurt_json(draw, certificate))
    if arguments[0] == "verify" and draw.random() < 0.7:
        Path(FILE).write_text(CANONICAL)
    if arguments[0] == "calibrate" and draw.random() < 0.7:
        Path(FILE).write_bytes(hurt_json(draw, Path("result.json").read_text()))
    said, told = io.StringIO(), io.StringIO()
    begun = time.monotonic()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        try:
            code = main(arguments)
        except BaseException as problem:
            code = f"{type(problem).__name__}: {problem}"[:200]
    errors = [line for line in told.getvalue().splitlines() if line.startswith("error: ")]
    kind = "answered" if code in (0, 1) else "refused"
    if code not in (0, 1, 2) or "Traceback" in told.getvalue():
        kind = "exception"
    elif len(errors) != (code == 2):
        kind = "not one sentence"
    return {
        "kind": kind, "code": code, "seconds": time.monotonic() - begun, "case": number,
        "arguments": [text[:80] for text in arguments], "errors": errors[:2],
    }  # fmt: skip


def work(first: int, end: int, seed: int) -> None:
    """Do the cases one by one, a line of JSON each, in a folder of their own."""
    out = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEADROOM_HOME"] = folder
        os.chdir(folder)
        Path("trace.csv").write_text(CANONICAL)
        with contextlib.redirect_stdout(io.StringIO()):
            main(["bound", "trace.csv", "-M", "500", "--certificate", "sound.json"])
        run = find_policy("vllm").run(generate(Scenario(n=12)), 16_492)
        Path("result.json").write_text(json.dumps(benchmark_result(run)))
        for number in range(first, end):
            print(json.dumps(outcome(number, seed)), file=out, flush=True)


def attack(cases: int, seed: int = 0, limit: float = LIMIT) -> list[dict]:
    """The outcomes of so many cases; where one takes longer than the limit, seconds: hung."""
    outcomes: list[dict] = []
    while len(outcomes) < cases:
        command = [sys.executable, "-m", "tests.endurance.bad_inputs", "--work"]
        command += map(str, (len(outcomes), cases, seed))
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            while len(outcomes) < cases:
                ready, _, _ = select.select([process.stdout], [], [], limit)
                line = process.stdout.readline() if ready else b""
                if not line:
                    kind = "died" if ready else "hung"
                    arguments, _ = case(len(outcomes), seed)
                    outcomes.append({"kind": kind, "seconds": limit, "arguments": arguments})
                    break
                outcomes.append(json.loads(line))
            process.kill()
    return outcomes


def report(outcomes: list[dict]) -> None:
    """Counts by command, and what was neither answered nor refused."""
    kinds = sorted({outcome["kind"] for outcome in outcomes})
    for command in COMMANDS:
        of = Counter(one["kind"] for one in outcomes if one["arguments"][0] == command)
        if of:
            print(f"{command:12}", *(f"{kind} {of[kind]:5}" for kind in kinds))
    print("all".ljust(12), dict(Counter(outcome["kind"] for outcome in outcomes)))
    slow = [outcome for outcome in outcomes if outcome["seconds"] > SLOW]
    print(f"longer than {SLOW:g} s: {len(slow)}")
    for odd in outcomes:
        if odd["kind"] not in ("answered", "refused") or odd in slow:
            print(json.dumps(odd))


def run() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cases", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--work", type=int, nargs=3, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if arguments.work:
        work(*arguments.work)
    else:
        report(attack(arguments.cases, arguments.seed))


if __name__ == "__main__":
    run()
