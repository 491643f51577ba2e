"""The command lines that are recorded, each fast; steps that need each other are joined by &&.

Policies and parameters are named here and not asked of the engine: one that is lost must be
missed.
"""

from __future__ import annotations

from collections.abc import Iterator

PARAMS = {  # every policy, and its parameters at other values than the usual ones
    "a-max": ("skip=3", "margin=0.2"),
    "a-min": ("margin=0.2",),
    "alpha-beta": ("alpha=0.3", "beta=0.4", "seed=5"),
    "alpha-greedy": ("alpha=0.4", "alpha=0.1"),
    "best-found": ("seconds=0.2",),
    "vllm": (
        "watermark=0.05", "max_num_seqs=7", "max_num_batched_tokens=4096",
        "max_num_batched_tokens=512 chunked_prefill=1", "victim=1", "victim=2", "swap=1",
        "swap=1 transfer=0.00001", "block_size=16",
    ),
    "complementary": ("margin=0.3", "transfer=0.00001"),
    "fastserve": ("quantum=64", "starved=100", "transfer=0.00001"),
    "fcfs": ("skip=3", "margin=0.2"),
    "hindsight": ("seconds=20",),
    "sorted-lp": ("grids=1", "skip=3", "margin=0.2"),
    "lp-swap": ("grids=1", "skip=3", "margin=0.2"),
    "mc-sf": ("skip=3", "margin=0.2"),
    "wait": ("threshold=3", "max_wait=200", "margin=0.2"),
    "nested-wait": ("segments=2", "group=3", "max_wait=200"),
    "orca": ("max_output=3500",),
    "past-future": ("margin=0.2",),
    "reverse": ("skip=3", "margin=0.2"),
    "sarathi": ("chunk_size=128", "watermark=0.1", "max_num_seqs=7", "block_size=16"),
    "shortest-prompt": ("skip=3", "margin=0.2"),
    "shortest-total": ("skip=3", "margin=0.2"),
    "smallest-work": ("skip=3", "margin=0.2"),
    "sorted-f": ("skip=3", "margin=0.2"),
    "sorted-f-online": ("margin=0.2",),
    "sorted-f-amin": ("margin=0.2",),
    "sorted-f-exact": ("skip=3", "margin=0.2"),
    "sorted-f-quantile": ("skip=3", "margin=0.2"),
    "sorted-f-swap": ("skip=3", "margin=0.2"),
    "srpt": (),
    "static": (),
    "svf": ("skip=3", "margin=0.2"),
    "vllm-priority": ("ageing=0.01", "watermark=0.05", "max_num_seqs=7"),
}  # fmt: skip
BRIEF = {"best-found": " --param best-found.seconds=0.1"}  # else it searches for a second
SOLVABLE = {"hindsight": "tiny.csv -M 20"}  # what its integer program is solved for

GPU = "--clock seconds --hardware llama-2-70b-a100-tp4"
OWN_GPU = "--clock seconds --coefficients c0=0.03,c1=0.00012,N0=128,c2=4e-8,c3=3e-5"
DECAY = "--predict lognormal:bias=0.7,spread=0.8"
ROUTINGS = ("round-robin", "least-loaded", "join-shortest-memory")
PREDICTIONS = (
    "exact", "lognormal:bias=1.5,spread=1", "interval:width=2", "bucket:size=100", "class-mean",
    "none",
)  # fmt: skip
SOME = "--policy fcfs --policy svf --policy vllm"
LOGS = (
    "aiperf", "azure", "bailian", "burstgpt", "canonical", "conversations", "genai_bench",
    "generic", "guidellm", "inference_perf", "llm_optimizer", "llmservingsim",
    "llmservingsim_result", "mooncake", "prometheus", "servegen", "sglang_bench", "splitwise",
    "tokensim", "vidur_lengths", "vidur_replay", "vllm_bench",
)  # fmt: skip


# What depends on the version of a library more than in its last digits, or takes longer.
NOT_KEPT = ("hindsight", "sorted-lp", "lp-swap", "--method lp", ".html", "crowd")


def kept() -> list[str]:
    """Those whose doings the tests hold the engine to, on any machine."""
    return [line for line in commands() if not any(text in line for text in NOT_KEPT)]


def commands() -> list[str]:
    """All of them, each once."""
    found = [  # what solves tiny.csv only has some lines twice
        *(line for key in PARAMS for line in _of_policy(key)),
        *_simulate(), *_bound(), *_generate(), *_import(), *_audit(), *_capacity(), *_sweep(),
        *_uncertainty(), *_calibrate(), *_report(), *_lists(), *_errors(),
    ]  # fmt: skip
    return list(dict.fromkeys(found))


def _of_policy(key: str) -> Iterator[str]:
    """A policy on every clock, under every kind of load, and with each of its parameters."""
    brief = BRIEF.get(key, "")

    def line(file: str, rest: str = "") -> str:
        given = SOLVABLE.get(key, f"{file} -M 6000")
        return f"simulate {given} --policy {key}{brief} {rest} --format json".replace("  ", " ")

    yield line("backlog.csv", "--bound fluid --per-request rows.csv")
    yield line("stream.csv", "--bound fluid")
    yield line("seconds.csv", f"{GPU} --bound srpt --per-request rows.csv")
    yield line("seconds.csv", OWN_GPU)
    yield line("stream.csv", f"{DECAY} --seed 3")
    yield line("intervals.csv", "--per-request rows.csv")
    yield line("seconds.csv", f"{DECAY} {GPU}")
    yield line("stream.csv", "--concurrency 6")
    yield line("seconds.csv", f"--concurrency 6 {GPU}")
    yield line("stream.csv", "--patience 60 --queue-limit 8 --max-model-len 4000")
    yield line("seconds.csv", f"--patience 9 --queue-limit 8 {GPU}")
    for routing in ROUTINGS:
        yield line("stream.csv", f"--replicas 2 --routing {routing}")
        yield line("seconds.csv", f"--replicas 2 --routing {routing} {GPU}")
    yield line("stream.csv", "--pools 1:2 --transfer 0.01")
    yield line("seconds.csv", f"--pools 2:1 --transfer 0.00001 {GPU}")
    yield line("stream.csv", f"--replicas 2 --routing least-loaded {DECAY}")
    yield line("seconds.csv", f"--pools 1:1 {DECAY} {GPU}")
    yield line("stream.csv", f"--patience 60 {DECAY}")
    yield line("stream.csv", "--replicas 2 --patience 60 --queue-limit 5")
    yield line("stream.csv", f"--concurrency 6 {DECAY}")
    yield line("intervals.csv", OWN_GPU)
    yield line("priorities.csv")
    yield line("crowd.csv", "--bound fluid")
    yield line("crowd.csv", DECAY)
    yield line("crowd_seconds.csv", f"{GPU} --bound srpt")
    for params in PARAMS[key]:
        given = " ".join(f"--param {key}.{param}" for param in params.split())
        brief = ""
        yield line("backlog.csv", given)
        yield line("stream.csv", f"{given} {DECAY}")
        yield line("seconds.csv", f"{given} {GPU}")


def _simulate() -> Iterator[str]:
    yield "simulate six.csv -M 10"
    yield "simulate six.csv -M 10 --format json"
    yield f"simulate stream.csv -M 6000 {SOME} --per-request rows.csv"
    yield f"simulate stream.csv -M 6000 {SOME} --bound fluid --bound prices"
    yield f"simulate seconds.csv -M 6000 {GPU} {SOME} --bound srpt --bound prices"
    yield f"simulate seconds.csv -M 6000 {GPU} --replicas 3 {SOME} --bound srpt --format json"
    yield f"simulate tiny.csv -M 20 {SOME} --bound lp --bound hindsight --format json"
    yield f"simulate stream.csv -M 6000 --replicas 2 {SOME} --bound fluid --bound prices"
    yield f"simulate stream.csv -M 6000 --round-seconds 0.5 {SOME} --format json"
    yield f"simulate azure.csv -M 6000 {SOME}"
    yield f"simulate azure.csv -M 6000 --round-seconds 0.05 {SOME} --format json"
    yield f"simulate stream.csv -M 2000 {SOME} --format json"
    yield "simulate stream.csv -M 6000 --policy alpha-beta --seed 9 --format json"
    yield f"simulate predicted.csv -M 6000 {SOME} --policy a-max --per-request rows.csv"
    yield f"simulate stream.csv -M 6000 --concurrency 4 {SOME} --bound fluid"
    yield f"simulate stream.csv -M 6000 --patience 60 {SOME} --bound fluid --per-request rows.csv"
    yield f"simulate stream.csv -M 6000 --max-model-len 3000 {SOME} --bound fluid"
    for model in PREDICTIONS:
        yield f"simulate stream.csv -M 6000 --predict {model} {SOME} --policy a-min --format json"
    for gpu in ("llama-3-8b-h100", "mc-sf-paper", "wait-paper"):
        yield f"simulate seconds.csv -M 6000 --clock seconds --hardware {gpu} {SOME} --format json"


def _bound() -> Iterator[str]:
    for method in ("fluid", "prices", "lp", "hindsight"):
        yield f"bound tiny.csv -M 20 --method {method} --format json"
    for method in ("fluid", "prices"):
        for file in ("backlog", "stream"):
            told = f"bound {file}.csv -M 6000 --method {method}"
            yield f"{told} --format json"
            yield f"{told} --preemptive --format json"
            yield f"{told} --certificate proof.json && verify proof.json {file}.csv"
    yield "bound six.csv -M 10 --method lp --method fluid --preemptive"
    yield "bound six.csv -M 10 --method lp --certificate p.json && verify p.json six.csv"
    yield "bound stream.csv -M 6000"
    yield "bound stream.csv -M 6000 --max-model-len 3000 --format json"
    for file in ("backlog", "seconds"):
        for gpu in (GPU, OWN_GPU):
            for method in ("srpt", "prices"):
                yield f"bound {file}.csv -M 6000 {gpu} --method {method} --format json"
            yield (
                f"bound {file}.csv -M 6000 {gpu} --method prices --certificate proof.json "
                f"--format json && verify proof.json {file}.csv "
                f"&& verify proof.json {file}.csv --format json"
            )
    yield f"bound seconds.csv -M 6000 {GPU}"
    yield "bound six.csv -M 10 --certificate proof.json && verify proof.json tiny.csv"


def _generate() -> Iterator[str]:
    yield "generate -o drawn.csv"
    yield "generate --n 300 --seed 7 -o drawn.csv"
    yield "generate --n 300 --mix short=0.5,long=0.2,conversation=0.2,code=0.1 -o drawn.csv"
    yield "generate --n 300 --arrivals poisson --rate 0.5 -o drawn.csv"
    yield "generate --n 300 --arrivals gamma --rate 0.5 --burstiness 5 -o drawn.csv"
    yield "generate --n 300 --arrivals on-off --period 500 --on-share 0.1 -o drawn.csv"
    yield "generate --horizon 2000 --arrivals poisson --rate 0.2 --mix code=1 -o drawn.csv"
    for model in PREDICTIONS:
        yield f"generate --n 100 --seed 2 --predict {model} -o drawn.csv"


def _import() -> Iterator[str]:
    for log in LOGS:
        yield f"import logs/{log} -o read.csv --format json"
    yield "import azure.csv"
    yield "import azure.csv -o read.csv --memory 1000"
    yield "import azure.csv --window 10:50 --sample 0.5 --jitter --seed 4 -o read.csv --format json"
    yield "import azure.csv --strict"
    yield "import measured.csv -o read.csv"
    yield "import benchmark.json -o read.csv --format json"
    named = "--map arrival=moment --map class=what --map prompt=question --map output=reply"
    yield f"import own_names.csv {named} --time-unit ms -o read.csv --format json"
    yield "import predicted.csv -o read.csv --format json"
    yield "import priorities.csv -o read.csv --format json"


def _audit() -> Iterator[str]:
    yield "audit stream.csv -M 6000 --window-requests 20 --format json"
    yield f"audit stream.csv -M 6000 {SOME} --window-requests 20"
    yield f"audit stream.csv -M 6000 {SOME} --bound prices --window-requests 20 --format json"
    yield f"audit stream.csv -M 6000 {SOME} --window-requests 10 --windows 2 --seed 5 --format json"
    yield f"audit stream.csv -M 6000 {SOME} --replicas 2 --window-requests 20 --format json"
    yield f"audit stream.csv -M 6000 {SOME} --concurrency 6 --window-requests 20 --format json"
    yield "audit backlog.csv -M 6000 --policy reverse --window-requests 20 --threshold 0.1"
    yield "audit backlog.csv -M 6000 --policy svf --param svf.skip=3 --threshold 500 --format json"
    yield f"audit measured.csv -M 6000 {SOME} --window-requests 20 {GPU} --format json"
    yield f"audit measured.csv -M 6000 {SOME} --window-requests 20 {OWN_GPU}"
    yield f"audit measured.csv -M 6000 {SOME} --window-requests 20"
    yield f"audit azure.csv -M 3000 {SOME} --round-seconds 0.05 --window-requests 20 --format json"
    yield f"audit seconds.csv -M 6000 {SOME} --pools 1:1 --window-requests 20 {GPU} --format json"


def _capacity() -> Iterator[str]:
    rounds = "capacity -M 8000 --n 120 --seeds 2"
    seconds = f"capacity -M 8000 --n 120 --rate 1.6 --seeds 2 {GPU}"
    yield f"{rounds} {SOME}"
    yield f"{rounds} {SOME} --format json"
    yield f"{rounds} {SOME} --arrivals gamma --burstiness 4 --seed 6 --format json"
    yield f"{rounds} {SOME} --slo-latency 3000 --percentile 90 --load 0.3 --format json"
    yield f"{rounds} --policy svf --load 0.3 --price 3 --gpus 2"
    yield f"{rounds} {SOME} --predict lognormal:spread=0.8 --format json"
    yield f"{rounds} --policy svf --param svf.skip=3 --format json"
    yield f"{rounds} {SOME} --replicas 2 --format json"
    yield f"{rounds} --policy svf --rate 5000 --format json"
    yield f"{seconds} {SOME} --format json"
    yield f"{seconds} {SOME} --slo-ttft 10 --slo-ttft short=8 --slo-tpot 0.2 --load 4 --format json"
    yield f"{seconds} {SOME} --slo-ttft 10 --load 4 --price 2.5"
    yield f"{seconds} --policy svf --pools 1:1 --load 4 --format json"
    yield f"{seconds} --policy vllm --policy sarathi --replicas 2 --load 6 --format json"
    yield f"capacity crowd.csv -M 6000 {SOME} --format json"
    yield f"capacity crowd_seconds.csv -M 6000 {SOME} {OWN_GPU} --slo-ttft 20 --format json"


def _sweep() -> Iterator[str]:
    mix = "sweep --n 60 -M 6000"
    yield f"{mix} --knob memory=5000:20000:3 --knob rate=0.05,0.1 {SOME}"
    yield f"{mix} --knob memory=5000:20000:3 --knob rate=0.05,0.1 {SOME} --format json"
    yield f"{mix} --knob share=50,90 --knob n=40,80 {SOME} --format json"
    yield f"{mix} --knob error=0,0.5,1 {SOME} --policy a-min --format json"
    yield f"{mix} --knob width=0,1,2 --policy a-max --policy a-min --format json"
    yield f"{mix} --knob svf.skip=0,2,9 --knob svf.margin=0,0.2 --policy svf --format json"
    yield f"{mix} --knob vllm.watermark=0:0.1:3 --policy vllm --slo-ttft 50 --format json"
    yield f"{mix} --knob replicas=1,2 {SOME} --slo-latency short=500 --percentile 90 --format json"
    yield f"{mix} --rate 1.6 {GPU} --knob rate=0.8,1.6 --knob memory=5000,9000 {SOME} --format json"
    yield f"sweep stream.csv -M 6000 --knob rate=0.02,0.08 --knob memory=5000,9000 {SOME}"
    yield f"sweep seconds.csv -M 6000 {OWN_GPU} --knob replicas=1,2 {SOME} --format json"


def _uncertainty() -> Iterator[str]:
    mix = "uncertainty --n 40 -M 6000 --draws 2"
    for axis in ("error", "bias", "width", "margin"):
        yield f"{mix} --axis {axis}"
        yield f"{mix} --axis {axis} --format json"
        yield f"{mix} --axis {axis} --rate 1.6 {GPU} {SOME} --format json"
    yield f"{mix} --axis margin --predict interval:width=2 --seed 8 --format json"
    yield f"{mix} --axis bias --predict lognormal:spread=1 --policy wait --policy svf --format json"
    yield f"{mix} --axis margin --pairs pairs.csv --format json"
    yield f"{mix} --axis margin --pairs pairs.csv --policy svf --policy vllm"
    yield f"uncertainty predicted.csv -M 6000 --draws 2 --axis margin {SOME} --format json"
    yield f"uncertainty stream.csv -M 6000 --draws 2 --param svf.skip=3 {SOME} --format json"


def _calibrate() -> Iterator[str]:
    yield "calibrate benchmark.json"
    yield "calibrate benchmark.json --format json"
    served = "--models vllm --model llama-3-8b --gpu a100-80gb --tensor-parallel 2"
    yield (
        f"calibrate benchmark.json --save Mine {served} && hardware && simulate seconds.csv "
        f"-M 6000 --clock seconds --hardware Mine {SOME} --format json"
    )
    yield (
        "calibrate benchmark.json --save Mine --format json && hardware --rename Mine Yours "
        "--format json && hardware --delete Yours"
    )


def _report() -> Iterator[str]:
    yield f"report stream.csv -M 6000 {SOME} --output page.html"
    yield f"report -M 6000 --n 40 --rate 1.6 {GPU} {SOME} --bound srpt -o page.html"
    yield f"audit stream.csv -M 6000 {SOME} --window-requests 20 --report page.html"


def _lists() -> Iterator[str]:
    for listing in ("policies", "hardware"):
        yield listing
        yield f"{listing} --format json"


def _errors() -> Iterator[str]:
    """Bad input: one sentence and exit code 2, or 1 where a certificate does not hold."""
    yield from (f"simulate {file} -M 6000" for file in ("none.csv", "nothing.csv", "negative.csv"))
    yield "simulate columns.csv -M 6000"
    yield "simulate stream.csv"
    for bad in (
        "-M 0", "-M 2.5", "-M many", "-M 1", "-M 6000 --policy best", "-M 6000 --bound best",
        "-M 6000 --policy svf --param svf.skip=-1", "-M 6000 --policy svf --param svf.jump=1",
        "-M 6000 --policy svf --param fcfs.skip=1", "-M 6000 --param skip", "-M 6000 --seed -1",
        "-M 6000 --clock seconds", "-M 6000 --hardware llama-2-70b-a100-tp4",
        "-M 6000 --clock seconds --hardware mine", "-M 6000 --clock seconds --coefficients c1=1",
        f"-M 6000 {GPU} --round-seconds 2", f"-M 6000 {GPU} --bound lp", "-M 6000 --bound srpt",
        "-M 6000 --replicas 0", "-M 6000 --replicas 2 --routing best", "-M 6000 --pools 1",
        "-M 6000 --pools 1:1 --replicas 2", "-M 6000 --transfer 1", "-M 6000 --concurrency -1",
        "-M 6000 --concurrency 4 --replicas 2", "-M 6000 --patience -1",
        "-M 6000 --queue-limit 0.5",
        "-M 6000 --max-model-len 1", "-M 6000 --predict best", "-M 6000 --predict lognormal:bias=0",
        "-M 6000 --per-request stream.csv", "-M 6000 --per-request no/rows.csv",
        "-M 6000 --nonsense", "-M 6000 --round-seconds 0",
    ):  # fmt: skip
        yield f"simulate stream.csv {bad}"
    yield "bound stream.csv -M 6000 --method best"
    yield f"bound stream.csv -M 6000 {GPU} --method fluid"
    yield "bound stream.csv -M 6000 --time-limit -1 --method prices"
    yield "verify stream.csv stream.csv"
    yield "generate --n 0 -o drawn.csv"
    yield "generate --n 5 --horizon 5 -o drawn.csv"
    yield "generate --rate 1 -o drawn.csv"
    yield "generate --mix other=1 -o drawn.csv"
    yield "import nothing.csv"
    yield "import columns.csv --map when=arrival"
    yield "import azure.csv --window later"
    yield "import azure.csv --sample 0"
    yield "audit stream.csv -M 6000 --window-requests 0"
    yield "audit stream.csv -M 6000 --threshold -1"
    yield "capacity -M 8000 --concurrency 4"
    yield "capacity -M 8000 --policy hindsight"
    yield "capacity stream.csv -M 8000 --rate 1"
    yield "capacity -M 8000 --slo-ttft soon"
    yield "sweep -M 8000 --knob nothing=1"
    yield "sweep -M 8000 --knob memory"
    yield "sweep -M 8000 --knob memory=5:1:3"
    yield "uncertainty -M 8000 --axis other"
    yield "uncertainty -M 8000 --draws 0"
    yield "uncertainty -M 8000 --pairs stream.csv"
    yield "calibrate stream.csv"
    yield "calibrate benchmark.json --model other"
    yield "hardware --delete wait-paper"
    yield "report stream.csv -M 6000 --policy svf -o no/page.html"
