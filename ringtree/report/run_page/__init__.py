"""The report: stored runs, and somebody's logs, as one page, verdict first."""

from ringtree.report.run_page.logs import LogBook
from ringtree.report.run_page.page import Extra, report_page

__all__ = ["Extra", "LogBook", "report_page"]
