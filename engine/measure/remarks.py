"""What goes with the answer of a comparison, a sentence each: the same on every page and report.

What the load is, who pays for the best mean, who knows more, who is set aside or not served, whom
no bound covers and who has no run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine import wording
from engine.bound import NO_BOUND, Bound
from engine.measure.league import Entry, rival_of, why_uncovered
from engine.measure.set_aside import SetAside, who_is_set_aside
from engine.memory_curve import peak_batch

MOST_TOLD = 3  # policies named one by one in a sentence


def remarks(
    entries: Sequence[Entry], bounds: Sequence[Bound] = (), failed: Mapping[str, str] | None = None
) -> list[str]:
    """All there is to say.

    Parameters
    ----------
    entries : the league, best first; one at least
    bounds : that were computed
    failed : why a policy has no run, by its name
    """
    return [*loads(entries), *caveats(entries, bounds), *failures(failed or {})]


def loads(entries: Sequence[Entry]) -> list[str]:
    """What the latencies mean: of the best first, then of every policy that falls behind."""
    labels: dict[str, list[str]] = {}
    for entry in [entries[0], *(other for other in entries[1:] if not other.verdict.keeps_up)]:
        labels.setdefault(entry.verdict.in_words(), []).append(entry.label)
    return [f"{wording.listed(those)}: {sentence}" for sentence, those in labels.items()]


def failures(failed: Mapping[str, str]) -> list[str]:
    """Who has no result, each reason once."""
    names: dict[str, list[str]] = {}
    for name, reason in failed.items():
        names.setdefault(reason, []).append(name)
    return [f"{wording.listed(those)}: {reason}" for reason, those in names.items()]


def caveats(entries: Sequence[Entry], bounds: Sequence[Bound] = ()) -> list[str]:
    """What the headline leaves out: who pays, who knows more, who does not run at all."""
    best = entries[0]
    sentences = [*best.run.engine.remarks, *_against_the_rival(best, rival_of(entries))]
    if best.choice.policy.offline and best.verdict.kind != "backlog":
        sentences.append(
            f"{best.label} ranks all requests at once, also those that have not arrived."
        )
    doubt = best.run.workload.admission_limits.doubt(best.run.memory)
    sentences += [doubt] if doubt else []
    aside = {entry.label: SetAside.of_run(entry.run) for entry in entries}
    everyone = len(best.run.set_aside) + best.run.offered
    sentences += who_is_set_aside(aside, everyone)
    return sentences + who_is_not_served(entries) + _uncovered(entries, bounds)


def _against_the_rival(best: Entry, rival: Entry) -> list[str]:
    """Who pays for the best mean, what the best is told, what holds the rival back."""
    sentences = []
    ours, theirs = best.numbers["p99_latency"], rival.numbers["p99_latency"]
    steady = not (best.is_overloaded or rival.is_overloaded)
    if best is not rival and steady and ours > 1.05 * theirs:
        above = wording.percent(ours / theirs - 1)
        sentences.append(f"The P99 of {best.label} is {above} above that of {rival.label}.")
    policy, other = best.choice.policy, rival.choice.policy
    if policy.uses_lengths and not other.uses_lengths:
        is_predicted = best.run.workload.is_predicted
        what = "a prediction of every output length" if is_predicted else "every output length"
        sentences.append(f"{best.label} is told {what}; {rival.label} is not.")
    cap = rival.run.params.get("max_num_seqs") or rival.run.engine.max_num_seqs
    if cap and best is not rival and peak_batch(rival.run) >= cap:
        sentences.append(
            f"{rival.label} was held back by its limit of {wording.count(cap)} requests at once "
            "(max_num_seqs)."
        )
    return sentences


def who_is_not_served(entries: Sequence[Entry]) -> list[str]:
    """How many left unserved, under whom, and what that means for the latencies."""
    lost = [entry for entry in entries if len(entry.run.unserved)]
    if not lost:
        return []
    counted = [f"{entry.run.unserved.in_words()} under {entry.label}" for entry in lost[:MOST_TOLD]]
    others = f" (and {len(lost) - MOST_TOLD} more policies lose some)" if lost[MOST_TOLD:] else ""
    return [
        f"Of {wording.counted(lost[0].run.offered, 'request')}, {'; '.join(counted)}{others}. "
        "Latencies are of those served, so a policy that loses the slow ones looks quick."
    ]


def _uncovered(entries: Sequence[Entry], bounds: Sequence[Bound]) -> list[str]:
    """Where there is no gap, and why: nobody has a bound, or none computed covers some runs."""
    if entries[0].run.workload.depends_on_run:
        return [f"No bound here: {NO_BOUND}."]
    labels: dict[str, list[str]] = {}
    for entry in entries if bounds else ():
        if entry.cover is None:
            labels.setdefault(why_uncovered(entry.run, bounds), []).append(entry.label)
    return [
        f"No bound that was computed covers {wording.listed(those)} ({why})."
        for why, those in labels.items()
    ]
