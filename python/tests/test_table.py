"""What a Table is: types, NULLs, buffers, and its other forms."""

from __future__ import annotations

import builtins
import gc
import pathlib
import sys
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import stepscope

NULLS = """
select * from (values
  (1, 1.5::double, true, 'a'),
  (null, null, null, null),
  (3, 'nan'::double, false, 'b')
) as t(i, f, b, s)"""


def test_types_and_nulls(run: stepscope.Run) -> None:
    table = run.query(NULLS)
    assert table.num_rows == 3
    assert len(table) == 4
    integers, floats, bools = table["i"], table["f"], table["b"]
    assert isinstance(integers, np.ma.MaskedArray)
    assert integers.dtype == np.int64
    assert integers.sum() == 4
    assert isinstance(floats, np.ma.MaskedArray)
    assert floats.mask.tolist() == [False, True, False]
    assert np.isnan(floats.data).tolist() == [False, True, True]
    assert isinstance(bools, np.ma.MaskedArray)
    assert bools.dtype == np.bool_
    assert table["s"].tolist() == ["a", None, "b"]
    assert table.codes("s").tolist() == [0, -1, 1]
    assert table.categories("s").tolist() == ["a", "b"]
    assert table.to_pylist()[1] == {"i": None, "f": None, "b": None, "s": None}


def test_columns_without_nulls_are_plain_arrays(run: stepscope.Run) -> None:
    steps = run.steps
    assert type(steps["dur"]) is np.ndarray
    assert steps["dur"].dtype == np.int64
    assert type(run.query("select 1.5::double as f")["f"]) is np.ndarray


def test_nulls_of_stored_columns(run: stepscope.Run) -> None:
    kernels = run.table("kernels", columns=["bytes", "class", "op_type"])
    copies = ~np.ma.getmaskarray(kernels["bytes"])
    assert set(kernels["class"][copies]) == {"memory"}
    assert kernels["bytes"].sum() == run.query("select sum(bytes) as n from kernels")["n"][0]
    assert set(kernels["op_type"]) == {None}
    assert kernels.categories("op_type").size == 0


def test_numbers_are_not_copied(run: stepscope.Run) -> None:
    table = run.table("slices", columns=["ts", "name"])
    times = table["ts"]
    assert not times.flags.owndata
    assert times.base is not None
    assert np.shares_memory(times, table["ts"])
    assert np.shares_memory(table.codes("name"), table.codes("name"))
    address = times.__array_interface__["data"][0]
    assert table.to_arrow()["ts"].chunk(0).buffers()[1].address == address
    assert np.shares_memory(table.to_pandas()["ts"].to_numpy(), times)


def test_arrays_outlive_the_run(generated: pathlib.Path) -> None:
    run = stepscope.open(generated)
    table = run.table("slices", columns=["dur"])
    total = int(table["dur"].sum())
    durations = table["dur"]
    gone = weakref.ref(run)
    run.close()
    del run, table
    gc.collect()
    assert gone() is None
    assert int(durations.sum()) == total


def test_buffers_are_freed(run: stepscope.Run) -> None:
    def resident_kb() -> int:
        status = pathlib.Path("/proc/self/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    run.table("slices")
    before = resident_kb()
    for _ in range(50):
        run.table("slices")
    assert resident_kb() - before < 50_000  # one copy is 5 MB


def test_large_integers(run: stepscope.Run) -> None:
    largest = 2**63 - 1
    table = run.query(
        f"select {largest}::bigint as fits, {largest}::hugeint as narrowed, "
        f"sum(x) as wide, -sum(x) as negative from (values ({largest}), ({largest})) as t(x)"
    )
    assert table["fits"].dtype == table["narrowed"].dtype == np.int64
    assert table["fits"][0] == table["narrowed"][0] == largest
    assert table["wide"].dtype == object
    assert table["wide"][0] == 2 * largest
    assert table["negative"][0] == -2 * largest
    assert int(table.to_arrow()["wide"][0].as_py()) == 2 * largest
    assert table.to_pandas()["wide"][0] == 2 * largest
    some = run.query(f"select {largest}::hugeint * 2 as x union all select null order by x")
    assert some["x"].tolist() == [2 * largest, None]
    assert some.to_arrow()["x"].null_count == 1
    unsigned = run.query("select 18446744073709551615::ubigint as x")
    assert unsigned["x"][0] == 2**64 - 1


def test_mixed_text(run: stepscope.Run) -> None:
    table = run.query("select unnest(['', 'ß', '日本', 'a' || chr(0) || 'b', '']) as t")
    assert table["t"].tolist() == ["", "ß", "日本", "a\0b", ""]
    assert table.codes("t").tolist() == [0, 1, 2, 3, 0]


def test_other_sql_types(run: stepscope.Run) -> None:
    table = run.query("select 1.25::decimal(9,2) as d, date '2026-01-02' as day, [1, 2] as l")
    assert table["d"][0] == 1.25
    assert table["day"][0] == "2026-01-02"
    assert table["l"][0] == "[1, 2]"


def test_repeated_names_are_numbered(run: stepscope.Run) -> None:
    table = run.query("select 1 as id, 2 as id, 3 as id_2, 4 as id")
    assert table.columns == ("id", "id_3", "id_2", "id_4")
    assert [table[name][0] for name in table] == [1, 2, 3, 4]


def test_no_rows(run: stepscope.Run) -> None:
    table = run.query("select id, name, 1.5 as f, true as b from slices where false")
    assert table.num_rows == 0
    assert [table[name].shape for name in table] == [(0,)] * 4
    assert table.to_pandas().shape == (0, 4)
    assert table.to_arrow().num_rows == 0
    assert table.to_pylist() == []
    assert str(table).split() == ["id", "name", "f", "b"]
    assert run.table("queues").num_rows == 0


def test_pandas(run: stepscope.Run) -> None:
    frame = run.query(NULLS).to_pandas()
    assert str(frame.dtypes["i"]) == "Int64"
    assert str(frame.dtypes["f"]) == "float64"
    assert str(frame.dtypes["b"]) == "boolean"
    assert isinstance(frame.dtypes["s"], pd.CategoricalDtype)
    assert frame.isna().sum().tolist() == [1, 2, 1, 1]
    kernels = run.table("kernels")
    frame = kernels.to_pandas()
    sums = frame.groupby("name", observed=True)["dur"].sum()
    asked = run.query("select name, sum(dur) as ns from kernels group by name")
    assert dict(zip(asked["name"], asked["ns"])) == sums.to_dict()


def test_arrow(run: stepscope.Run) -> None:
    arrow = run.query(NULLS).to_arrow()
    assert arrow.schema.field("s").type == pa.dictionary(pa.int32(), pa.string())
    assert [arrow[name].null_count for name in ("i", "f", "b", "s")] == [1, 1, 1, 1]
    kernels = run.table("kernels")
    assert kernels.to_arrow().to_pylist() == kernels.to_pylist()
    assert pa.table(kernels).equals(kernels.to_arrow())  # through __arrow_c_stream__


@pytest.mark.parametrize(("method", "package"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_missing_packages_are_named(
    run: stepscope.Run, monkeypatch: pytest.MonkeyPatch, method: str, package: str
) -> None:
    real_import = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}")
        return real_import(name, *rest, **more)

    table = run.query("select 1 as x")
    monkeypatch.delitem(sys.modules, package)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=f"needs {package}.*pip install {package}"):
        getattr(table, method)()


def test_text_form(run: stepscope.Run) -> None:
    table = run.query("select i, 'x' || i as name, null as nothing from range(25) as t(i)")
    lines = str(table).splitlines()
    assert lines[0].split() == ["i", "name", "nothing"]
    assert lines[1].split() == ["0", "x0", "NULL"]
    assert lines[-1] == "... 20 of 25 rows"
    assert repr(table) == "<stepscope.Table: 25 rows, columns i, name, nothing>"


def test_wrong_names(run: stepscope.Run) -> None:
    table = run.query("select 1 as x")
    with pytest.raises(KeyError):
        table["y"]
    with pytest.raises(TypeError, match="'x' is int64, not text"):
        table.codes("x")
    assert "y" not in table
