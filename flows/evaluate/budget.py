"""What a run and each of its attempts may spend: nothing begins that might exceed it.

Before a call of the model its worst case is set aside, and afterwards what it really took is
booked. A call waits while others are under way that may give something back; where nothing more can
come back, the attempt ends. The model's requests pass here one by one, retries too, below
everything that Inspect does with them; each is kept, and never paid twice.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import orjson
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import Tool, ToolChoice, ToolDef, ToolError, ToolInfo
from inspect_ai.util import LimitExceededError

from data.attempts import RUN_BUDGET_SPENT
from data.canonical import canonical_json, digest
from data.endpoints import Journal, ModelPrice, Tokens, keys_in, read_prices, without_keys
from data.errors import InputError
from data.neutralise import storable_tree

_DEFAULT_REPLY_TOKENS = 4096  # the most of one reply, where a budget is given and nothing else is
_DEFAULT_CALLS = 1000  # the most calls of tools that one attempt makes
_MOST_DOLLARS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens of all kinds, and US dollars."""

    tokens: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.tokens - other.tokens, self.cost - other.cost)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None is without limit."""

    tokens: int | None = None
    cost: Decimal | None = None

    def holds(self, amount: Amount) -> bool:
        return (self.tokens is None or amount.tokens <= self.tokens) and (
            self.cost is None or amount.cost <= self.cost
        )

    def __bool__(self) -> bool:
        return self.tokens is not None or self.cost is not None


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may spend, and what its model costs.

    `reply_tokens` is the most of one reply, None for whatever the model does; `calls` is the most
    calls of tools in one attempt. `price_date` is None without a price.
    """

    run: Budget = Budget()
    attempt: Budget = Budget()
    reply_tokens: int | None = None
    calls: int = _DEFAULT_CALLS
    price: ModelPrice | None = None
    price_date: str | None = None

    def amount(self, tokens: Tokens) -> Amount:
        """What was used."""
        return Amount(tokens.total, self.price.cost(tokens) if self.price else Decimal(0))

    def most(self, tokens: Tokens) -> Amount:
        """What at most these tokens can take."""
        return Amount(tokens.total, self.price.most(tokens) if self.price else Decimal(0))


def spending_of(
    model: str | None,
    run: Budget,
    attempt: Budget,
    reply_tokens: int | None,
    prices: Path | None,
    calls: int | None = None,
) -> Spending:
    """What a run may spend. Raises InputError for a limit that cannot be kept."""
    if model is None and (run or attempt or reply_tokens or prices or calls):
        raise InputError(
            "evaluate", "a budget or prices", "none for an agent that uses no model",
            "Leave them out, or add a model.",
        )  # fmt: skip
    price_list = read_prices(prices) if prices is not None else None
    price = price_list.models.get(model or "") if price_list is not None else None
    in_dollars = run.cost is not None or attempt.cost is not None
    if price is None and (in_dollars or prices is not None):
        raise InputError(
            str(prices or "evaluate"), f"no price for {model}", "its price per million tokens",
            "Pass a file with its price: --prices FILE (see docs/run.md for an example).",
        )  # fmt: skip
    return Spending(
        run,
        attempt,
        reply_tokens or (_DEFAULT_REPLY_TOKENS if run or attempt else None),
        calls or _DEFAULT_CALLS,
        price,
        str(price_list.date) if price_list is not None else None,
    )


def dollars(text: str | None, option: str) -> Decimal | None:
    """An amount of money. Raises InputError."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 < amount <= _MOST_DOLLARS:
        raise InputError(
            option,
            repr(text),
            f"US dollars above 0 and at most {_MOST_DOLLARS:,}, such as 2.50",
            "Correct it.",
        )
    return amount


class _BudgetSpent(Exception):
    """The worst case of the next call does not fit; `whole_run` tells whose budget it is."""

    def __init__(self, *, whole_run: bool) -> None:
        super().__init__(RUN_BUDGET_SPENT if whole_run else "the budget of the attempt is spent")
        self.whole_run = whole_run


@dataclass
class Purse:
    """The budgets of a run that is under way. `spent` is what each attempt spent before."""

    spending: Spending
    spent: Mapping[str, Amount]
    _of: dict[str, Amount] = field(init=False)
    _total: Amount = field(init=False)
    _under_way: int = field(init=False, default=0)
    _changed: asyncio.Event = field(init=False, default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._of = defaultdict(Amount, self.spent)
        self._total = sum(self.spent.values(), Amount())

    async def set_aside(self, attempt: str, worst: Amount) -> None:
        """Reserve the worst case of a call. Raises BudgetSpent."""
        if not self.spending.attempt.holds(self._of[attempt] + worst):
            raise _BudgetSpent(whole_run=False)
        while not self.spending.run.holds(self._total + worst):
            if not self._under_way:
                raise _BudgetSpent(whole_run=True)
            await self._changed.wait()
        self._under_way += 1
        self._book(attempt, worst)

    def settle(self, attempt: str, worst: Amount, used: Amount) -> None:
        """Book what a call took instead of its worst case."""
        self._under_way -= 1
        self._book(attempt, used - worst)
        self._changed.set()
        self._changed = asyncio.Event()

    def _book(self, attempt: str, amount: Amount) -> None:
        self._of[attempt] += amount
        self._total += amount


_Generate = Callable[..., Awaitable[Any]]  # what a provider of Inspect makes requests with
_MOST_TOKENS = 1 << 40  # what a reply can have taken: anything above is a mistake
_UNBOUNDED_REPLY = 131_072  # tokens: what a reply without a limit is taken for
_PER_MESSAGE, _PER_REQUEST = 16, 1000  # tokens that a template or a provider may add
_NEVER_REACHED = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})  # of httpx
_TRANSPORT = {
    "max_connections",
    "adaptive_connections",
    "max_retries",
    "timeout",
    "attempt_timeout",
}
_ERRORS = {"ToolError": ToolError, "TimeoutError": TimeoutError}
_CALLS_SPENT = "the calls of tools of the attempt are spent"
ACCOUNT: ContextVar[Account] = ContextVar("account")


class Account:
    """One attempt's spending. `stopped` says which budget ended it, if one did.

    `repeated` counts the requests that were made again because they had failed; `failure` is the
    error of the last one, None where it was answered.
    """

    def __init__(self, name: str, purse: Purse, journal: Journal) -> None:
        self.name, self.journal = name, journal
        self.stopped: _BudgetSpent | None = None
        self.repeated = 0
        self.failure: Exception | None = None
        self._failed = ""  # the request that failed last
        self._purse = purse
        self._calls = 0  # of tools, that were begun
        self._before: list[str] = []  # digests of the last request and its reply
        self._tokens_before = 0  # which these took together

    async def generate(
        self,
        ask: _Generate,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> Any:
        """The reply that is kept, or a new one within the budget. Raises LimitExceededError."""
        self._check_calls(input)
        messages = [digest(_content(message)) for message in input]
        schemas = [tool.model_dump(mode="json", exclude_none=True) for tool in tools]
        settings = config.model_dump(mode="json", exclude=_TRANSPORT, exclude_none=True)
        request = digest([messages, schemas, str(tool_choice), settings])
        kept = self.journal.reply(request)
        if kept is not None:
            output = ModelOutput.model_validate(kept)
            self._remember(messages, output)
            return output
        worst = Tokens(
            input=self._most_input(input, messages, schemas),
            output=config.max_tokens or _UNBOUNDED_REPLY,
        )
        output = await self._paid(
            lambda: ask(input=input, tools=tools, tool_choice=tool_choice, config=config),
            request,
            worst,
        )
        self._remember(messages, output)
        return output

    def _check_calls(self, messages: Sequence[ChatMessage]) -> None:
        """Raise LimitExceededError where more calls were asked for than an attempt may make."""
        most = self._purse.spending.calls
        n_calls = sum(
            len(message.tool_calls or ())
            for message in messages
            if isinstance(message, ChatMessageAssistant)
        )
        if n_calls > most:
            raise LimitExceededError("custom", value=n_calls, limit=most, message=_CALLS_SPENT)

    async def _paid(
        self, ask: Callable[[], Awaitable[Any]], request: str, worst: Tokens
    ) -> ModelOutput:
        """Make a request whose worst case fits the budget, and keep its reply.

        What is returned is what was kept: what no file can hold, such as half of a character, would
        end the run, and a run that goes on would see something else.
        """
        at_most = await self._set_aside(worst)
        self.repeated += request == self._failed
        used = at_most  # of a call without an end, which may have been billed
        number = 0
        try:
            number = self.journal.begin(request, worst)
            started = time.monotonic()
            output = _output(await ask())
            if not _is_plausible(output.usage):
                output.usage = None
            tokens = tokens_of(output.usage) if output.usage else worst
            used = self._purse.spending.amount(tokens)
            given = output.model_dump(mode="json", exclude_none=True)
            content = storable_tree(without_keys(given, keys_in(os.environ)))
            output = ModelOutput.model_validate(content)
            self.journal.keep(number, content, tokens, round(time.monotonic() - started, 3))
        except Exception as error:
            self._failed, self.failure = request, error
            if number == 0:
                used = Amount()
            elif _is_refusal(error):
                used = Amount()
                self.journal.free(number)
            raise
        finally:
            self._purse.settle(self.name, at_most, used)
        self.failure = None
        return output

    async def _set_aside(self, worst: Tokens) -> Amount:
        at_most = self._purse.spending.most(worst)
        try:
            await self._purse.set_aside(self.name, at_most)
        except _BudgetSpent as error:
            self.stopped = error
            raise LimitExceededError("custom", value=0, limit=0, message=str(error)) from error
        return at_most

    def _most_input(
        self, input: Sequence[ChatMessage], messages: Sequence[str], schemas: Sequence[object]
    ) -> int:
        """Tokens that a request can take at most: a token is a byte at least.

        A request that continues the last one takes no more than that did, and what is new.
        """
        known = len(self._before)
        if known and list(messages[:known]) == self._before:
            new, tokens = input[known:], self._tokens_before
        else:
            new, tokens = input, _PER_REQUEST + len(canonical_json(list(schemas)))
        return tokens + sum(_PER_MESSAGE + len(orjson.dumps(_content(item))) for item in new)

    def _remember(self, messages: Sequence[str], output: ModelOutput) -> None:
        if output.usage is not None and output.choices:
            self._before = [*messages, digest(_content(output.choices[0].message))]
            self._tokens_before = tokens_of(output.usage).total

    def shown(self, tool: Tool) -> Tool:
        """The tool, which shows what it showed before where this attempt was cut off.

        Calls beyond the limit do nothing: one reply of a model may ask for any number of them.
        """
        known = ToolDef(tool)

        async def execute(**arguments: object) -> object:
            self._calls += 1
            if self._calls > self._purse.spending.calls:
                raise ToolError(_CALLS_SPENT)
            key = digest([known.name, _plain(arguments)])
            before = self.journal.result(key)
            try:
                result = await tool(**arguments)
                shown: dict[str, Any] = {"result": result} if isinstance(result, str) else {}
            except (ToolError, TimeoutError) as error:
                shown = {"error": [type(error).__name__, str(error)]}
            if before is None:
                if not shown:
                    return result
                self.journal.keep_result(key, shown)
                before = shown
            if "error" in before:
                kind, message = before["error"]
                raise _ERRORS[kind](message)
            return before["result"]

        return ToolDef(
            execute,
            name=known.name,
            description=known.description,
            parameters=known.parameters,
            parallel=known.parallel,
            viewer=known.viewer,
            model_input=known.model_input,
            max_output=known.max_output,
            options=known.options,
        ).as_tool()


def paid(model: Model) -> Model:
    """The model with every request on the account of the attempt that makes it."""
    ask: _Generate = model.api.generate

    async def generate(**request: Any) -> Any:
        return await ACCOUNT.get().generate(ask, **request)

    vars(model.api)["generate"] = generate
    client: Any = getattr(model.api, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0  # each try is a request, and Inspect tries again
    return model


def _content(message: ChatMessage) -> dict[str, Any]:
    """What a message says, without what only tells it from another one."""
    content: dict[str, Any] = storable_tree(
        message.model_dump(mode="json", exclude={"id", "metadata", "source"}, exclude_none=True)
    )
    return content


def _plain(arguments: object) -> Any:
    return orjson.loads(orjson.dumps(arguments, default=str))


def _output(reply: Any) -> ModelOutput:
    """What a provider replied, alone or with the call that it made. Raises the error it may be."""
    output = reply[0] if isinstance(reply, tuple) else reply
    if isinstance(output, Exception):
        raise output
    assert isinstance(output, ModelOutput)
    return output


def tokens_of(usage: ModelUsage) -> Tokens:
    """What a reply says that it took.

    Tokens that only the total counts, such as those of reasoning, are billed as output.
    """
    tokens = Tokens(
        usage.input_tokens,
        usage.input_tokens_cache_read or 0,
        usage.input_tokens_cache_write or 0,
        usage.output_tokens,
    )
    return tokens + Tokens(output=max(0, usage.total_tokens - tokens.total))


def _is_plausible(usage: ModelUsage | None) -> bool:
    """Does a reply say nothing of what it took, or numbers that can be counted?"""
    return usage is None or all(
        0 <= number <= _MOST_TOKENS for number in asdict(tokens_of(usage)).values()
    )


def _is_refusal(error: BaseException) -> bool:
    """Did the server answer with an error, or was it never reached? Then nothing was billed.

    Silence, or a reply that breaks off, may have been.
    """
    if isinstance(getattr(error, "status_code", getattr(error, "code", None)), int):
        return True
    return type(error).__name__ in _NEVER_REACHED or (
        error.__cause__ is not None and _is_refusal(error.__cause__)
    )
