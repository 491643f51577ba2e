"""What keeps requests from being served, whatever the policy: length, a full queue, patience."""

from __future__ import annotations

from dataclasses import dataclass

from engine import wording
from engine.fields import number_in

LONGEST_PATIENCE = 10**12  # clock units
LONGEST_QUEUE = 10**9  # requests
LONGEST_MODEL_LEN = 2 * 10**9  # tokens


@dataclass(frozen=True)
class AdmissionLimits:
    """The terms on which a server takes requests; each 0 where there is none.

    Attributes
    ----------
    patience : clock units; a client who has waited longer without having been admitted gives
        up. Who has been admitted once stays, also when preempted
    queue_limit : requests; one that comes while so many wait for their first admission is
        turned away
    max_model_len : tokens; longer requests, by s + o, are set aside before the run

    Raises
    ------
    InputError
        Naming the field and what it may be.
    """

    patience: float = 0.0
    queue_limit: int = 0
    max_model_len: int = 0

    def __post_init__(self) -> None:
        checked = {
            "patience": number_in("patience", self.patience, 0, LONGEST_PATIENCE),
            "queue_limit": number_in("queue limit", self.queue_limit, 0, LONGEST_QUEUE, whole=True),
            "max_model_len": number_in(
                "max_model_len", self.max_model_len, 0, LONGEST_MODEL_LEN, whole=True
            ),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def loses_requests(self) -> bool:
        """Whether requests that fit may leave unserved."""
        return bool(self.patience or self.queue_limit)

    def doubt(self, memory: int) -> str:
        """What a real server would say to it, with so many tokens of KV cache; mostly empty."""
        if self.max_model_len <= memory:
            return ""
        return (
            f"vLLM does not start with max_model_len = {wording.count(self.max_model_len)}, above "
            f"its KV cache of {wording.tokens(memory)}."
        )

    def __str__(self) -> str:
        return ", ".join(self.in_words()) or "open to all"

    def in_words(self) -> list[str]:
        """Its terms, in short phrases, for the caption of a scenario."""
        phrases = []
        if self.patience:
            phrases.append(f"patience {self.patience:g}")
        if self.queue_limit:
            phrases.append(f"queue of at most {wording.count(self.queue_limit)}")
        if self.max_model_len:
            phrases.append(f"max_model_len {wording.count(self.max_model_len)}")
        return phrases


NO_LIMITS = AdmissionLimits()
