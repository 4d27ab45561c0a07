"""`ringtree bench`: what nccl-tests measures and prints, for any arm.

For: people and scripts that know nccl-tests: its options, its loop, its text and its JSON. Not for: telling arms apart,
for which one launch and one average are too little; that is ringtree.compare (`ringtree compare`).
"""
