"""Arrow takes its memory from the system: imported before Arrow is.

Its own pool reserves a gigabyte of addresses for the first text, half of what an import may take
where addresses are limited (ulimit -v).
"""

import os

os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
