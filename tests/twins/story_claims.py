"""What the sentences of a story have to say, from its structure (story_checker.py)."""

from engine.decisions import refusal as kinds


def expected_claims(story, run):
    """What the sentences have to say, from the structure: (name, groups) in order of time."""
    unit = run.unit.rstrip("s")
    claims = [
        ("request", (story.row, story.prompt, story.output, story.prompt + story.output)),
        ("arrived", (moment(story.arrival), story.seen)),
    ]
    if story.at_sight:
        claims += reason_claims(story.at_sight, run)
    if len(story.overtakers) == 1:
        by = ANY if story.by_rank else None
        claims.append(("overtaken", (story.overtakers[0], None, by, None)))
    elif story.overtakers:
        by = ANY if story.by_rank else None
        claims.append(("overtaken", (None, len(story.overtakers), by, story.overtakers[-1])))
    if story.at_last:
        claims += reason_claims(story.at_last, run)
    claims.append(("started", (story.start, moment(story.waited), units(story.waited, unit))))
    if story.prefilled:
        claims.append(("chunks", (story.prefilled,)))
    if story.pauses:
        claims.append(("paused", (*story.pauses[0], len(story.pauses) - 1 or None)))
    for loss in story.losses:
        if loss.swapped:
            claims.append(("swapped", (loss.lost, loss.refilled, loss.back)))
        elif loss.kept:
            claims.append(("recomputed", (loss.lost, loss.back, loss.refilled, loss.generated)))
        else:
            claims.append(("restarted", (loss.generated, loss.lost, loss.back)))
        if loss.refused:
            claims += reason_claims(loss.refused, run)
    if story.more_losses:
        claims.append(("more losses", (story.more_losses,)))
    claims.append(("finished", (story.finish, moment(story.latency), units(story.latency, unit))))
    if story.freed:
        claims.append(("freed", (story.freed,)))
    return [(name, tuple(map(text, groups))) for name, groups in claims]


class _Any:
    def __eq__(self, other):
        return isinstance(other, str) and bool(other)


ANY = _Any()


def text(value):
    return value if value is None or value is ANY else str(value)


def moment(value):
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}"


def units(value, unit):
    return unit if moment(value) == "1" else f"{unit}s"


def reason_claims(reason, run):
    """The sentences that one reason takes."""
    at, who = reason.decision, "it" if reason.blocker is None else f"#{reason.blocker}"
    claims = []
    passed = None if not reason.skip else "it" if reason.skip == 1 else reason.skip
    if reason.first is not None and reason.ahead is None:
        claims.append(("came before", (at, reason.first)))
    elif reason.first is not None:
        stop = reason.blocker if reason.skip else None
        one = reason.ahead == 1
        queue = (None, reason.first, None) if one else (reason.ahead, None, reason.first)
        claims.append(("queue", (at, *queue, passed, stop)))
    claims.append(refusal_claim(reason.refusal, at, who, run))
    if reason.fitted:
        claims.append(("fitted", ()))
    return claims


def refusal_claim(refusal, at, who, run):
    memory = run.memory
    match refusal:
        case kinds.OverPlan():
            rows = refusal.finishing
            named = ", ".join(f"#{row}" for row in rows[:3]) or None
            most = f"M = {refusal.limit}"
            if refusal.limit < memory:
                most = f"the {refusal.limit} that the margin leaves of M"
            others = " and others" if len(rows) > 3 else None
            planned = " as planned" if refusal.by_plan else None
            rest = (refusal.missing, most, refusal.full_at, named, others, planned)
            return ("over plan alone", (at, *rest)) if refusal.alone else (
                "over plan", (who, at, *rest))  # fmt: skip
        case kinds.OverUse():
            whole = memory // refusal.block * refusal.block
            most = f"M = {memory}" if refusal.limit == memory else (
                f"the {refusal.limit} of M in whole blocks" if refusal.limit == whole
                else f"the {refusal.limit} that admission may fill")  # fmt: skip
            block = refusal.block if refusal.block > 1 else None
            total = refusal.used + refusal.more
            return "over use", (who, at, total, block, total - refusal.limit, most)
        case kinds.OverReserve():
            over = refusal.reserved + refusal.more - memory
            return "over reserve", (at, refusal.reserved, who, refusal.more, over, memory)
        case kinds.OverBatch():
            return "over batch", (
                who, at, refusal.size, refusal.longest, refusal.missing, memory,
            )  # fmt: skip
        case kinds.BatchUnderWay():
            return "batch under way", (at, refusal.left)
        case kinds.AllSequences():
            return "all sequences", (at, refusal.most, who)
        case kinds.RoundFull():
            return "round full", (at, refusal.taken, refusal.most, who, refusal.more)
        case kinds.ChunksFull():
            return "chunks full", (at, who, refusal.most, refusal.decoding)
        case kinds.RanOut():
            return "ran out", (at, refusal.missing, refusal.count)
        case kinds.NoGroup():
            return "no group", (at, refusal.have, refusal.size, moment(refusal.due))
    return "planned for", (who, refusal.start)
