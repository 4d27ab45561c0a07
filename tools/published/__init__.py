"""What others published, derived again: docs/published -> docs/published-results.md.

For: `make audit-published`. Not for: the numbers (docs/published), judging sentences (ringtree.audit.claims).
"""
