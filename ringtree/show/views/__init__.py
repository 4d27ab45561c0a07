"""Views: what pages and figures show of stored runs and of logs, one shape for both.

For: `ringtree report` and `ringtree plot`. Not for: drawing (run_page, plot), judging (ringtree.judge, ringtree.audit).
"""

from ringtree.show.views.of_logs import LogBook
from ringtree.show.views.of_run import view_of_run
from ringtree.show.views.reading import read_views
from ringtree.show.views.view import LimitLine, Place, Ratio, Time, View, ViewCell, as_json

__all__ = [
    "LimitLine",
    "LogBook",
    "Place",
    "Ratio",
    "Time",
    "View",
    "ViewCell",
    "as_json",
    "read_views",
    "view_of_run",
]
