"""One policy, one file. See engine/policy.py for what a file declares."""
