"""`python -m ringtree`: the same as the command `ringtree`.

For: running from a checkout or where the command isn't on the path. Not for: anything of its own.
"""

from ringtree.cli import app

if __name__ == "__main__":
    app(prog_name="ringtree")
