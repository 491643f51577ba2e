"""Is every claim of a story so? By a twin's run and the rule alone (story_witness.py).

`check_story` raises AssertionError at the first claim that is not: of the structure, and of the
sentences, whose numbers are read back from the text (story_sentences.py).
"""

from collections import Counter

import numpy as np

from engine.decisions import refusal as kinds
from engine.measure.story import in_words, tell
from tests.twins.story_claims import expected_claims
from tests.twins.story_sentences import read
from tests.twins.story_witness import Witness, rule_of

PREDICTIONS = {"a-max": "at_most", "a-min": "at_least", "sorted-f-amin": "at_least"}


def witness_of(run):
    """The twin's run of a single server's run, or None for a plan that was made beforehand."""
    offered = run.schedule.whole
    workload = offered.workload
    if run.policy in ("best-found", "hindsight") and offered.walk is None:
        return None
    outputs = getattr(workload, PREDICTIONS.get(run.policy, "expected")).tolist()
    witness = Witness(workload, run.memory, run.clock, rule_of(run, workload, run.clock, outputs))
    kept = [i for i in range(len(workload)) if i not in witness.server.gone]
    assert [witness.server.start[i] for i in kept] == run.start.tolist()
    assert [witness.server.finish[i] for i in kept] == run.finish.tolist()
    return witness


def check_story(run, witness, i):
    """Check the story of the run's request `i`; how many sentences and reasons it has."""
    story = tell(run, i)
    sentences = in_words(story, run)
    if witness is None:
        return check_plan(run, story, i, sentences)
    offered = run.schedule.whole
    checker = Checker(run, witness, int(np.flatnonzero(offered.is_served)[i]), story)
    checker.facts()
    reasons = [(story.at_sight, story.seen, story.start > story.seen)]
    reasons.append((story.at_last, story.start - 1, story.start - 1 > story.seen))
    reasons += [(loss.refused, loss.back - 1, loss.back > loss.lost) for loss in story.losses]
    for reason, at, due in reasons:
        assert (reason is not None) == due, "a wait without a reason, or a reason without a wait"
        if reason:
            checker.reason(reason, at)
    checker.sentences(sentences)
    kinds_told = [f"Reason: {type(reason.refusal).__name__}" for reason, *_ in reasons if reason]
    return Counter(sentences=len(sentences)) + Counter(kinds_told)


def check_plan(run, story, i, sentences):
    """Of a schedule made beforehand: nothing but when it starts the request."""
    for reason in (story.at_sight, story.at_last):
        assert reason is None or reason.refusal == kinds.PlannedFor(int(run.start[i]))
    assert (story.at_sight is not None) == (run.start[i] > run.seen[i])
    names = [read(sentence)[0] for sentence in sentences]
    assert set(names) <= {"request", "arrived", "planned for", "overtaken", "started", "finished"}
    return Counter(sentences=len(sentences))


class Checker:
    """One request of one run."""

    def __init__(self, run, witness, i, story):
        self.run, self.witness, self.i, self.story = run, witness, i, story
        self.server, self.rule = witness.server, witness.rule
        self.row = witness.workload.row.tolist()
        self.memory = run.memory

    # Facts of the run.

    def facts(self):
        story, server, i = self.story, self.server, self.i
        assert (story.row, story.prompt, story.output) == (
            self.row[i], server.prompt[i], server.output[i],
        )  # fmt: skip
        assert story.arrival == server.arrival[i]
        assert story.seen == self.witness.first_seen[i]
        assert (story.start, story.finish) == (server.start[i], server.finish[i])
        assert abs(story.waited - (server.started_at[i] - server.arrival[i])) < 1e-9
        assert abs(story.latency - (server.finished_at[i] - server.arrival[i])) < 1e-9
        later = [
            j for j in range(len(self.row))
            if server.start[j] is not None
            and server.arrival[j] > server.arrival[i] and server.start[j] < server.start[i]
        ]  # fmt: skip
        assert sorted(story.overtakers) == sorted(self.row[j] for j in later)
        starts = [server.start[self.row.index(row)] for row in story.overtakers]
        assert starts == sorted(starts)
        if story.by_rank and later:
            assert all(self.rule.rank[j] < self.rule.rank[i] for j in later)
        self.losses()
        first = server.first_token[i]
        lost = [at for at, *_ in self.witness.losses.get(i, ())]
        in_chunks = first > server.start[i] + 1 and not any(at < first for at in lost)
        assert story.prefilled == (first if in_chunks else None)
        rests = self.witness.resting.get(i, [])
        if len(rests) % 2:  # until the end of the run
            rests = [*rests, max(at for at in server.finish if at is not None)]
        if story.freed is not None:
            assert self.rule.kind == "batch"
            assert rests == [story.finish, story.freed]
        elif self.rule.kind == "batch":
            assert not rests or rests[0] == rests[1]
        else:
            pairs = list(zip(rests[::2], rests[1::2], strict=True))
            assert list(story.pauses) == [(a, b) for a, b in pairs if a < b]

    def losses(self):
        true = [loss for loss in self.witness.losses.get(self.i, ()) if loss[2] is not None]
        told = self.story.losses
        assert len(told) + self.story.more_losses == len(true)
        for loss, (at, generated, back, held) in zip(told, true, strict=False):
            assert (loss.lost, loss.generated, loss.back) == (at, generated, back)
            assert loss.refilled == held
            assert loss.kept == (held == self.server.prompt[self.i] + generated)
            assert loss.swapped == self.rule.swap

    # Reasons.

    def reason(self, reason, at):
        assert reason.decision == at
        moment = self.witness.moment(at)
        assert self.i in moment.waiting
        if isinstance(reason.refusal, (kinds.RanOut, kinds.BatchUnderWay, kinds.NoGroup)):
            assert (reason.first, reason.blocker, reason.fitted) == (None, None, False)
            self.closed(reason.refusal, moment, at)
            return
        assert not (moment.dropped and self.rule.kind == "plan"), "nobody is tried then"
        order = self.rule.order(self.witness, moment)
        left = [j for j in order if j in moment.waiting]
        place = left.index(self.i) if self.i in left else len(left)
        assert reason.ahead == (place if self.i in left else None)
        assert reason.first == (self.row[left[0]] if place else None)
        assert reason.skip == min(place, self.rule.skip)
        tried = left[min(place, self.rule.skip)]
        assert reason.blocker == (None if tried == self.i else self.row[tried])
        for passed in left[: min(place, self.rule.skip)]:
            assert not self.fits(passed, moment, order)
        self.refused(reason.refusal, tried, moment, order)
        fitted = tried != self.i and self.fits(self.i, moment, order)
        # How many tokens of a round are left for a chunk a run does not tell.
        assert fitted or not reason.fitted
        assert reason.fitted or not fitted or self.rule.chunks

    def batch(self, who, moment, order):
        """Those in memory when `who` is tried."""
        before = order[: order.index(who)] if who in order else order
        return moment.stays + [j for j in before if j in moment.joined]

    def closed(self, refusal, moment, at):
        assert not moment.joined or self.rule.types, "somebody was admitted"
        if isinstance(refusal, kinds.RanOut):
            assert refusal.count == len(moment.dropped) > 0
            block = self.rule.block
            needs = [self.server.prompt[j] + moment.gen_before[j] + 1 for j in moment.before]
            short = sum(-(-n // block) * block for n in needs) - self.memory // block * block
            assert refusal.missing == (None if self.rule.group else short)
            assert short > 0 or self.rule.group
        elif isinstance(refusal, kinds.BatchUnderWay):
            running = [j for j in moment.running if j in moment.before]
            assert refusal.left == len(running) > 0
        else:
            self.no_group(refusal, moment, at)

    def no_group(self, refusal, moment, at):
        server, rule = self.server, self.rule
        if rule.group:
            waits, size = moment.waiting, rule.group
        else:
            kind = rule.types[self.i]
            never = [j for j in moment.waiting if j not in moment.lost_at]
            waits = [j for j in never if j not in moment.in_line and rule.types[j] == kind]
            size = rule.sizes[kind]
        assert self.i in waits
        assert (refusal.have, refusal.size) == (len(waits), size)
        assert refusal.due == min(server.arrival[j] for j in waits) + rule.max_wait
        assert moment.more_due
        now = moment.time if at == moment.at else float(self.run.begins(at))
        # A group may be complete and have its turn in the next round: one opens in each.
        assert now < refusal.due
        assert len(waits) < size or moment.in_line or moment.joined

    def refused(self, refusal, who, moment, order):
        assert not self.fits(who, moment, order)
        batch = self.batch(who, moment, order)
        rule = self.rule
        if isinstance(refusal, kinds.OverPlan):
            self.over_plan(refusal, who, moment, batch)
        elif isinstance(refusal, kinds.OverUse):
            used, more, limit = self.use(who, moment, batch)
            assert (refusal.used, refusal.more, refusal.limit) == (used, more, limit)
            assert refusal.block == rule.block
            assert refusal.missing > 0
        elif isinstance(refusal, kinds.OverReserve):
            reserved = [min(self.server.prompt[j] + rule.longest, self.memory) for j in batch]
            more = min(self.server.prompt[who] + rule.longest, self.memory)
            over = sum(reserved) + more - self.memory
            assert refusal == kinds.OverReserve(sum(reserved), more, over)
        elif isinstance(refusal, kinds.OverBatch):
            size, longest, over = self.formed(who, moment, batch)
            assert refusal == kinds.OverBatch(size, longest, over)
        elif isinstance(refusal, kinds.AllSequences):
            assert refusal.most == rule.most == len(batch)
        elif isinstance(refusal, kinds.RoundFull):
            taken, more = self.round_tokens(who, moment, batch)
            assert refusal == kinds.RoundFull(rule.tokens, taken, more)
        else:
            cached = [j for j in moment.joined if moment.chunk[j] == 0]
            assert isinstance(refusal, kinds.ChunksFull)
            assert refusal.most == rule.tokens
            assert refusal.decoding == len(moment.decoding) + len(cached)

    # The rules, as the specification has them.

    def fits(self, who, moment, order):
        batch, rule = self.batch(who, moment, order), self.rule
        if rule.kind in ("plan", "bounds"):
            profile, limit = self.profile(who, moment, batch), rule.limit
            return not batch or max(profile) <= limit
        if rule.kind == "reserve":
            people = [*batch, who]
            reserved = [min(self.server.prompt[j] + rule.longest, self.memory) for j in people]
            return sum(reserved) <= self.memory
        if rule.kind == "batch":
            return not batch or self.formed(who, moment, batch)[2] <= 0
        used, more, limit = self.use(who, moment, batch)
        if used + more > limit or len(batch) >= rule.most:
            return False
        if rule.chunks:
            cached = [j for j in moment.joined if moment.chunk[j] == 0]
            decoding = len(moment.decoding) + len(cached)
            return sum(moment.chunk[j] for j in moment.running) + decoding < rule.tokens
        taken, more = self.round_tokens(who, moment, batch)
        fresh = [j for j in moment.joined if moment.chunk[j] > 0]
        alone = not fresh and self.held(who, moment) > rule.tokens
        return taken + more <= rule.tokens or alone

    def held(self, j, moment):
        return self.server.prompt[j] + moment.gen[j]

    def use(self, who, moment, batch):
        block = self.rule.block
        rests = moment.resident

        def need(j):
            tokens = self.held(j, moment) + (j not in rests)
            return -(-tokens // block) * block

        used = sum(need(j) for j in batch)
        limit = self.rule.limit if [j for j in batch if j not in rests] else None
        return used, need(who), limit or self.memory // block * block

    def round_tokens(self, who, moment, batch):
        fresh = [j for j in batch if j in moment.joined and moment.chunk[j] > 0]
        taken = sum(self.held(j, moment) for j in fresh) + len(batch) - len(fresh)
        swapped = self.rule.swap and who in moment.lost_at
        return taken, 1 if swapped else self.held(who, moment)

    def formed(self, who, moment, batch):
        people = [*batch, who]

        def longest(j):
            planned = max(self.rule.planned[j], moment.gen[j] + 1)
            return min(planned, self.memory - self.server.prompt[j])

        most = max(longest(j) for j in people)
        over = sum(self.server.prompt[j] for j in people) + len(people) * most - self.memory
        return len(people), most, over

    def left(self, j, moment):
        rule, generated = self.rule, moment.gen[j]
        planned = self.witness.bounds(moment) if rule.kind == "bounds" else rule.planned
        most = max(planned[j], generated + generated * rule.tenths // 10, generated + 1)
        return min(most, self.memory - self.server.prompt[j]) - generated

    def profile(self, who, moment, batch):
        """Tokens at the end of each round to come, if all goes as planned."""
        plan = [(self.held(j, moment), self.left(j, moment)) for j in [*batch, who]]
        longest = max(left for _, left in plan)
        return [
            sum(held + ahead for held, left in plan if left >= ahead)
            for ahead in range(1, longest + 1)
        ]

    def over_plan(self, refusal, who, moment, batch):
        at, own = moment.at, self.left(who, moment)
        over = [tokens - self.rule.limit for tokens in self.profile(who, moment, batch)]
        mine = over[:own]
        assert refusal.alone == (max(mine) <= 0)
        assert refusal.missing == (max(over) if refusal.alone else max(mine)) > 0
        # An idle server's decision is an earlier round's, but then nobody is refused by a plan.
        ahead = refusal.full_at - at
        assert over[ahead - 1] == refusal.missing
        assert ahead > own if refusal.alone else ahead <= own
        assert refusal.limit == self.rule.limit
        ending = [self.row[j] for j in batch if self.left(j, moment) == ahead]
        assert sorted(refusal.finishing) == sorted(ending)
        right = all(
            self.left(j, moment) == self.server.output[j] - moment.gen[j] for j in [*batch, who]
        )
        assert refusal.by_plan == (not right)

    # Sentences.

    def sentences(self, sentences):
        claimed = []
        for sentence in sentences:
            name, groups, moments = read(sentence)
            claimed.append((name, groups))
            for seconds, at in moments:
                ends = name in ("finished", "freed", "chunks")
                assert self.is_time(seconds, at, ends), sentence
        assert claimed == expected_claims(self.story, self.run), (sentences, self.story)

    def is_time(self, seconds, at, ends):
        server = self.server
        exact = server.finished_at[self.i] if ends and at == self.story.finish else None
        begin = self.run.begins(at) if exact is None else exact
        both = [float(begin)] + ([float(self.run.ends(at))] if at else [])
        return any(abs(seconds - moment) <= 0.00501 for moment in both)
