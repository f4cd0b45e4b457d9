"""The decorator form of `record_function`.

Calling a coroutine function or a generator function only makes an object; what takes time is
running it. A coroutine is one range, from its first step to its end, with what it waits for: tasks
that take turns overlap. A generator is a range for each time it runs, from being asked to giving:
what its consumer does in between is not its time.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope._record import record_function

_Function = Callable[..., Any]


def recorded(scope: record_function, function: _Function) -> _Function:
    """`function`, every run of it recorded as a range of `scope`'s name."""
    if inspect.iscoroutinefunction(function):
        return _coroutine(scope, function)
    if inspect.isasyncgenfunction(function):
        return _async_generator(scope, function)
    if inspect.isgeneratorfunction(function):
        return _generator(scope, function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with scope:
            return function(*args, **kwargs)

    return call


def _coroutine(scope: record_function, function: _Function) -> _Function:
    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        start = scope.begin()
        try:
            return await function(*args, **kwargs)
        finally:
            scope.end(start)

    return call


def _generator(scope: record_function, function: _Function) -> _Function:
    @functools.wraps(function)
    def generate(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        run, given = generator.send, None
        while True:
            try:
                with scope:
                    item = run(given)
            except StopIteration as end:
                return end.value
            try:
                given = yield item
                run = generator.send
            except GeneratorExit:
                with scope:
                    generator.close()
                raise
            except BaseException as error:
                run, given = generator.throw, error

    code = getattr(function, "__code__", None)
    if code and code.co_flags & inspect.CO_ITERABLE_COROUTINE:  # of types.coroutine: is awaited
        awaited: _Function = types.coroutine(generate)
        return awaited
    return generate


def _async_generator(scope: record_function, function: _Function) -> _Function:
    @functools.wraps(function)
    async def generate(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        generator = function(*args, **kwargs)
        run, given = generator.asend, None
        while True:
            start = scope.begin()
            try:
                item = await run(given)
            except StopAsyncIteration:
                return
            finally:
                scope.end(start)
            try:
                given = yield item
                run = generator.asend
            except GeneratorExit:
                await generator.aclose()
                raise
            except BaseException as error:
                run, given = generator.athrow, error

    return generate
