"""What the sentences of a story claim, read back from the text: (name, numbers ..) of each.

A sentence that no pattern knows is an error: nothing is said that is not checked.
"""

import re

from engine.wording import THIN

WHEN = r"round (\d+)"
REFUSALS = {
    "over plan": rf"Had (it|#\d+) started at {WHEN}, the memory would have been (\d+) tokens? over "
    r"(M = \d+|the \d+ that the margin leaves of M) at the end of round (\d+)"
    r"(?:, when (#\d+(?:, #\d+)*)( and others)? completes?)?( as planned)?",
    "over plan alone": rf"At {WHEN} nobody could start: even so the memory was to be (\d+) tokens? "
    r"over (M = \d+|the \d+ that the margin leaves of M) at the end of round (\d+)"
    r"(?:, when (#\d+(?:, #\d+)*)( and others)? completes?)?( as planned)?",
    "over use": rf"Had (it|#\d+) started at {WHEN}, the next round would have needed (\d+) tokens?"
    r"(?: in blocks of (\d+))?, (\d+) over "
    r"(M = \d+|the \d+ that admission may fill|the \d+ of M in whole blocks)",
    "over reserve": rf"At {WHEN} those in memory had reserved (\d+) tokens? and (it|#\d+) would "
    r"have reserved (\d+), together (\d+) over M = (\d+)",
    "over batch": rf"With (it|#\d+) the batch formed at {WHEN} would have been (\d+) requests? "
    r"with room for (\d+) tokens? of output each, (\d+) tokens? over M = (\d+)",
    "batch under way": rf"At {WHEN} nobody joins a batch under way, of which (\d+) requests? "
    r"ha(?:ve|s) not finished",
    "all sequences": rf"At {WHEN} max_num_seqs = (\d+) left no place for (it|#\d+)",
    "round full": rf"At {WHEN} the round had (\d+) of at most (\d+) tokens?, and (it|#\d+) would "
    r"have added (\d+)",
    "chunks full": rf"At {WHEN} nothing was left for (it|#\d+) of the round's (\d+) tokens?, with "
    r"(\d+) requests? decoding before prompts take the rest",
    "ran out": rf"At {WHEN} memory ran out(?:, (\d+) tokens? short)?, (\d+) requests? lost "
    r"(?:its|their) KV cache, and nobody was admitted",
    "no group": rf"At {WHEN}, (\d+) of the (\d+) that start together (?:was|were) waiting, the "
    r"oldest for others until ([\d.e+]+)(?: s)? at most",
    "planned for": rf"The plan, made beforehand for all requests, starts (it|#\d+) at {WHEN}",
}
FACTS = {
    "request": r"\*\*Request #(\d+)\*\*: prompt (\d+) tokens?, output (\d+) tokens?; at its end it "
    r"holds (\d+) tokens?",
    "arrived": rf"Arrived at ([\d.]+)(?: s)?; the decision at {WHEN} is the first that knows it",
    "queue": rf"At {WHEN}, (?:(\d+) requests were|#(\d+) was) waiting before it in \S+'s order"
    r"(?:, first of them #(\d+))?(?:; the walk passed over (it|\d+) ?(?:that did not fit)?"
    r"(?:, and stopped at #(\d+))?)?",
    "came before": rf"At {WHEN}, #(\d+) came before it in \S+'s order",
    "fitted": r"It would have fitted itself, but was not tried after that",
    "overtaken": r"(?:#(\d+)|(\d+) requests) came later and started before it"
    r"(, being before it in \S+'s order)?(?:, the last of them to start #(\d+))?",
    "started": rf"Started at {WHEN}, after ([\d.]+) (rounds?|seconds?) of waiting",
    "chunks": rf"Its prompt was prefilled in chunks; the first token came at {WHEN}",
    "paused": rf"Paused at {WHEN} until {WHEN}, its KV cache kept(?:, and (\d+) more times?)?",
    "swapped": rf"Swapped out after {WHEN} with (\d+) tokens?; back at {WHEN}",
    "recomputed": rf"Lost its KV cache after {WHEN}; came back at {WHEN} and had (\d+) tokens? to "
    r"prefill again, (\d+) of them generated before",
    "restarted": r"Started over: its KV cache and (\d+) tokens? that it had generated were lost "
    rf"after {WHEN}; came back at {WHEN}",
    "more losses": r"Lost its KV cache (\d+) more times? after that",
    "finished": rf"Finished at {WHEN}: latency ([\d.]+) (rounds?|seconds?)",
    "freed": rf"Its memory was free at {WHEN}, when the whole batch had finished",
}
PATTERNS = {name: re.compile(text + r"\.") for name, text in {**REFUSALS, **FACTS}.items()}
IN_SECONDS = re.compile(r"([\d.]+) s \(round (\d+)\)")
ONE_THING = re.compile(
    r"(?<![\d.])(\d+(?:\.\d+)?) (tokens?|rounds?|seconds?|requests?|more times?)\b"
)


def plain(text):
    """Without the thin spaces: none within numbers, ordinary ones elsewhere."""
    return re.sub(rf"(?<=\d){THIN}(?=\d)", "", text).replace(THIN, " ")


def read(sentence):
    """(name, groups, moments) of a sentence; moments are the (seconds, round) that it gives."""
    text = plain(sentence)
    for number, thing in ONE_THING.findall(text):
        assert (number == "1") == (not thing.endswith("s")), text
    moments = [(float(s), int(r)) for s, r in IN_SECONDS.findall(text)]
    text = IN_SECONDS.sub(r"round \2", text)
    for name, pattern in PATTERNS.items():
        if found := pattern.fullmatch(text):
            return name, found.groups(), moments
    raise AssertionError(f"a sentence that no pattern knows: {text}")
