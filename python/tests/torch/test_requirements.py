"""Says why the other tests of this folder are not there."""

from __future__ import annotations

import pytest


def test_requirements(missing: list[str]) -> None:
    if missing:
        pytest.skip(f"PyTorch's tests need {', '.join(missing)}")
