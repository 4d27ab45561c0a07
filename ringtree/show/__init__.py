"""What people see: tables, reports, the player, plots, a small web app; views of RESULT and of judgements.

For: text and pages, self-contained, that need no network. Not for: measuring (ringtree.measure), judging
(ringtree.judge).
"""
