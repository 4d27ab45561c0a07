"""The report: stored runs, and somebody's logs, as one page, verdict first."""

from ringtree.show.run_page.page import Extra, extra_block, report_page

__all__ = ["Extra", "extra_block", "report_page"]
