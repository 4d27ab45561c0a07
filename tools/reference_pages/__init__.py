"""The pages of docs/reference that are made from the code: commands, and the modules of the lab.

    PYTHONPATH=tools python -m reference_pages          # rewrite them
    PYTHONPATH=tools python -m reference_pages --check  # exit 1 if one differs from the code

Not for: docs/reference/python.md, which is written and tested (tests/python/docs/test_docs_python.py), nor schemas
(tools/write_schemas.py).
"""
