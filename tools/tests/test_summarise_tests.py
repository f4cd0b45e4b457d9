"""A test that failed, crashed or never reported must show in the summary line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import summarise_tests

GTEST = """<testsuites tests="4" failures="{failures}"><testsuite name="A">
<testcase name="good" classname="A" status="run" result="completed"/>
<testcase name="second" classname="A" status="run" result="completed">{failure}</testcase>
<testcase name="needs_data" classname="A" status="run" result="skipped"><skipped/></testcase>
<testcase name="DISABLED_x" classname="A" status="notrun" result="suppressed"/>
</testsuite></testsuites>"""
CTEST = """<testsuite name="all"><testcase name="base_test" classname="base_test"
status="{status}">{failure}</testcase></testsuite>"""
FAILURE = '<failure message="no"/>'


def summary(folder: Path) -> tuple[str, int]:
    total, _ = summarise_tests.summarise(folder)
    return str(total), summarise_tests.main([str(folder)])


def write_ctest(folder: Path, failed: bool) -> None:
    text = CTEST.format(status="fail" if failed else "run", failure=FAILURE if failed else "")
    (folder / "release.ctest.xml").write_text(text)


def write_gtest(folder: Path, failed: bool) -> None:
    (folder / "release.gtest").mkdir()
    text = GTEST.format(failures=int(failed), failure=FAILURE if failed else "")
    (folder / "release.gtest" / "base_test.xml").write_text(text)


def test_counts_the_cases_of_an_executable(tmp_path: Path) -> None:
    write_ctest(tmp_path, failed=False)
    write_gtest(tmp_path, failed=False)
    assert summary(tmp_path) == ("2 passed, 0 failed, 2 skipped", 0)


def test_a_failed_case_is_counted_once(tmp_path: Path) -> None:
    write_ctest(tmp_path, failed=True)
    write_gtest(tmp_path, failed=True)
    assert summary(tmp_path) == ("1 passed, 1 failed, 2 skipped", 1)


def test_a_crash_without_a_report_fails(tmp_path: Path) -> None:
    write_ctest(tmp_path, failed=True)
    assert summary(tmp_path) == ("0 passed, 1 failed, 0 skipped", 1)


def test_a_leak_after_good_cases_fails(tmp_path: Path) -> None:
    write_ctest(tmp_path, failed=True)
    write_gtest(tmp_path, failed=False)
    assert summary(tmp_path) == ("2 passed, 1 failed, 2 skipped", 1)


def test_checks_and_pytest_are_added(tmp_path: Path) -> None:
    (tmp_path / "checks.checks").write_text("pass format\nskip fuzz\n")
    (tmp_path / "python.pytest.xml").write_text(
        '<testsuites><testsuite><testcase classname="t" name="a"/>'
        '<testcase classname="t" name="b"><error/></testcase>'
        '<testcase classname="t" name="c"><skipped/></testcase></testsuite></testsuites>'
    )
    assert summary(tmp_path) == ("2 passed, 1 failed, 2 skipped", 1)


@pytest.mark.parametrize("line", ["fail build", "pas format", "crashed"])
def test_anything_but_pass_and_skip_fails(tmp_path: Path, line: str) -> None:
    (tmp_path / "checks.checks").write_text(f"pass a\n{line}\n")
    assert summary(tmp_path) == ("1 passed, 1 failed, 0 skipped", 1)


def test_a_cut_report_fails(tmp_path: Path) -> None:
    (tmp_path / "python.pytest.xml").write_text("<testsuites><testcase")
    assert summary(tmp_path)[1] == 1


PYTEST = """<testsuites><testsuite>
<testcase classname="t" name="a">{a}</testcase>{b}</testsuite></testsuites>"""


def write_pytest(folder: Path, a: str, b: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "python.pytest.xml").write_text(PYTEST.format(a=a, b=b))


def test_a_second_try_is_named(tmp_path: Path) -> None:
    write_pytest(tmp_path, FAILURE, '<testcase classname="t" name="b"/>')
    assert summary(tmp_path) == ("1 passed, 1 failed, 0 skipped", 1)
    write_pytest(tmp_path / "again", "")
    assert summary(tmp_path) == ("2 passed, 0 failed, 0 skipped", 0)
    assert "    passed only the second time: t.a" in summarise_tests.summarise(tmp_path)[1]
    write_pytest(tmp_path / "again", FAILURE)
    assert summary(tmp_path) == ("1 passed, 1 failed, 0 skipped", 1)
    write_pytest(tmp_path / "again", "<skipped/>")
    assert summary(tmp_path) == ("1 passed, 1 failed, 0 skipped", 1)


def test_a_case_of_an_executable_that_passes_the_second_time(tmp_path: Path) -> None:
    for folder, failed in ((tmp_path, True), (tmp_path / "again", False)):
        folder.mkdir(exist_ok=True)
        write_ctest(folder, failed)
        write_gtest(folder, failed)
    assert summary(tmp_path) == ("2 passed, 0 failed, 2 skipped", 0)


@pytest.mark.parametrize("reported", [False, True])
def test_a_crash_and_a_leak_are_not_forgiven(tmp_path: Path, reported: bool) -> None:
    (tmp_path / "again").mkdir()
    write_ctest(tmp_path, failed=True)
    if reported:
        write_gtest(tmp_path, failed=False)
    write_ctest(tmp_path / "again", failed=False)
    write_gtest(tmp_path / "again", failed=False)
    assert summary(tmp_path)[1] == 1


def test_a_crash_the_second_time_fails(tmp_path: Path) -> None:
    write_ctest(tmp_path, failed=True)
    write_gtest(tmp_path, failed=True)
    (tmp_path / "again").mkdir()
    write_ctest(tmp_path / "again", failed=True)
    assert summary(tmp_path) == ("1 passed, 2 failed, 2 skipped", 1)


def test_nothing_ran_is_a_failure(tmp_path: Path) -> None:
    assert summary(tmp_path) == ("0 passed, 0 failed, 0 skipped", 1)


def test_the_summary_is_the_last_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "checks.checks").write_text("pass a\nfail b\n")
    summarise_tests.main([str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
