"""Run at the start of every Python that has this folder in PYTHONPATH: the tests' processes."""

import fake_record

fake_record.install()
