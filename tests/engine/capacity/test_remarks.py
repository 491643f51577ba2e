"""What is said beside the answer, as a user reads it."""

import numpy as np

from engine import Choice, Deployment, Workload
from engine.capacity.binding import Binding
from engine.capacity.border import Border
from engine.capacity.objective import Objective
from engine.capacity.offer import Offer
from engine.capacity.rate import Capacity
from engine.capacity.remarks import remarks
from engine.capacity.servers import Servers


def test_every_remark_whole():
    """A policy that a burst would undo, that loses requests and sets one of four aside."""
    capacity = Capacity(
        Choice("svf"),
        (0,),
        (Border(2.0, 2.02),),
        binding=Binding("memory"),
        until_burst=3.0,
        confirmed=2.0,
        served=0.99,
    )
    servers = Servers("svf", 4.0, 2, ((2, 1), (1, 0)), one_fewer="falls behind")
    requests = Workload(np.arange(4.0), [5] * 4, [1, 1, 1, 9])
    said = remarks([Offer(capacity, servers)], requests, Deployment(10), Objective())
    assert [sentence.replace("\u202f", " ") for sentence in said] == [
        "1 of 4 requests (25.0 %) needs more than M and is set aside; counted in rates, not in "
        "tokens.",
        "What binds svf is the memory.",
        "svf keeps up with 3 while no queue has built up, and is stable until a burst only; the "
        "rate told is what it recovers at.",
        "svf serves 99.0 % of the requests at its rate; the others give up or are turned away.",
        "With one server fewer svf falls behind.",
        "One draw of requests: how far chance moves the rate cannot be told.",
        "svf uses output lengths, in its order or its look-ahead.",
    ]
