"""The report: stored runs as one page, verdict first."""

from ringtree.report.run_page.page import Extra, report_page

__all__ = ["Extra", "report_page"]
