"""What others published, derived again: docs/published -> docs/published-results.md.

For: `make audit-published`. Not for: the numbers (docs/published), judging claims (ringtree.audit.claims).
"""
