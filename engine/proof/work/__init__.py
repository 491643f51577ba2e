"""Work in seconds: what requests cost the machine at least, and the bounds that follow.

envelope.py  floors under the length of a round that add up over its requests
alone.py     how long a request takes on a machine of its own
cells.py     time and tokens, cut as coarsely as there is time to compute
dual.py      prices of machine time, and the bound that any prices give
ramps.py     prices that never rise, from few numbers
ascent.py    the best such numbers, by column generation
stretches.py parts of the requests that quiet tells apart
proof.py     prices as they are written down
prices.py    all of this for one workload
"""
