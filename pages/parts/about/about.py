"""The texts and lists of the About page."""

from __future__ import annotations

import streamlit as st

from engine import METHODS, POLICIES
from engine.demand.request_class import classes
from engine.policy import GROUPS, Policy

MODEL = """
## The model
A request has a prompt of *s* tokens and an output of *o* tokens. A GPU has room for *M* tokens
of KV cache. Time is counted in **rounds**: one round is one iteration of the running batch. A
request started at time *t* runs in rounds *t*+1 .. *t*+*o*; at the end of round *t*+*j* it holds
*s*+*j* tokens, and at *t*+*o* it completes and frees them. Its prompt and first token share the
first round. At the end of every round the running requests together hold at most *M*.

On the clock of a GPU the same rounds last seconds: T = c0 + c1·max(0, N − N0) + c2·K + c3·B, for
N tokens in the round, K tokens of KV cache read and B requests that decode. The coefficients are
fitted to measured operators, can be edited in the sidebar, and carry their error. Look-ahead still
counts in rounds; arrivals are seen by the first round that begins after them. Coefficients of
your own server come from a benchmark of it, on the Trace audit page, and can be saved under a name.

**Latency** is completion minus arrival. **TTFT** is the end of the round of the first token minus
arrival. A request with *s*+*o* > *M* can never run, and one above max_model_len may not: it is
set aside, and counted.

Clients may have **patience**: who has waited longer without having been admitted gives up. A
server may have a **queue limit**: who comes while so many wait for their first admission is turned
away. Who has been admitted stays, also when preempted. Both are counted, latencies are of the
others, and no bound is shown, since who is served then depends on the policy.

Where outputs are **predicted**, policies plan with min(max(prediction, generated + 1), *M* − *s*)
tokens, and memory follows the truth. When the next round would pass *M* after all, look-ahead
policies preempt the newest, which returns before all others; nobody is admitted in that round.
Plans made offline become an order that is run under the same admission. A **margin** is a share of
*M* that plans leave free; an empty server ignores it.

A **bound** is a total latency that no schedule can beat. Each run is compared only with bounds
that are proved for it: a run in which a request gave up its KV cache, by preemption, may beat
bounds that hold only for schedules that do not.
"""

LIMITS = """
## What is not modelled, and which way that errs
- On the rounds clock a round takes the same time whatever is in it; on a GPU, rounds with long
  prefills and large batches take longer. Policies that mix in long prompts look better there than
  they are: choose a GPU under Clock to see.
- Round times are a fit to a model of the GPU, some per cent off, without CPU overhead, LM head
  and network: real latencies are a little longer. Attention over a prompt's own length is not
  counted apart, which favours very long prompts.
- In the ideal engine tokens are counted singly and no limit of an engine's holds. Pick one under
  *Serving engine* for its blocks, its sequences and tokens a round, and its way to preempt; that it
  plans the next round while one runs (asynchronous scheduling) is not modelled.
- No prefix cache and no multi-turn reuse: shared prompts would need less memory than shown.
- Moving KV cache between pools costs time in between, but no time of either server.
- No speculative decoding, no loss of servers, no network between client and server.
- Output lengths are known exactly to the policies that use them, unless predictions are chosen in
  the sidebar. A prediction is made once, when a request arrives; predictors that look again as it
  grows would do better than shown.
- Whether a server keeps up is judged from a finite run. On maps and in rates, where that run is not
  sure, what the policy serves under overload and works off after a burst decides; cells too near
  that limit to tell count as not carried and are hatched.
- A backlog's latency grows with its number of requests, and so does that of an overloaded
  arrival stream: neither is a steady state.
"""

GLOSSARY = """
## Glossary
- **Prompt, prefill**: the input tokens, and the work of reading them into the KV cache.
- **Output, decode**: the tokens generated, one a round.
- **KV cache**: the memory a request holds, one slot a token.
- **Engine**: the program that serves, such as vLLM: what it imposes on every policy alike.
- **Backlog**: all requests are there at time 0.
- **Look-ahead**: a request is admitted only if no later round can overflow *M*.
- **Prediction, interval**: the output a policy reckons with, and the range it is said to be in.
- **Clairvoyant bound**: a bound for those who know the true outputs, whatever was predicted.
- **Wasted tokens**: prefilled or generated a second time, after a preemption or a restart.
- **Preempt**: take a running request's KV cache away; it prefills prompt and output again later.
- **Volume**: token-rounds of memory, *s·o* + *o*(*o*+1)/2.
- **TEL**: total end-to-end latency, the sum over requests. **Makespan**: when the last one ends.
- **Span**: rounds with the same batch; their lengths add up in closed form.
- **Replica, pool**: a server with its own memory; servers that only prefill or only decode.
- **Closed loop**: clients that wait for an answer before they send the next request.
- **Goodput**: requests served within every limit (SLO), per unit of time.
- **TTFT, TPOT**: time to first token; time per output token after the first.
- **Price of memory**: what a token of memory in a round would be worth if it could be bought.
  At any prices, no schedule can cost less than what every request would pay at its cheapest
  moment, less the worth of all the memory there is. That is a bound; the best prices give the
  best one, and anybody can check it from the prices alone.
- **Fluid**: requests poured through the memory one after another; its prices are a good start.
- **LP relaxation**: schedules that may start fractions of a request at different times.
- **Hindsight optimum**: the best schedule for one who knows everything in advance.
- **Gap**: total latency over the best bound that covers the run, less one.

## Add a policy
A policy is one file in `engine/policies`. It declares itself there, and is then in the sidebar,
on the command line, in the tests and on this page. A lesson is one file in
`engine/learn/lessons`, and is then on Learn and under the tests that hold for every lesson.
"""


def headline() -> str:
    """What there is, counted."""
    proved = sum(policy.group == "provable" for policy in POLICIES.values())
    return (
        f"{len(POLICIES)} policies on one model of KV-cache memory, {proved} of them with a "
        f"theory, and {len(METHODS)} ways to bound what any policy could reach"
    )


def list_policies() -> None:
    """Every policy with its rule, its source and what it may do, folded by group."""
    st.markdown("## Policies")
    for group in GROUPS:
        policies = [policy for policy in POLICIES.values() if policy.group == group]
        with st.expander(f"{group.capitalize()}: {', '.join(policy.key for policy in policies)}"):
            for policy in policies:
                st.markdown(_policy_in_words(policy))


def _policy_in_words(policy: Policy) -> str:
    notes = [f"Source: {policy.source}."]
    if policy.reconstructed and "reconstructed" not in policy.source:
        notes.append("Reconstructed from summaries, not read in its source.")
    if policy.offline:
        notes.append("Ranks all requests at once, whatever their arrival.")
    if policy.uses_lengths:
        notes.append("Needs output lengths.")
    if policy.may_give_up_kv:
        notes.append("May preempt.")
    return f"**{policy.key}** · {policy.title}. {policy.rule}  \n*{' '.join(notes)}*"


def list_bounds() -> None:
    """Every bound method with its source."""
    st.markdown("## Bounds")
    for method in METHODS.values():
        st.markdown(f"**{method.key}** · {method.title}. *{method.source}.*")


def list_classes() -> None:
    """Every request class with where its lengths come from."""
    st.markdown("## Request classes")
    for request_class in classes().values():
        st.markdown(
            f"**{request_class.key}** · {request_class.title}: {request_class.description}  \n"
            f"*Source: {request_class.source.rstrip('.')}. Licence: {request_class.licence}.*"
        )
