"""Python runs this at its start where this folder is in PYTHONPATH: for tests in other processes."""

import fake_record

fake_record.install()
