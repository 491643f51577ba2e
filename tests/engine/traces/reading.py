"""Small files as text, read; what several tests of them say and make."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

from engine.traces import read_requests

TOKENS = "is not a whole number of tokens from 1 to 1,000,000,000"
FAILED = "is not blank: the request failed"


def read(raw, **how):
    return read_requests(io.BytesIO(raw if isinstance(raw, bytes) else raw.encode()), **how)


def lines(*objects):
    return "\n".join(json.dumps(value) for value in objects)


def lengths(requests):
    return list(zip(requests.prompt.tolist(), requests.output.tolist(), strict=True))


def as_parquet(columns):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()
