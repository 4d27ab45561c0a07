"""`python -m ringtree.torch`: compiles the backend and the job tracer ahead, for instance when an image is made."""

from __future__ import annotations

import sys

from ringtree.compiling import BuildError
from ringtree.torch.building import built_library

if __name__ == "__main__":
    try:
        print(built_library())
    except BuildError as error:
        print(f"ringtree: {error}", file=sys.stderr)
        sys.exit(1)
