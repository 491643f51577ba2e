"""A plain twin's run with every decision written down, and what a policy's rule says of each.

Knows the rules from docs/model.md 2 alone: nothing of engine/decisions. A `Rule` is the twin's
`decide`, the order in which it considers those who wait, and what it asks of memory.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from engine.policies.wait import thresholds, types_of
from engine.simulate.gates import gates_at
from engine.simulate.preempting import Admission, admission_limit
from engine.simulate.restarting import Clearing
from engine.simulate.timetable import NEVER
from tests.engine.batches.test_exact import best_subset
from tests.twins import plain_policies, plain_prefix, plain_replanning, plain_server
from tests.twins.plain_server import PlainServer


@dataclass
class Moment:
    """One decision: what was before it and after it."""

    at: int
    time: float
    before: list  # in memory, those who rest too
    gen_before: list
    running: list
    resident: list
    waiting: list
    gen: list
    chunk: list
    decoding: list  # of those in memory before and after it, who decode
    dropped: list
    more_due: bool
    lost_at: dict
    place: dict  # of the latest admission
    level: dict
    in_line: list

    @property
    def joined(self):
        return [i for i in self.running if i not in self.before or i in self.dropped]

    @property
    def stays(self):
        here = [*self.running, *self.resident]
        return [i for i in here if i in self.before and i not in self.dropped]


@dataclass
class Rule:
    """A policy as the specification has it."""

    decide: Callable
    order: Callable  # (witness, moment) -> those whom it considers, in order
    skip: int = 0
    planned: list | None = None  # look-ahead: outputs reckoned with, or a function of the moment
    tenths: int = 0
    limit: float = math.inf
    block: int = 1
    most: float = math.inf
    tokens: float = math.inf
    chunks: bool = False
    swap: bool = False
    longest: int = 0  # reserved for everyone
    levels: tuple | None = None
    group: int = 0
    sizes: list = field(default_factory=list)
    types: list = field(default_factory=list)
    max_wait: float = math.inf
    rank: dict | None = None  # of a fixed order
    kind: str = "use"


class Witness:
    """The twin's run under a rule."""

    def __init__(self, workload, memory, clock, rule):
        self.workload, self.memory, self.rule = workload, memory, rule
        self.moments, self.first_seen, self.losses, self.resting = {}, {}, {}, {}
        self._lost_at, self._place, self._admitted = {}, {}, 0
        self._levels = {}
        self.server = PlainServer(workload, memory, clock)
        self.server.run(self._decide)

    def _decide(self, server):
        before, resting = [*server.running, *server.resident], list(server.resident)
        gen_before, lost, left = list(server.gen), list(server.lost), list(server.left)
        self.rule.decide(server)
        for i in [*server.running, *server.waiting]:
            self.first_seen.setdefault(i, server.round)
        dropped = [i for i in range(len(lost)) if server.lost[i] > lost[i]]
        for i in dropped:
            self._lost_at[i] = server.round
            self.losses.setdefault(i, []).append([server.round, gen_before[i], None, None])
        for i in server.running:
            if i not in before or i in dropped:
                self._admitted += 1
                self._place[i] = self._admitted
                if self.losses.get(i) and self.losses[i][-1][2] is None:
                    self.losses[i][-1][2:] = [server.round, server.held(i)]
        for i in set(resting) ^ set(server.resident):
            self.resting.setdefault(i, []).append(server.round)
        self.moments[server.round] = Moment(
            server.round,
            server.time,
            before,
            gen_before,
            list(server.running),
            list(server.resident),
            list(server.waiting),
            list(server.gen),
            list(server.chunk),
            [i for i in server.running if i in before and left[i] == 0],
            dropped,
            bool(server.coming or server.later),
            dict(self._lost_at),
            dict(self._place),
            self._new_levels(server),
            list(getattr(self.rule.decide, "in_line", ())),
        )

    def _new_levels(self, server):
        """FastServe's, by counting the rounds and tokens of everyone who is there."""
        if self.rule.levels is None:
            return {}
        quantum, starved = self.rule.levels
        for i in [*server.running, *server.waiting]:
            needs = math.ceil(server.prompt[i] / 512)
            first = next(p for p in range(99) if quantum * 2**p >= needs)
            known = self._levels.setdefault(i, {"level": first, "used": 0, "idle": 0, "gen": 0})
            known["used"] += server.gen[i] - known["gen"]
            known["gen"] = server.gen[i]
            if known["used"] >= quantum * 2 ** known["level"]:
                known["level"] += 1
                known["used"] = 0
            if known["idle"] >= starved and known["level"] > 0:
                known["level"] = known["used"] = 0
            known["idle"] = 0 if i in server.running else known["idle"] + 1
        return {i: known["level"] for i, known in self._levels.items()}

    def moment(self, at):
        """The decision after round `at`; of an idle server, its latest one."""
        last = max(r for r in self.moments if r <= at)
        assert last == at or not self.moments[last].running
        return self.moments[last]

    # Who waits, in order.

    def by_arrival(self, people):
        return sorted(people, key=lambda i: (self.server.arrival[i], i))

    def candidates(self, moment):
        return moment.waiting + moment.joined

    def back_first(self, moment, key=lambda i: 0):
        """Those who lost their KV cache, the latest loss first, then the others by key."""
        lost, joined = moment.lost_at, self.joined_before(moment)
        people = self.candidates(moment)
        back = [i for i in people if i in lost]
        back.sort(key=lambda i: (-lost[i], joined[i]))
        others = self.by_arrival([i for i in people if i not in lost])
        return back + sorted(others, key=key)

    def joined_before(self, moment):
        """The place of each admission that came before this decision."""
        earlier = [r for r in self.moments if r < moment.at]
        return self.moments[max(earlier)].place if earlier else {}

    def bounds(self, moment):
        """A_min's lower bounds, raised by what was generated before each eviction until then."""
        bounds = list(self.rule.planned)
        for i, losses in self.losses.items():
            for at, generated, *_ in losses:
                if at <= moment.at:
                    bounds[i] = max(bounds[i], generated)
        return bounds


def keyed(key):
    """By key of the moment, then arrival."""

    def order(witness, moment):
        people = witness.by_arrival(witness.candidates(moment))
        return sorted(people, key=lambda i: key(witness, moment, i))

    return order


def fifo(witness, moment):
    return witness.back_first(moment)


def rule_of(run, workload, clock, planned_by):
    """The rule of a run's policy; `planned_by` says which outputs a policy takes for the truth."""
    key, memory = run.policy, run.memory
    params = {**run.params, **run.schedule.settled}
    outputs = [int(min(p, memory - s)) for p, s in zip(planned_by, workload.prompt, strict=True)]
    limit = admission_limit(memory, params.get("margin", 0.0))
    plan = {"planned": outputs, "limit": limit, "kind": "plan"}
    walk = run.schedule.whole.walk
    if walk is not None:
        order = walk.order.tolist()
        rank = {i: place for place, i in enumerate(order)}
        decide = plain_replanning.on_predicted_lengths(order, outputs, limit, walk.skip)
        by_rank = Rule(decide, None, walk.skip, rank=rank, **plan)
        by_rank.order = lambda witness, moment: witness.back_first(moment, rank.__getitem__)
        return by_rank
    made = {
        **dict.fromkeys(("vllm", "sarathi"), _vllm),
        **dict.fromkeys(("alpha-greedy", "alpha-beta"), _alpha),
        **dict.fromkeys(("sorted-f-online", "sorted-f-amin"), _sorted_f),
        **dict.fromkeys(("wait", "nested-wait"), _grouped),
    }.get(key, _others)
    return made(key, workload, memory, clock, params, plan)


def _vllm(key, workload, memory, clock, params, plan):
    block = params["block_size"]
    whole = memory // block * block
    limit, most = admission_limit(whole, params["watermark"]), params["max_num_seqs"]
    swap = bool(params.get("swap", 0))
    tokens = params.get("chunk_size") or params["max_num_batched_tokens"] or NEVER
    chunks = key == "sarathi" or bool(params["chunked_prefill"])
    rule = Admission(
        limit, most, tokens, block, params.get("victim", 0), swap, params.get("transfer", 0.0)
    )
    decide = plain_server.chunked(rule) if chunks else plain_server.preempting(rule, set())
    numbers = {"limit": limit, "block": block, "most": most, "tokens": tokens}
    return Rule(decide, fifo, chunks=chunks, swap=swap, **numbers)


def _alpha(key, workload, memory, clock, params, plan):
    limit = admission_limit(memory, params["alpha"])
    beta, patience = (1.0, 2) if key == "alpha-greedy" else (params["beta"], 10_000)
    decide = plain_policies.restarting(*Clearing(limit, beta, patience), params.get("seed", 0))
    return Rule(decide, keyed(lambda *_: 0), limit=limit)


def _sorted_f(key, workload, memory, clock, params, plan):
    def batch(waiting, reckoned):
        listed = sorted(waiting, key=lambda i: workload.row[i])
        output = [int(reckoned[i]) for i in listed]
        size = [int(workload.prompt[i] + reckoned[i]) for i in listed]
        chosen = [listed[place] for place in best_subset(output, size, memory)]
        place = {i: k for k, i in enumerate(waiting)}
        return sorted(chosen, key=lambda i: (reckoned[i], place[i]))

    starts_over = key == "sorted-f-amin"

    def order(witness, moment):
        back = [i for i in witness.back_first(moment) if i in moment.lost_at and not starts_over]
        if any(i in moment.waiting for i in back):
            return back
        reckoned = witness.bounds(moment) if starts_over else plan["planned"]
        left = witness.by_arrival(moment.waiting)
        return moment.joined + (batch(left, reckoned) if left else [])

    decide = plain_replanning.replanning(batch, plan["planned"], starts_over, plan["limit"])
    rule = Rule(decide, order, **plan)
    rule.kind = "bounds" if starts_over else "plan"
    return rule


def _grouped(key, workload, memory, clock, params, plan):
    if key == "nested-wait":
        at, sizes = gates_at(workload.output, params["segments"], params["group"])
        decide = plain_policies.nested_wait(
            at.tolist(), sizes.tolist(), params["group"], params["max_wait"]
        )
        numbers = {"limit": memory, "group": params["group"], "max_wait": params["max_wait"]}
        return Rule(decide, keyed(lambda *_: 0), **numbers)
    expected = workload.believing(workload.expected, memory)
    types = types_of(expected)
    sizes = thresholds(expected, types, memory, clock)
    sizes = [params["threshold"]] * len(sizes) if params["threshold"] else sizes.tolist()
    of = (types.tolist(), sizes, plan["planned"], params["max_wait"], plan["limit"])
    decide = plain_policies.wait(*of)

    def order(witness, moment):
        back = [i for i in witness.back_first(moment) if i in moment.lost_at]
        new = [i for i in moment.joined if i not in back]
        return back + new + [i for i in moment.in_line if i in moment.waiting]

    numbers = {"types": of[0], "sizes": sizes, "max_wait": params["max_wait"]}
    return Rule(decide, order, **plan, **numbers)


def _others(key, workload, memory, clock, params, plan):
    outputs, limit = plan["planned"], plan["limit"]
    if key == "orca":
        longest = params["max_output"]
        return Rule(plain_policies.orca(longest), fifo, longest=longest, kind="reserve")
    if key == "static":
        return Rule(plain_policies.static(outputs), fifo, planned=outputs, kind="batch")
    if key == "vllm-priority":
        limit, ageing = admission_limit(memory, params["watermark"]), params["ageing"]
        most, priority = params["max_num_seqs"], workload.priority.tolist()
        decide = plain_policies.vllm_priority(priority, ageing, limit, most)
        order = keyed(lambda witness, m, i: priority[i] + ageing * witness.server.arrival[i])
        return Rule(decide, order, limit=limit, most=most)
    if key == "a-min":
        rule = Rule(plain_replanning.a_min(outputs, limit), None, **plan)
        rule.order = keyed(lambda witness, m, i: witness.bounds(m)[i])
        rule.kind = "bounds"
        return rule
    if key == "srpt":
        order = keyed(lambda witness, m, i: max(outputs[i] - m.gen[i], 1))
        return Rule(plain_prefix.srpt(outputs), order, limit=memory)
    if key == "fastserve":
        levels = (params["quantum"], params["starved"])
        decide = plain_prefix.fastserve(*levels, params["transfer"])
        order = keyed(lambda witness, m, i: m.level[i])
        return Rule(decide, order, limit=memory, levels=levels, swap=True)
    if key == "past-future":
        return Rule(plain_policies.past_future(outputs, limit), fifo, tenths=1, **plan)
    assert key == "complementary", key

    def order(witness, moment):
        line = witness.back_first(moment)
        back = [i for i in line if i in moment.lost_at]
        if any(i in moment.waiting for i in back):
            return back
        new = [i for i in line if i not in back]
        if not new:
            return back
        prompt, output = workload.prompt, np.array(outputs)
        short = {i: prompt[i] <= np.median(prompt[new]) for i in new}
        brief = {i: output[i] <= np.median(output[new]) for i in new}
        grow = [i for i in new if short[i] and not brief[i]]
        shrink = [i for i in new if brief[i] and not short[i]]
        pairs = [i for pair in zip(grow, shrink, strict=False) for i in pair]
        return back + pairs + [i for i in new if i not in pairs]

    decide = plain_policies.complementary(outputs, limit, params["transfer"])
    return Rule(decide, order, swap=True, **plan)
