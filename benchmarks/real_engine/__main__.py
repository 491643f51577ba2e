"""The real vLLM's schedules, recorded and held against the project's engine.

    python -m benchmarks.real_engine install FOLDER [--version 0.32.0]
    python -m benchmarks.real_engine record FOLDER --to RECORDED [--how scheduler|engine]
        [--kind KIND ...] [--sets 4] [--cases 6] [--seed 0]
    python -m benchmarks.real_engine compare FILE ...
    python -m benchmarks.real_engine keep FILE ... --to tests/recorded/vllm.json.gz

docs/engines.md says what is recorded, how, and what the last run said.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from benchmarks.real_engine.draw import KINDS
from benchmarks.real_engine.install import VERSION, install
from benchmarks.real_engine.record import record, write
from benchmarks.real_engine.schedules import Recorded, keep, read_sets, schedules_of, steps_of
from engine import InputError
from engine.machine.clock import ROUNDS
from tests.twins.plain_engine import twin_of

WITHOUT_CACHE = [kind for kind in KINDS if not kind.startswith("prefix")]
COLUMNS = ("schedules", "requests", "with preemption", "preemptions", "the same", "twin the same")


def walked(recorded: Recorded) -> dict[str, list[int]]:
    """What the plain twin makes of it, which tells a fault of the kernel from one of the rules."""
    engine, memory = recorded.engine, recorded.settings["memory_tokens"]
    plain = twin_of(recorded.workload, memory, engine, ROUNDS, recorded.policy)
    return {"first_token": plain.first, "finish": plain.finish, "preemptions": plain.lost}


def hold(recorded: Recorded, row: Counter) -> None:
    """Count a schedule in its row; print what differs."""
    lost = sum(recorded.case["preemptions"])
    row["schedules"] += 1
    row["requests"] += len(recorded.case["requests"])
    row["with preemption"] += lost > 0
    row["preemptions"] += lost
    try:
        made = {"the same": steps_of(recorded.run()), "twin the same": walked(recorded)}
    except InputError as error:
        print(f"{recorded.name}: {error}")
        return
    for column, schedule in made.items():
        difference = recorded.first_difference(schedule)
        row[column] += not difference
        if difference:
            print(f"not {column}: {difference}")


def compare(paths: list[Path]) -> bool:
    """One row a kind and way; whether every schedule is the real one."""
    rows: dict[str, Counter] = {}
    for set_ in (set_ for path in paths for set_ in read_sets(path)):
        name = f"{set_.get('kind', set_['name'])} | {set_.get('how', 'engine')}"
        for recorded in schedules_of([set_]):
            hold(recorded, rows.setdefault(name, Counter()))
    rows = dict(sorted(rows.items())) | {"all |": sum(rows.values(), Counter())}
    print(f"| kind | recorded by | {' | '.join(COLUMNS)} |\n|---|---|{'---|' * len(COLUMNS)}")
    for name, row in rows.items():
        print(f"| {name} | {' | '.join(f'{row[column]:,}' for column in COLUMNS)} |")
    return rows["all |"]["the same"] == rows["all |"]["schedules"]


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    installs = commands.add_parser("install")
    installs.add_argument("folder", type=Path)
    installs.add_argument("--version", default=VERSION)
    records = commands.add_parser("record")
    records.add_argument("folder", type=Path)
    records.add_argument("--to", type=Path, required=True)
    records.add_argument("--how", choices=("scheduler", "engine"), default="scheduler")
    records.add_argument("--kind", action="append", choices=list(KINDS))
    records.add_argument("--sets", type=int, default=4)
    records.add_argument("--cases", type=int, default=6)
    records.add_argument("--seed", type=int, default=0)
    compares = commands.add_parser("compare")
    compares.add_argument("files", type=Path, nargs="+")
    keeps = commands.add_parser("keep")
    keeps.add_argument("files", type=Path, nargs="+")
    keeps.add_argument("--to", type=Path, required=True)
    return parser.parse_args()


def main() -> int:
    """Exit code 1 where schedules differ."""
    asked = parsed()
    if asked.command == "install":
        install(asked.folder, asked.version)
    elif asked.command == "compare":
        return not compare(asked.files)
    elif asked.command == "keep":
        keep(asked.files, asked.to)
    else:
        asked.to.mkdir(parents=True, exist_ok=True)
        for kind in asked.kind or WITHOUT_CACHE:
            seeds = range(asked.seed, asked.seed + asked.sets)
            for recorded in record(asked.folder, kind, asked.how, asked.cases, seeds):
                print(write(recorded, asked.to), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
