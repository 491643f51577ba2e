"""How far a trace was served from the best possible, in windows (docs/model.md 5).

A day is too long to bound at once, and what goes wrong in it goes wrong at some time of
the day. So the trace is cut into windows of consecutive requests (windows.py). Each is a
workload of its own: policies serve it from an empty server, and a certified bound says
what nobody could have beaten (judge.py). Costs and bounds add up, and resampling the
windows says how much the gap is a matter of chance (interval.py).

Where the file holds measured latencies, those are audited as they are. That is sound: take
all requests but a window's out of what happened, and what is left is a schedule of the
window alone, which no bound of the window is above. What came over from the window before
only adds to the gap.
"""

from engine.audit.judge import AuditPlan, Judged, WindowFinding
from engine.audit.ranking import MEASURED, Audit, RankedSchedule
from engine.audit.windows import Window, cut, pick

__all__ = [
    "MEASURED",
    "Audit",
    "AuditPlan",
    "Judged",
    "RankedSchedule",
    "Window",
    "WindowFinding",
    "cut",
    "pick",
]
