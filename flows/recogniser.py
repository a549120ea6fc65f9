"""The model that reads what is private: how it is reached, and what it may be shown (law 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from anonymization.recogniser.contracts import (
    Answer,
    RecogniserAnswer,
    RecogniserConfig,
    Reply,
    Request,
    SecondAnswer,
    Unread,
)
from construction.judging.calls.contracts import (
    Answered,
    CallReason,
    LlmRuntime,
    Mode,
    Outcome,
    Question,
    Usage,
)
from construction.judging.settings import ModelCalls, ModelConfig, client_config
from data.contracts import Scalar
from data.errors import ConfigError

if TYPE_CHECKING:
    from construction.judging.llm import Client

_PROMPT = "recogniser"  # the stage of its questions


class _Recogniser:
    """Asks the model, and knows how many calls had no answer, and the digest of the replies."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls = 0
        self.unread: Counter[str] = Counter()  # by reason
        self.usage = Usage()

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """The replies to requests, in their order."""
        replies: list[Reply] = []
        for outcome in self._client.ask([_question(request) for request in requests]):
            self.calls += 1
            self.usage += outcome.usage
            answer = _usable(outcome)
            if answer is not None:
                replies.append(answer)
                continue
            reason = CallReason.INVALID if isinstance(outcome, Answered) else outcome.reason
            self.unread[reason] += 1
            replies.append(Unread(reason))
        return replies

    def replies_digest(self) -> str:
        """The digest of all replies: the same live and replayed."""
        return self._client.replies_digest()

    def costs(self, model: str) -> list[dict[str, Scalar]]:
        """How many calls there were, and the tokens that they took when they were made."""
        row: dict[str, Scalar] = {
            "stage": "recognise",
            "judge": f"model:{model}",
            "items": self.calls,
            "errors": self.unread.total(),
            "unrecorded": self.unread[CallReason.UNRECORDED],
            "prompt_tokens": self.usage.prompt_tokens,
            "completion_tokens": self.usage.completion_tokens,
            "cost": 0.0,
            "left_out": "",
        }
        return [row]

    @property
    def line(self) -> str:
        """How the calls went, in one line."""
        reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(self.unread.items()))
        rest = f"; evidence alone decided about the others ({reasons})" if reasons else ""
        return (
            f"recogniser: {self.calls - self.unread.total()} of {self.calls} calls answered{rest}"
        )


@contextmanager
def recogniser(
    config: RecogniserConfig,
    calls: ModelCalls,
    endpoint: LlmRuntime,
    store: Path,
    *,
    is_public: bool = False,
) -> Iterator[_Recogniser]:
    """The recogniser of a configuration; `store` is the private folder that keeps its replies.

    Raises ConfigError for a model at another address than the loopback, which would see originals
    that are not public.
    """
    from construction.judging.calls.store import add_recorded
    from construction.judging.llm import Client  # imports openai: two seconds, only with a model

    _require_loopback(endpoint, is_shown=is_public or calls.mode is Mode.REPLAY)
    is_batch = calls.mode is Mode.BATCH
    own = calls.model_copy(update={"mode": Mode.RECORD} if is_batch else {})
    settings = client_config(ModelConfig(name=config.model), own)
    if calls.recorded is not None:
        add_recorded(store, calls.recorded)
    with Client(settings, endpoint, store, masked=is_public) as client:
        yield _Recogniser(client)


def _usable(outcome: Outcome) -> Answer | None:
    """The answer, unless its values had to be put right so far that it says nothing.

    An empty answer means that nothing in the texts is private: a broken one must not mean that. Of
    an answer to what was replaced, nothing that was put right says anything.
    """
    if isinstance(outcome, Answered) and isinstance(outcome.value, SecondAnswer):
        return outcome.value
    if not isinstance(outcome, Answered) or not isinstance(outcome.value, RecogniserAnswer):
        return None
    is_broken = any(place.startswith("values: ") for place in outcome.mended)
    is_empty = bool(outcome.mended) and not any(each.value for each in outcome.value.values)
    return None if is_broken or is_empty else outcome.value


def _question(request: Request) -> Question:
    return Question(
        request.item_id,
        _PROMPT,
        request.system,
        request.user,
        request.answer,
        request.max_tokens,
    )


def _require_loopback(endpoint: LlmRuntime, *, is_shown: bool) -> None:
    if is_shown or endpoint.is_loopback:
        return
    host = urlsplit(endpoint.base_url).hostname
    raise ConfigError(
        f"[runtime.recogniser] base_url: found {host}; expected a loopback address such as "
        "http://127.0.0.1:8000/v1, since the recogniser reads originals that are not public."
    )
