"""Which names of a file hold the prompt and the output tokens of its rows.

A name is judged by its words and by what it holds: objects, text and numbers that are not
whole are no counts. Both come from one family of names (input and output, prompt and
completion), because a file may have several that count different things.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from engine.traces.clock import unit_in
from engine.traces.head import Head
from engine.traces.held import NOTHING, WHOLE, held, is_numbering, numbers
from engine.traces.names import endings, plain, word_set, words

KNOWN = {  # common names, the most telling first; compared as `plain` names
    "prompt": """native_tokens_prompt prompt_tokens input_tokens num_prompt_tokens
        num_input_tokens number_input_tokens
        prompt_length input_length prompt_len input_len prompt_size num_prefill_tokens
        prefill_tokens context_tokens request_tokens input_sequence_length isl input_toks
        tokens_prompt prompt_token_count input_token_count prompt_eval_count tokens_evaluated""",
    "output": """native_tokens_completion output_tokens completion_tokens num_output_tokens
        number_output_tokens
        generated_tokens response_tokens output_length output_len completion_length
        response_length token_size num_decode_tokens decode_tokens output_sequence_length osl
        output_toks tokens_completion candidates_token_count output_token_count eval_count
        tokens_predicted""",
}
BARE = {"prompt": ("prompt", "input", "in"), "output": ("output", "out", "completion")}
FAMILIES = {  # word: what belongs together
    "prompt": {"prompt": 0, "input": 1, "isl": 2, "context": 3, "request": 4, "prefill": 5,
               "in": 6, "inputs": 1, "prompts": 0},
    "output": {"completion": 0, "candidates": 0, "output": 1, "osl": 2, "generated": 3,
               "generation": 0, "response": 4, "decode": 5, "out": 6, "outputs": 1,
               "completions": 0},
}  # fmt: skip
WEAK = ("request", "response")  # also what a wrapper is called: others decide
TOKENS = {"token", "tokens", "toks", "tok", "usage"}
COUNTS = TOKENS | {"count", "counts", "number", "num", "n", "length", "len"}
NOT_COUNTS = word_set(
    """cache cached hit miss audio image images video reasoning thoughts thinking tool max min
    limit limits budget quota price prices cost costs usd rate per second seconds sec avg average
    mean median std stddev p50 p90 p95 p99 sum total totals percent ratio share id ids text
    throughput time times latency remaining accepted rejected logprobs hash string content chars
    characters bytes unique target requested speed"""
)
EXACT, TOLD, GUESSED, NAKED = range(4)  # how well a name says it


@dataclass(frozen=True)
class Candidate:
    """A name that may hold a role's tokens.

    Attributes
    ----------
    strength : EXACT to NAKED
    rank : among equally strong ones; lower is better
    family : of its words
    above : the wrappers before it
    """

    name: str
    strength: int
    rank: int
    family: int
    above: str


@dataclass(frozen=True)
class TokenNames:
    """The names of a file's token counts.

    Attributes
    ----------
    prompt, output : alternatives, where rows have one or the other; empty: none is found
    notes : sentences on what was a choice
    refused : names that would say it, and what they hold in place of counts
    """

    prompt: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: Mapping[str, str] | None = None


def token_names(head: Head) -> TokenNames:
    """The names that hold prompt and output, as far as names and values tell."""
    candidates, refused = {}, {}
    for role in KNOWN:
        kept = []
        for candidate in filter(None, (_candidate(head, role, name) for name in head.names)):
            holds = _refusal(head, candidate)
            if holds:
                refused[candidate.name] = holds
            else:
                kept.append(candidate)
        candidates[role] = kept
    prompts, outputs = candidates["prompt"], candidates["output"]
    if not prompts or not outputs:
        lone = {
            role: (min(kept, key=_order).name,) if kept else () for role, kept in candidates.items()
        }
        return TokenNames(lone["prompt"], lone["output"], refused=refused)
    pairs = [pair for pair in product(prompts, outputs) if pair[0].name != pair[1].name]
    if not pairs:
        return TokenNames(refused=refused)
    chosen = _best(head, pairs)
    if head.shape == "document" and _is_one_of_many(head, pairs, chosen):
        return TokenNames(refused={candidate.name: "one of several counts" for candidate in chosen})
    others = _alternatives(head, pairs, chosen)
    pair_notes = _notes(head, pairs, chosen, others)
    names = list(zip(*((p.name, o.name) for p, o in (chosen, *others)), strict=True))
    return TokenNames(
        tuple(dict.fromkeys(names[0])), tuple(dict.fromkeys(names[1])), pair_notes, refused
    )


def may_count(head: Head) -> list[str]:
    """Names that speak of tokens, but not of whose, and hold whole numbers."""
    return [
        name
        for name in head.names
        if (said := set(words(name))) & TOKENS
        and not said & NOT_COUNTS
        and held(head.values(name)) == WHOLE
    ]


Pair = tuple[Candidate, Candidate]


def _candidate(head: Head, role: str, name: str) -> Candidate | None:
    """What a name is worth for a role; None: nothing."""
    common = [plain(common) for common in KNOWN[role].split()]
    for depth, ending in enumerate(endings(name)):
        above = name[: len(name) - len(ending)]
        if set(words(above)) & NOT_COUNTS:
            continue
        for spelled in (ending, without_unit(ending)):
            if plain(spelled) in common:
                rank = common.index(plain(spelled))
                return Candidate(name, EXACT, 100 * depth + rank, _family(role, ending), above)
    if (side := _told(role, name)) is not None:
        last = endings(name)[-1]
        above = name[: len(name) - len(last)]
        native = 0 if "native" in words(name) else 1
        rank = native + 10 * name.count(".")
        return Candidate(name, TOLD + side, rank, _family(role, name), above)
    if plain(without_unit(name)) in BARE[role]:
        rank = BARE[role].index(plain(without_unit(name)))
        return Candidate(name, NAKED, rank, _family(role, name), "")
    return None


def without_unit(name: str) -> str:
    """A name without the unit that it ends in: latency_ms is latency."""
    if not unit_in(name):
        return name
    return re.sub(r"([\W_]+|(?<=[a-z])(?=[A-Z]))[A-Za-zµ]+\W*$", "", name)


def _told(role: str, name: str) -> int | None:
    """0: a name's own words say that it counts a role's tokens; 1: those of its wrapper do."""
    said = words(name)
    if "no" in said and "cache" in said:  # input_tokens_no_cache
        said = [word for word in said if word not in ("no", "cache")]
    if set(said) & NOT_COUNTS or not set(said) & TOKENS:
        return None
    last = endings(name)[-1]
    side = _side(words(last))
    if side is not None:
        return 0 if side == role else None
    above = re.split(r"[./:]+", name[: len(name) - len(last)])
    wrapper = next((side for part in reversed(above) if (side := _side(words(part)))), None)
    return 1 if set(words(last)) <= COUNTS and wrapper == role else None


def _side(parts: Sequence[str]) -> str | None:
    """The role that words speak of; None: of none, or of both."""
    for weak in (False, True):
        roles = {
            role
            for role, family in FAMILIES.items()
            for word in parts
            if word in family and (word in WEAK) == weak
        }
        if roles:
            return roles.pop() if len(roles) == 1 else None
    return None


def _family(role: str, name: str) -> int:
    families = [FAMILIES[role][word] for word in words(name) if word in FAMILIES[role]]
    return families[-1] if families else -1


def _refusal(head: Head, candidate: Candidate) -> str:
    """What a name holds that can be no counts of tokens; empty where it may be counts."""
    values = head.values(candidate.name)
    holds = held(values)
    if holds not in (WHOLE, NOTHING):
        return holds
    if candidate.strength == NAKED and is_numbering(values):
        return "numbers of rows"
    return ""


def _order(candidate: Candidate) -> tuple:
    return candidate.strength, candidate.rank


def _best(head: Head, pairs: Sequence[Pair]) -> Pair:
    """The pair of names that says it best, of those that most rows have."""
    strength = min(p.strength + o.strength for p, o in pairs)
    strong = [pair for pair in pairs if pair[0].strength + pair[1].strength == strength]
    usable = {pair: len(_usable(head, pair)) for pair in strong}
    most = max(usable.values())

    def order(pair: Pair) -> tuple:
        prompt, output = pair
        return (
            usable[pair] < most / 2,
            prompt.family != output.family,
            prompt.above != output.above,
            prompt.rank + output.rank,
            prompt.rank,
        )

    return min(strong, key=order)


def _usable(head: Head, pair: Pair) -> set[int]:
    """Which of the first rows have both counts."""
    return {
        number
        for number, row in enumerate(head.rows)
        if all(_count(row.get(candidate.name)) for candidate in pair)
    }


def _count(value: Any) -> bool:
    counts = numbers([value]) if value is not None else []
    return bool(counts) and counts[0] >= 1


def _is_one_of_many(head: Head, pairs: Sequence[Pair], chosen: Pair) -> bool:
    """Whether a document has the same counts, with other values, beside these: no request then."""
    return any(
        pair[0].above == pair[1].above != chosen[0].above
        and pair[0].rank == chosen[0].rank
        and pair[1].rank == chosen[1].rank
        and _differ(head, pair, chosen)
        for pair in pairs
    )


def _alternatives(head: Head, pairs: Sequence[Pair], chosen: Pair) -> list[Pair]:
    """Further pairs, in JSON, for rows that lack the chosen one."""
    if head.kind != "objects":
        return []
    taken, others = _usable(head, chosen), []
    for pair in sorted(pairs, key=lambda pair: (_order(pair[0]), _order(pair[1]))):
        alike = pair[0].family == pair[1].family and pair[0].above == pair[1].above
        rows = _usable(head, pair)
        if alike and max(pair[0].strength, pair[1].strength) <= TOLD and rows and not rows & taken:
            others.append(pair)
            taken = taken | rows
    return others


def _notes(
    head: Head, pairs: Sequence[Pair], chosen: Pair, others: Sequence[Pair]
) -> tuple[str, ...]:
    """That a name was a guess, and that other names hold other counts."""
    notes = []
    if max(candidate.strength for candidate in chosen) > EXACT:
        notes.append(
            f"{chosen[0].name} is taken for the prompt and {chosen[1].name} for the output: "
            "map others if they are not"
        )
    for pair in sorted(pairs, key=lambda pair: (_order(pair[0]), _order(pair[1]))):
        alike = pair[0].family == pair[1].family and pair[0].above == pair[1].above
        apart = pair[0].name != chosen[0].name and pair[1].name != chosen[1].name
        if alike and apart and pair not in others and _differ(head, pair, chosen):
            notes.append(
                f"{chosen[0].name} and {chosen[1].name} are read; {pair[0].name} and "
                f"{pair[1].name} hold other counts, and can be mapped"
            )
            break
    return tuple(notes)


def _differ(head: Head, pair: Pair, chosen: Pair) -> bool:
    return any(
        numbers([head.rows[row].get(candidate.name)]) != numbers([head.rows[row].get(other.name)])
        for row in _usable(head, pair)
        for candidate, other in zip(pair, chosen, strict=True)
    )
