"""Why somebody waited inside an engine: as the plain twin saw it, decision by decision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Choice, Deployment, Workload
from engine.decisions.account import why
from engine.decisions.refusal import (
    AllSequences,
    ChunksFull,
    OverBlocks,
    OverPromises,
    RanOut,
    RoundFull,
)
from engine.engines import read_engine
from engine.machine.clock import ROUNDS, seconds_clock
from engine.measure.story import in_words, tell
from engine.measure.story.tell import account_of, decision_of
from engine.policy import find_policy
from tests.twins.plain_engine import PlainEngine

IN_SECONDS = seconds_clock(0.5, 0.125, 4, 0.015625, 0.0625)
COLUMNS = ("arrival", "prompt", "output")
SMALL = "block_size={block},max_num_seqs={most},watermark={mark}"
ENGINES = (
    "vllm:max_num_batched_tokens=5," + SMALL,
    "vllm:max_num_batched_tokens=16,victim=last," + SMALL,
    "vllm:max_num_batched_tokens=9,chunked_prefill=0," + SMALL,
    "vllm:max_num_batched_tokens=6,reserve_full_input=0," + SMALL,
    "trtllm:max_num_batched_tokens=20,max_output=7," + SMALL,
)


class Telling(PlainEngine):
    """The twin, which notes who waits after every decision, in its order, and why the first does.

    `notes` has (round, queue, reason) each.
    """

    def step(self):
        self.lost_in_step = 0
        super().step()

    def preempt(self, i):
        self.lost_in_step += 1
        super().preempt(i)

    def pass_round(self):
        queue = [*self.returned, *sorted(self.waiting, key=self.ranked)]
        if queue:
            self.notes.append((self.round, queue, self.reason(queue[0])))
        super().pass_round()

    def reason(self, i):
        if self.preempted:
            return RanOut, self.lost_in_step
        most = self.options["max_num_batched_tokens"]
        if len(self.running) == self.options["max_num_seqs"]:
            return AllSequences, len(self.running)
        if self.budget <= 0:
            return ChunksFull, sum(j in self.decodes for j in self.given)
        tokens = self.prompt[i] + self.gen[i]
        if tokens > self.budget and not self.options["chunked_prefill"]:
            others = any(j not in self.decodes for j in self.given)
            if others or tokens <= most:
                return RoundFull, most - self.budget, tokens
        kept = int(self.options["watermark"] * (self.total + 1)) if self.running else 0
        if self.options["admission"] == "reserve":
            promised = sum(map(self.promise, self.running))
            return OverPromises, self.promise(i), self.total - kept - promised
        chunk = tokens if self.options["reserve_full_input"] else min(tokens, self.budget)
        return OverBlocks, self.need(chunk), self.free - kept


NOTED = {
    RanOut: ("count",),
    AllSequences: ("most",),
    ChunksFull: ("decoding",),
    RoundFull: ("taken", "more"),
    OverPromises: ("more", "left"),
    OverBlocks: ("more", "left"),
}


def as_noted(refusal):
    """A refusal as the twin notes it."""
    return type(refusal), *(getattr(refusal, name) for name in NOTED[type(refusal)])


@st.composite
def cases(draw):
    text = draw(st.sampled_from(ENGINES)).format(
        block=draw(st.sampled_from([1, 2, 4])),
        most=draw(st.sampled_from([0, 2, 3])),
        mark=draw(st.sampled_from([0, 0.2])),
    )
    engine, memory = read_engine(text), draw(st.integers(20, 50))
    sizes = draw(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 7)), min_size=2, max_size=9))
    moments = st.lists(st.integers(0, 12), min_size=len(sizes), max_size=len(sizes))
    prompt, output = map(list, zip(*sizes, strict=True))
    return Workload(list(map(float, draw(moments))), prompt, output), memory, engine


def told_by_twin(workload, memory, engine, clock, key):
    order = find_policy(key).order(workload, memory, clock, None, {})
    in_turn = np.array_equal(order, workload.ascending(workload.arrival))
    newest = {"newest": True, "last": False}.get(engine.victim, in_turn)
    rows = zip(*(getattr(workload, name).tolist() for name in COLUMNS), strict=True)
    plain = Telling(list(rows), np.argsort(order).tolist(), memory, clock, engine.options, newest)
    plain.notes = []
    return plain.run().notes


@pytest.mark.parametrize("clock", [ROUNDS, IN_SECONDS], ids=["rounds", "seconds"])
@given(cases(), st.sampled_from(["fcfs", "svf"]))
def test_it_is_told_as_it_was(clock, case, key):
    """Who waits in which order after each decision, and what kept the first of them out."""
    workload, memory, engine = case
    run = Deployment(memory, clock, engine=engine).run(Choice(key), workload)
    for at, queue, reason in told_by_twin(workload, memory, engine, clock, key):
        decision = decision_of(run, at)
        account = account_of(run, decision)
        waiting = account.queue[np.isin(account.queue, decision.waiting)].tolist()
        assert waiting == queue, at
        assert as_noted(why(decision, account, queue[0]).refusal) == reason, at
    for i in range(len(run.workload)):
        assert "not told" not in " ".join(in_words(tell(run, i), run))
