"""One column of a Table, and its forms in NumPy, pandas and Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stepscope._native import NativeColumn


class Column:
    """Values as the native module handed them over, without a copy."""

    def __init__(self, native: NativeColumn) -> None:
        self.name, self.type, values, self.nulls, texts = native
        # Beyond 64 bits only Python's own integers are exact.
        self.values: NDArray[Any] = (
            values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
        )
        # One place more than there are texts: code -1, NULL, is then its None.
        self._texts: NDArray[Any] | None = None
        if texts is not None:
            self._texts = np.empty(len(texts) + 1, dtype=object)
            self._texts[:-1] = texts
        self._array: NDArray[Any] | None = None

    @property
    def is_text(self) -> bool:
        return self._texts is not None

    @property
    def categories(self) -> NDArray[Any]:
        """The different texts, in order of first use."""
        if self._texts is None:
            raise TypeError(f"column {self.name!r} is {self.type}, not text: it has no categories")
        return self._texts[:-1]

    @property
    def codes(self) -> NDArray[np.int32]:
        """Positions in ``categories``, -1 for NULL."""
        if self._texts is None:
            raise TypeError(f"column {self.name!r} is {self.type}, not text: it has no codes")
        return self.values

    def to_numpy(self) -> NDArray[Any]:
        """As Table documents it; made once."""
        if self._array is None:
            if self._texts is not None:
                self._array = self._texts[self.values]
            elif self.nulls is not None:
                self._array = np.ma.MaskedArray(self.values, mask=self.nulls)
            else:
                self._array = self.values
        return self._array

    def to_pandas(self) -> Any:
        import pandas as pd

        if self._texts is not None:
            return pd.Categorical.from_codes(self.codes, categories=pd.Index(self.categories))
        if self.nulls is None or self.type == "float64":  # NULL is NaN there already
            return self.values
        if self.type == "int64":
            return pd.arrays.IntegerArray(self.values, self.nulls)
        if self.type == "bool":
            return pd.arrays.BooleanArray(self.values, self.nulls)
        return np.where(self.nulls, None, self.values)

    def to_arrow(self) -> Any:
        import pyarrow as pa

        if self._texts is not None:
            codes = pa.array(self.codes, mask=self.codes < 0)
            return pa.DictionaryArray.from_arrays(codes, pa.array(self.categories, pa.string()))
        if self.type == "int128":
            digits = max((len(str(abs(value))) for value in self.values), default=1)
            wide = pa.decimal128(38, 0) if digits <= 38 else pa.decimal256(39, 0)
            return pa.array(self.to_pylist(), wide)
        return pa.array(self.values, mask=self.nulls)

    def to_pylist(self, limit: int | None = None) -> list[Any]:
        """The first values as Python's own, None for NULL."""
        values = self.values[:limit]
        plain: list[Any] = (values if self._texts is None else self._texts[values]).tolist()
        if self.nulls is None:
            return plain
        return [None if null else v for v, null in zip(plain, self.nulls[:limit].tolist())]
