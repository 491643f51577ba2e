"""What wrong predictions of output lengths cost, and what a margin saves.

One study varies one thing (`axis`), draw by draw (`study`); draws are pooled into means with
bands (`pooled`), from which follow the error at which a predictor stops paying
(`break_even`) and the margin to set (`margin`). A user's own predictor is a list of predicted
and true lengths (`pairs`): its calibration, and a model that errs as it does (`resampled`).
"""
