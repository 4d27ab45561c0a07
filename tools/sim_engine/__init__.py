"""The simulator against the engine: here, with constants probed here, and on emulated clusters.

For: `make bench-sim-engine`, which writes docs/benchmarks/simulator-against-engine.md. Not for: tests of the simulator.
"""
