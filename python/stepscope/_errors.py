"""What the package raises and warns of."""

from __future__ import annotations


class StepscopeError(Exception):
    """Something could not be done; its text is the line that the program prints.

    Attributes:
        code: kind of failure: ``not_found``, ``not_recognised``, ``bad_input``, ``permission``,
            ``no_space``, ``limit``, ``changed``, ``cancelled``, ``unsupported`` or ``io``.
        what: what could not be done.
        where: file, and byte or line where there is one; may be empty.
        why: the reason; may be empty.
        remedy: what to do about it; may be empty.
    """

    def __init__(
        self, code: str, what: str, where: str, why: str, remedy: str, message: str
    ) -> None:
        # All of them as args, so that the exception survives pickling (multiprocessing).
        super().__init__(code, what, where, why, remedy, message)
        self.code = code
        self.what = what
        self.where = where
        self.why = why
        self.remedy = remedy
        self._message = message

    def __str__(self) -> str:
        return self._message


class StepscopeWarning(UserWarning):
    """A run was opened, but not all is as hoped: a rank could not be read, a store was rebuilt."""
