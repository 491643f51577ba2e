"""Command lines whose results are recorded: every command, policy, parameter, bound and clock.

Each is small. The words `mix`, `poisson`, .. are files that SETUP makes first.
"""

from __future__ import annotations

MEMORY = "16492"
GPU = "--clock seconds --hardware llama-2-70b-a100-tp4"
COEFFICIENTS = "--clock seconds --coefficients c0=0.03,c1=0.0002,N0=90,c2=5e-8,c3=4e-5"
JSON = "--format json"

SETUP = (
    "generate --n 120 -o mix.csv",
    "generate --n 120 --mix short=0.5,code=0.5 --arrivals poisson --rate 0.1 --seed 4 "
    "-o poisson.csv",
    "generate --n 100 --arrivals poisson --rate 1.5 --seed 2 -o seconds.csv",
    "generate --n 80 --arrivals gamma --rate 0.1 --burstiness 2.5 --seed 7 -o gamma.csv",
    "generate --n 60 --arrivals on-off --rate 0.1 --period 900 --on-share 0.3 -o bursts.csv",
    "generate --horizon 400 --arrivals poisson --rate 0.2 --seed 3 -o horizon.csv",
)
FILES = {  # written as they stand
    "tiny.csv": "arrival,prompt,output\n" + "0,2,3\n" * 6,
    "ranks.csv": "arrival,prompt,output,class,priority\n"
    + "".join(f"{k % 7},{2 + k % 5},{1 + k % 4},{'ab'[k % 2]},{k % 3}\n" for k in range(24)),
    "guesses.csv": "arrival,prompt,output,predicted_lo,predicted_hi\n"
    + "".join(f"{k},{3 + k % 4},{4 + k % 6},{2 + k % 3},{9 + k % 5}\n" for k in range(30)),
    "azure.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    + "".join(f"2023-11-16 18:{k:02}:00.5000000,{100 + k},{20 + k}\n" for k in range(60)),
    "mooncake.jsonl": "".join(
        f'{{"timestamp": {500 * k}, "input_length": {900 + k}, "output_length": {30 + k}, '
        f'"hash_ids": [{k}]}}\n'
        for k in range(40)
    ),
    "pairs.csv": "predicted,true\n" + "".join(f"{k // 2 + 1},{k + 1}\n" for k in range(60)),
}
LIST = ("fcfs", "mc-sf", "svf", "shortest-prompt", "shortest-total", "reverse", "sorted-f")
ONLINE = (
    "vllm", "vllm-priority", "sarathi", "orca", "static", "alpha-greedy", "alpha-beta",
    "past-future", "srpt", "fastserve", "complementary", "wait", "nested-wait", "a-max", "a-min",
    "sorted-f-online", "sorted-f-amin", "sorted-f-exact", "sorted-f-swap", "sorted-f-quantile",
)  # fmt: skip
DEAR = ("sorted-lp", "lp-swap", "best-found")
PARAMS = (
    "svf.skip=5", "svf.margin=0.1", "mc-sf.skip=2", "alpha-beta.beta=0.5", "alpha-beta.seed=9",
    "alpha-greedy.alpha=0.4", "vllm.watermark=0.05", "vllm.max_num_seqs=8", "vllm.block_size=16",
    "vllm.max_num_batched_tokens=900", "vllm.chunked_prefill=1", "vllm.victim=2", "vllm.swap=1",
    "vllm.transfer=0.01", "vllm-priority.ageing=0.5", "sarathi.chunk_size=128",
    "sarathi.block_size=16", "orca.max_output=500", "past-future.margin=0.2",
    "fastserve.quantum=32", "fastserve.starved=100", "complementary.margin=0.2",
    "wait.threshold=3", "wait.max_wait=5", "nested-wait.segments=2", "nested-wait.group=3",
    "sorted-lp.grids=1", "best-found.seconds=0.3",
)  # fmt: skip


def _simulations() -> list[str]:
    everyone = " ".join(f"--policy {key}" for key in (*LIST, *ONLINE))
    commands = [
        f"simulate {trace}.csv -M {MEMORY} {everyone} {clock} {bound} {JSON}"
        for trace, clock, bound in (
            ("mix", "", "--bound fluid --bound prices"),
            ("poisson", "", "--bound fluid"),
            ("gamma", "", ""),
            ("bursts", "", "--bound lp"),
            ("horizon", "", ""),
            ("seconds", GPU, "--bound srpt --bound prices"),
            ("seconds", COEFFICIENTS, ""),
        )
    ]
    commands += [f"simulate mix.csv -M {MEMORY} --policy {key} {JSON}" for key in DEAR]
    commands += [
        f"simulate poisson.csv -M {MEMORY} --policy {param.split('.')[0]} --param {param} {JSON}"
        for param in PARAMS
    ]
    return [
        *commands,
        f"simulate tiny.csv -M 10 --policy hindsight --bound hindsight --bound lp {JSON}",
        f"simulate mix.csv -M {MEMORY} {JSON}",
        f"simulate mix.csv -M {MEMORY} --policy svf --policy vllm",
        f"simulate mix.csv -M {MEMORY} --concurrency 16 --policy svf --policy vllm {JSON}",
        f"simulate mix.csv -M 3000 --policy svf --policy vllm --bound fluid {JSON}",
        f"simulate poisson.csv -M {MEMORY} --replicas 3 {JSON}",
        f"simulate poisson.csv -M {MEMORY} --replicas 3 --routing least-loaded {JSON}",
        f"simulate poisson.csv -M {MEMORY} --replicas 2 --routing join-shortest-memory "
        f"--policy svf --policy vllm --bound fluid {JSON}",
        f"simulate poisson.csv -M {MEMORY} --pools 1:2 --transfer 0.01 --policy svf --policy vllm "
        f"{JSON}",
        f"simulate seconds.csv -M {MEMORY} {GPU} --pools 2:1 --transfer 1e-5 --policy vllm {JSON}",
        f"simulate poisson.csv -M {MEMORY} --patience 200 --queue-limit 20 --max-model-len 4096 "
        f"--policy svf --policy vllm --per-request rows.csv {JSON}",
        f"simulate poisson.csv -M {MEMORY} --predict lognormal:spread=0.6 --seed 3 {JSON}",
        f"simulate poisson.csv -M {MEMORY} --predict interval:width=1 --seed 3 --policy a-max "
        f"--policy a-min --policy sorted-f-amin {JSON}",
        f"simulate ranks.csv -M 12 --policy vllm-priority --policy vllm --per-request one.csv "
        f"{JSON}",
        f"simulate guesses.csv -M 40 --policy a-max --policy a-min --policy svf {JSON}",
        f"simulate azure.csv -M 4096 --policy fcfs --round-seconds 0.5 {JSON}",
        f"simulate mooncake.jsonl -M 4096 --policy svf {GPU} {JSON}",
        f"simulate mix.csv -M {MEMORY} --policy alpha-beta --seed 11 {JSON}",
    ]


def _bounds() -> list[str]:
    rounds = [
        f"bound {trace}.csv -M {MEMORY} --method {method} --certificate {trace}-{method}.json "
        f"{JSON}"
        for trace in ("mix", "poisson")
        for method in ("fluid", "prices")
    ]
    return [
        *rounds,
        "verify mix-fluid.json mix.csv",
        "verify poisson-prices.json poisson.csv",
        f"bound tiny.csv -M 10 --method lp --method hindsight --method fluid {JSON}",
        f"bound mix.csv -M {MEMORY} --preemptive {JSON}",
        f"bound seconds.csv -M {MEMORY} {GPU} --method srpt --method prices --certificate s.json "
        f"{JSON}",
        "verify s.json seconds.csv",
        f"bound seconds.csv -M {MEMORY} {GPU}",
    ]


def _planning() -> list[str]:
    drawn = f"--arrivals poisson --n 200 --memory {MEMORY}"
    return [
        f"capacity {drawn} --policy svf --policy vllm --seeds 2 --load 0.3 {JSON}",
        f"capacity {drawn} --rate 1.6 {GPU} --policy svf --policy fcfs --seeds 2 --slo-ttft 10 "
        f"--slo-tpot short=0.2 --load 4 --price 2 {JSON}",
        f"capacity {drawn} --policy vllm --param vllm.max_num_seqs=8 --seeds 2 --load 0.2",
        f"capacity {drawn} --rate 1.6 {GPU} --pools 1:1 --load 4 --seeds 2 --policy svf {JSON}",
        f"capacity {drawn} --replicas 2 --routing least-loaded --policy svf --seeds 1 {JSON}",
        f"capacity poisson.csv --memory {MEMORY} --policy svf {JSON}",
        f"sweep {drawn} --knob memory=9000:20000:3 --knob rate=0.05,0.1 --policy svf {JSON}",
        f"sweep {drawn} --knob share=20,80 --knob n=100,200 --policy vllm --slo-ttft 300 {JSON}",
        f"sweep {drawn} --knob svf.skip=0,5 --knob replicas=1,2 --policy svf --policy vllm {JSON}",
        f"sweep {drawn} --knob error=0,1 --policy svf",
        f"sweep poisson.csv --memory {MEMORY} --knob rate=0.05,0.2 --policy fcfs {GPU} {JSON}",
        f"uncertainty --n 60 --memory {MEMORY} --draws 2 {JSON}",
        f"uncertainty --n 60 --memory {MEMORY} --draws 2 --axis margin --policy svf --policy vllm "
        f"{JSON}",
        f"uncertainty --n 60 --memory {MEMORY} --draws 1 --axis width",
        f"uncertainty --n 60 --memory {MEMORY} --draws 2 --axis bias {COEFFICIENTS} {JSON}",
        f"uncertainty --n 60 --memory {MEMORY} --draws 1 --axis margin --pairs pairs.csv",
        f"audit poisson.csv -M {MEMORY} --window-requests 40 {JSON}",
        f"audit poisson.csv -M {MEMORY} --window-requests 40 --policy svf --policy vllm "
        f"--param svf.skip=5",
        f"audit seconds.csv -M {MEMORY} {GPU} --window-requests 50 --policy vllm --policy svf "
        f"{JSON}",
        f"audit azure.csv -M 4096 {GPU} --windows 2 --window-requests 20 --seed 3 --policy svf "
        f"--threshold 5 {JSON}",
    ]


def _files() -> list[str]:
    return [
        "import azure.csv -o azure-out.csv --memory 4096",
        f"import mooncake.jsonl {JSON}",
        f"import mix.csv --window 0:10 --sample 0.5 --seed 1 {JSON}",
        "policies",
        "hardware",
    ]


def _errors() -> list[str]:
    return [
        "simulate nothing.csv -M 10",
        "simulate tiny.csv -M 2",
        "simulate tiny.csv -M 10 --policy none",
        "simulate tiny.csv -M 10 --policy svf --param svf.skip=-1",
        "simulate tiny.csv -M 10 --policy svf --param vllm.swap=1",
        "simulate tiny.csv -M 10 --clock seconds",
        "simulate tiny.csv -M 10 --bound none",
        "simulate tiny.csv -M 10 --replicas 2 --pools 1:1",
        f"capacity --n 200 --memory {MEMORY} --policy best-found --arrivals poisson",
        f"sweep --n 200 --memory {MEMORY} --knob none=1,2 --policy svf",
        f"uncertainty --n 60 --memory {MEMORY} --axis none",
        "generate --n 0 -o none.csv",
        "bound tiny.csv -M 10 --method srpt",
    ]


COMMANDS = (*SETUP, *_simulations(), *_bounds(), *_planning(), *_files(), *_errors())
