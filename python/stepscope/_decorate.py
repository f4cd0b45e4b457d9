"""The decorator form of `record_function`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope._record import record_function


def recorded(scope: record_function, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, every call of it recorded as a range of `scope`'s name."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with scope:
            return function(*args, **kwargs)

    return call
