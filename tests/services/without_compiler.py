"""A plugin of pytest: kernels run as the Python that they are, so that their lines are counted.

numba reads the fields of a record as attributes, whatever they are called; numpy does not.
"""

import numpy as np


class _Record(np.record):
    """Its fields hide the methods of the same names."""

    def __getattribute__(self, name):
        names = object.__getattribute__(self, "dtype").names
        return self[name] if name in names else object.__getattribute__(self, name)


def _with_fields(make):
    def made(shape, dtype=float, *rest, **named):
        array = make(shape, dtype, *rest, **named)
        return array.view(np.dtype((_Record, array.dtype))) if array.dtype.names else array

    return made


np.zeros, np.empty = _with_fields(np.zeros), _with_fields(np.empty)
