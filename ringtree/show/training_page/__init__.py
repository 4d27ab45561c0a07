"""The report of trainings: verdicts, rates by ranks, where the step goes, and traces of jobs beside them."""

from ringtree.show.training_page.page import read_trainings, stored_data, trace_extra, training_page

__all__ = ["read_trainings", "stored_data", "trace_extra", "training_page"]
