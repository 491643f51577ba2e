"""One bound method, one file. See engine/bound.py for what a file declares."""
