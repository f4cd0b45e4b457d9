"""Dynamic profiling: a running training is recorded when a file says so.

All ranks watch one folder. Who edits ``profiler_config.json`` in it, by hand or with ``stepscope
capture``, chooses the steps; each rank tells in ``.stepscope/`` what it does about it, and in
``log/`` what it could not do.
"""
