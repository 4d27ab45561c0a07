"""Forms of sentences, one a file: pattern -> quantities -> check. registry.py says which there are."""
