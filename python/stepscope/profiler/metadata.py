"""What a program says about its own run: pairs that go into every run directory it makes."""

from __future__ import annotations

import json
import re
from typing import Any

from stepscope.profiler._log import logger

#: Bytes of keys and values together.
MAX_META_SIZE = 100 * 1024 * 1024

_SURROGATE = re.compile("[\ud800-\udfff]")


class Metadata:
    def __init__(self) -> None:
        self._pairs: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._bytes = 0

    def add(self, key: object, value: object) -> bool:
        """Keeps a text. False, and a line in the log, where that is not possible."""
        return self._is_text(key, value) and self._keep(key, value, value)

    def add_json(self, key: object, value: object) -> bool:
        """Keeps what a JSON text stands for."""
        if not self._is_text(key, value):
            return False
        try:
            # NaN and Infinity are Python's, not JSON's: other readers refuse a file that has them.
            parsed = json.loads(str(value), parse_constant=_refuse)
        except ValueError as error:
            logger.warning("metadata %r is not kept, its value is not JSON: %s", key, error)
            return False
        return self._keep(key, value, parsed)

    def pairs(self) -> dict[str, Any]:
        return dict(self._pairs)

    @staticmethod
    def _is_text(key: object, value: object) -> bool:
        if isinstance(key, str) and isinstance(value, str):
            if not _SURROGATE.search(key):  # of a file's name, for one: cannot be written
                return True
            logger.warning("metadata %r is not kept: its key is not Unicode", key)
            return False
        logger.warning("metadata %r is not kept: its key and its value must be strings", key)
        return False

    def _keep(self, key: object, text: object, value: Any) -> bool:
        key, text = str(key), str(text)
        added = len(key) + len(text) - self._sizes.get(key, 0)
        if self._bytes + added > MAX_META_SIZE:
            logger.warning("metadata %r is not kept: %d bytes are the limit", key, MAX_META_SIZE)
            return False
        if key in self._pairs:
            logger.warning("metadata %r is given again: the new value replaces the old one", key)
        self._bytes += added
        self._sizes[key] = len(key) + len(text)
        self._pairs[key] = value
        return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")
