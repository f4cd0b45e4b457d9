"""Tables of a run and answers of queries, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from stepscope._column import Column

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from stepscope._native import NativeColumn

_SHOWN_ROWS = 20
_SHOWN_WIDTH = 40


class Table(Mapping[str, "NDArray[Any]"]):
    """Column names mapped to NumPy arrays of equal length.

    ========  ==============================  =================================================
    column    ``table[name]``                 with NULLs
    ========  ==============================  =================================================
    integer   ``int64``                       ``numpy.ma.MaskedArray`` of ``int64``
    float     ``float64``                     ``numpy.ma.MaskedArray``, NaN below the mask
    boolean   ``bool``                        ``numpy.ma.MaskedArray`` of ``bool``
    text      ``object``, elements ``str``    ``None`` in place of the text
    ========  ==============================  =================================================

    Numbers are not copied: an array owns the buffer that its column was decoded into, and may
    outlive the table and the run. Text is kept as codes into its different values (see ``codes``
    and ``categories``), which is what to work with where there are millions of rows. Integers that
    do not fit 64 bits (only sums can be) make an ``object`` array of ``int``.
    """

    def __init__(self, num_rows: int, columns: list[NativeColumn]) -> None:
        self._num_rows = num_rows
        self._columns = {native[0]: Column(native) for native in columns}

    @property
    def num_rows(self) -> int:
        """Number of rows; ``len(table)`` is the number of columns, as of any mapping."""
        return self._num_rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._columns)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name].to_numpy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def codes(self, name: str) -> NDArray[np.int32]:
        """A text column as positions in ``categories(name)``; -1 for NULL. Not copied."""
        return self._columns[name].codes

    def categories(self, name: str) -> NDArray[Any]:
        """The different values of a text column, in order of first use."""
        return self._columns[name].categories

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame: text as ``Categorical``, integers and booleans with NULLs as ``Int64`` and
        ``boolean``, floats with NaN for NULL. Numbers are not copied where pandas allows it."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(_missing("to_pandas", "pandas")) from error
        frame = pd.DataFrame(
            {name: column.to_pandas() for name, column in self._columns.items()},
            index=pd.RangeIndex(self._num_rows),
            copy=False,
        )
        return frame

    def to_arrow(self) -> pa.Table:
        """An Arrow table: text as dictionary arrays. Numbers without NULLs are not copied."""
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError(_missing("to_arrow", "pyarrow")) from error
        names = list(self._columns)
        return pa.table([self._columns[name].to_arrow() for name in names], names=names)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For polars, DuckDB and whatever else reads Arrow data in memory. Needs pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pylist(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The rows, or the first ``limit``, as dicts of plain Python values; None for NULL."""
        values = [column.to_pylist(limit) for column in self._columns.values()]
        return [dict(zip(self._columns, row)) for row in zip(*values)]

    def __repr__(self) -> str:
        rows = f"{self._num_rows:,} row{'' if self._num_rows == 1 else 's'}"
        return f"<stepscope.Table: {rows}, columns {', '.join(self._columns)}>"

    def __str__(self) -> str:
        """The first rows, aligned, for people."""
        columns = [column.to_pylist(_SHOWN_ROWS) for column in self._columns.values()]
        cells = [[name, *map(_cell, values)] for name, values in zip(self._columns, columns)]
        widths = [max(map(len, column)) for column in cells]
        right = [not column.is_text for column in self._columns.values()]
        lines = [
            "  ".join(
                text.rjust(width) if to_right else text.ljust(width)
                for text, width, to_right in zip(row, widths, right)
            ).rstrip()
            for row in zip(*cells)
        ]
        if self._num_rows > _SHOWN_ROWS:
            lines.append(f"... {_SHOWN_ROWS} of {self._num_rows:,} rows")
        return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    text = f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).splitlines())
    return text if len(text) <= _SHOWN_WIDTH else text[: _SHOWN_WIDTH - 3] + "..."


def _missing(method: str, package: str) -> str:
    return (
        f"Table.{method}() needs {package}, which is not installed: "
        f"pip install {package} (or pip install 'stepscope[tables]')"
    )
