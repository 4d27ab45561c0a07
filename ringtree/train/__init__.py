"""Does a setting change a training? Arms × models × world sizes, measured as everything here is.

For: `ringtree train`: a plan over ringtree.measure whose cells are steps of a training. Not for: judging the steps
(ringtree.judge.training), drawing them, or tracing a job.
"""
