"""`python -m engine`: the engine without a browser."""

from engine.cli import main

raise SystemExit(main())
