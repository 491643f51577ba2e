#!/usr/bin/env bash
# Which lines of the engine small tests reach. The compiler is off, so that kernels count too; what
# takes long without it is left to the compiled tests. Fails below the floor.
set -euo pipefail
cd "$(dirname "$0")/.."
FLOOR=75

quick=(
  tests/engine/batches/test_objective.py tests/engine/batches/test_swap.py
  tests/engine/bounds/test_fluid.py tests/engine/bounds/test_lp.py tests/engine/bounds/test_srpt.py
  tests/engine/calibrate tests/engine/database/test_url.py tests/engine/demand
  tests/engine/cli/test_import.py tests/engine/cli/test_predict.py
  tests/engine/evidence/test_certainty.py tests/engine/evidence/test_certificate.py
  tests/engine/evidence/test_convergence.py tests/engine/evidence/test_losses.py
  tests/engine/figures tests/engine/fleet tests/engine/machine tests/engine/measure
  tests/engine/learn/test_families.py tests/engine/learn/test_film.py
  tests/engine/policies/test_smallest_work.py tests/engine/proof/test_dual.py
  tests/engine/simulate/test_admission_limits.py tests/engine/simulate/test_adaptive.py
  tests/engine/simulate/test_look_ahead.py tests/engine/simulate/test_online_policies.py
  tests/engine/simulate/test_preempting.py tests/engine/simulate/test_wait.py
  tests/engine/traces/test_canonical.py tests/engine/traces/test_formats.py
  tests/engine/traces/test_kinds.py tests/engine/traces/test_logs.py
  tests/engine/traces/test_benchmarks.py tests/engine/traces/test_conversations.py
  tests/engine/traces/test_named_columns.py tests/engine/traces/test_clocks.py
  tests/engine/traces/test_token_names.py tests/engine/traces/test_judged.py
  tests/engine/traces/test_server_words.py tests/engine/traces/test_public_formats.py
  tests/engine/test_user_data.py tests/engine/test_wording.py tests/engine/test_workload.py
)
export NUMBA_DISABLE_JIT=1 HYPOTHESIS_PROFILE=glance
# Plain Python warns where machine integers wrap around on purpose.
exec .venv/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile \
  -p tests.services.without_compiler -W ignore::RuntimeWarning \
  --deselect tests/engine/bounds/test_lp.py::test_a_bound_of_a_stopped_solve_says_so \
  --cov --cov-report=term:skip-covered --cov-fail-under="$FLOOR" "${quick[@]}"
