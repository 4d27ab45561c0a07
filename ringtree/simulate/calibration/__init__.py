"""Constants of a cluster's description, fitted to times that were measured.

For: `ringtree simulate --calibrate`, `ringtree cluster from --probe`. Not for: measuring, or constants that no time
depends on: those are named and keep what the description says.
"""

from ringtree.simulate.calibration.evidence import Evidence, TimedCall, evidence_of
from ringtree.simulate.calibration.fitting import Bounded, Calibration, Fitted, Held, calibrate

__all__ = ["Bounded", "Calibration", "Evidence", "Fitted", "Held", "TimedCall", "calibrate", "evidence_of"]
