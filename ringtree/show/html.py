"""What every page of ours needs: data that can't become markup, hashes for its policy, a template engine that escapes.

For: the pages of this package. Not for: what stands on them.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources

from ringtree.errors import UsageError

HOW_TO_GET = "pages need Jinja2 and Plotly: pip install 'ringtree[report]'"


def render(template: str, *, raw: dict[str, str], **text: object) -> str:
    """Returns the template filled: `text` escaped, `raw` as it is. Raises UsageError without Jinja2."""
    try:
        import jinja2
        import markupsafe
    except ImportError as error:
        raise UsageError(HOW_TO_GET) from error
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    unescaped = {name: markupsafe.Markup(one) for name, one in raw.items()}
    return environment.from_string(template).render(**unescaped, **text)


def json_block(data: object) -> str:
    """Returns JSON that may stand in a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def script_block(text: str) -> str:
    """Returns a script that may stand in a script element."""
    return text.replace("</script", "<\\/script")


def source_hashes(*texts: str) -> str:
    """Returns the hashes by which a content-security policy allows inline scripts or styles."""
    digests = (base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in texts)
    return " ".join(f"'sha256-{one}'" for one in digests)


def packaged(package: str, name: str) -> str:
    """Returns a text file of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
