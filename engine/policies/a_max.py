"""A_max: shortest output first, each taken to be as long as its interval allows."""

from engine.policy import ordered_policy


@ordered_policy(
    key="a-max",
    title="A-max (conservative)",
    rule="Shortest output first under look-ahead, with the upper end of each predicted interval "
    "for its output: memory never runs out if the intervals hold.",
    source="arXiv 2508.14544, A_max, reconstructed from summaries",
    group="provable",
    reconstructed=True,
    believes="at_most",
    cost=lambda n: 2e-7 * n,
)
def order(workload):
    return workload.ascending(workload.output)
