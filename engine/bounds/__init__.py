"""One bound method, one file. See engine/bound_method.py for what a file declares."""
