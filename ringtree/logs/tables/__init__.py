"""Tables whose headings decide: Markdown and CSV.

For: tables that people write or programs export, with headings that can be understood. Not for: tables of benchmarks
that print their own format (osu.py, imb.py and others beside this package).
"""
