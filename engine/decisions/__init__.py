"""What a policy's rule saw at one decision of a run: who waited, in which order, and what refused.

The kernels say when requests started, not why others did not. Here a decision is put together
again from the schedule, and the policy's rule, in plain Python, is asked about it: every policy
declares a function from a `Decision` to an `Account` (`Policy.account`), made of the pieces of
this folder. Stories (engine/measure/story) are told from accounts.
"""
