#!/usr/bin/env python3
"""Adds up the reports that ./test left in a folder and prints one summary line.

Usage: summarise_tests.py FOLDER

FOLDER holds, for any suite name:
  SUITE.ctest.xml   ctest --output-junit; each entry is one test executable
  SUITE.gtest/      those executables' own reports, ENTRY.xml, which hold the single cases
  SUITE.pytest.xml  pytest --junitxml, or another report of its form
  SUITE.checks      lines of `pass NAME`, `fail NAME` or `skip NAME`; also SUITE.ANYTHING.checks
  again/            the same reports of what failed and was run a second time

A case that fails and then passes is named and counts as passed. A program that crashes, leaks or
is stopped by a sanitizer has failed, whatever it does the second time.

The last line is `N passed, N failed, N skipped`. Exits 1 if anything failed or nothing ran.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Counts:
    passes: list[str] = field(default_factory=list)
    skipped: int = 0
    failures: list[str] = field(default_factory=list)  # cases
    faults: list[str] = field(default_factory=list)  # programs and checks
    unsteady: list[str] = field(default_factory=list)

    def add(self, outcome: str, name: str, case: bool = True) -> None:
        if outcome == "fail":
            (self.failures if case else self.faults).append(name)
        elif outcome == "skip":
            self.skipped += 1
        else:
            self.passes.append(name)

    def merge(self, other: Counts) -> None:
        self.passes += other.passes
        self.skipped += other.skipped
        self.failures += other.failures
        self.faults += other.faults
        self.unsteady += other.unsteady

    def forgive(self, again: Counts) -> None:
        """What passed the second time has passed."""
        self.unsteady = [name for name in self.failures if name in again.passes]
        self.failures = [name for name in self.failures if name not in again.passes]
        self.passes += self.unsteady
        self.faults += again.faults

    @property
    def failed(self) -> int:
        return len(self.failures) + len(self.faults)

    def __str__(self) -> str:
        return f"{len(self.passes)} passed, {self.failed} failed, {self.skipped} skipped"


def read_junit(path: Path) -> Counts:
    """Counts any JUnit-like report: GoogleTest's, pytest's and ctest's differ in the skips."""
    counts = Counts()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        if case.find("failure") is not None or case.find("error") is not None:
            counts.add("fail", name)
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            counts.add("skip", name)
        else:
            counts.add("pass", name)
    return counts


def read_ctest(path: Path, reports: Path) -> Counts:
    counts = Counts()
    for entry in ElementTree.parse(path).getroot().iter("testcase"):
        name = entry.get("name") or "?"
        failed = entry.get("status") == "fail" or entry.find("failure") is not None
        report = reports / f"{name}.xml"
        try:
            cases = read_junit(report)
        except (OSError, ElementTree.ParseError):
            # No GoogleTest program, or one that died before it wrote its report.
            skipped = entry.find("skipped") is not None or entry.get("status") == "notrun"
            counts.add("fail" if failed else "skip" if skipped else "pass", name, case=False)
            continue
        counts.merge(cases)
        if failed and not cases.failures:
            # A leak or a race found at exit, a time-out: every case passed and the program did not.
            counts.add("fail", f"{name} (the program itself)", case=False)
    return counts


def read_checks(path: Path) -> Counts:
    counts = Counts()
    for line in path.read_text().splitlines():
        outcome, _, name = line.partition(" ")
        # A word that nobody knows must not pass for success.
        counts.add(outcome if outcome in ("pass", "skip") else "fail", name or line, case=False)
    return counts


def read_suite(path: Path) -> Counts:
    try:
        if path.name.endswith(".ctest.xml"):
            return read_ctest(path, path.with_name(path.name.replace(".ctest.xml", ".gtest")))
        if path.name.endswith(".pytest.xml"):
            return read_junit(path)
        return read_checks(path)
    except ElementTree.ParseError as error:
        return Counts(faults=[f"{path.name} is cut off: {error}"])


def read_suites(folder: Path) -> dict[str, Counts]:
    suites: dict[str, Counts] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.endswith((".ctest.xml", ".pytest.xml", ".checks")):
            suites.setdefault(path.name.split(".")[0], Counts()).merge(read_suite(path))
    return suites


def summarise(folder: Path) -> tuple[Counts, list[str]]:
    again = read_suites(folder / "again")
    total, lines = Counts(), []
    for suite, counts in read_suites(folder).items():
        counts.forgive(again.get(suite, Counts()))
        total.merge(counts)
        lines.append(f"  {suite:<8} {counts}")
        lines.extend(f"    passed only the second time: {name}" for name in counts.unsteady)
        lines.extend(f"    failed: {name}" for name in counts.failures + counts.faults)
    return total, lines


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    total, lines = summarise(Path(arguments[0]))
    print("\n".join([*lines, str(total)]))
    return 1 if total.failed or not total.passes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
