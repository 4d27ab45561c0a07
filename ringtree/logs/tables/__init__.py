"""Tables whose headings decide: Markdown and CSV.

For: tables that people write or programs export, with headings that can be understood. Not for: tables of benchmarks
that print their own format (logs/osu.py, logs/imb.py and others).
"""
