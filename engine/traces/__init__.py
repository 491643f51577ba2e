"""Reading request logs into workloads, and writing workloads as the canonical CSV.

A known layout is one file in engine/traces/formats; see its __init__.
"""

from engine.traces.read import as_workload, read_requests, read_trace
from engine.traces.report import Report
from engine.traces.requests import TraceRequests
from engine.traces.write import write_csv

__all__ = ["Report", "TraceRequests", "as_workload", "read_requests", "read_trace", "write_csv"]
