"""The exceptions that mean: the user can mend this."""

from engine.wording import readable


class InputError(ValueError):
    """Bad input, said in one sentence that names the place and the fix.

    Pages show the message, the command line prints it and exits with 2. Every
    other exception is a defect of ours and is not caught. Of the input it may quote
    anything: what cannot be shown is written as its number, what is long is cut.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(readable(message))


def as_sentence(problem: InputError) -> str:
    """What is said, to stand by itself: with a capital, and a full stop."""
    said = str(problem)
    return f"{said[:1].upper()}{said[1:]}."


class Livelock(InputError):
    """A policy that would go on for ever: its requests restart again and again, none completes."""

    def __init__(self, policy: str, at: int, restarting: int, fix: str) -> None:
        who = "request restarts" if restarting == 1 else "requests restart"
        super().__init__(
            f"{policy} is in livelock from round {at:,} on: {restarting:,} {who} again "
            f"and again and none completes; {fix}"
        )
