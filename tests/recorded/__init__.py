"""What the commands of `python -m engine` did, kept: a change that must not be heard is not.

commands.py    the command lines, on the small files in inputs/
replay.py      runs them in this process and takes down all that they say and write
recording.py   a recording as a file, of this checkout or of another
difference.py  where two recordings differ, byte by byte or by more than rounding

    python -m tests.recorded record FILE [--checkout FOLDER] [--only TEXT]
    python -m tests.recorded compare BEFORE [AFTER] [--checkout FOLDER] [--only TEXT]

Without AFTER the commands of BEFORE are run now. test_recorded.py holds the engine to
results.json.xz; where a change is meant to be heard, say in the commit what `compare` printed and
record anew: `python -m tests.recorded record --kept tests/recorded/results.json.xz`.
"""
