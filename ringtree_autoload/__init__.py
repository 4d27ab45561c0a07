"""What PyTorch calls when it looks for backends, so that `init_process_group("ringtree")` works without an import.

For: the entry points `torch.backends` (called by every `import torch` up to 2.13) and `torch.distributed.backends`
(from 2.14 on, called when the name is first used). Not for: people; `ringtree.torch` is theirs.

A package of its own because `import ringtree` loads NumPy and the engine, which an `import torch` of somebody who never
uses ringtree must not pay for. Nothing here may raise: that would break their `import torch`.
"""


def register() -> None:
    """Tells torch.distributed the name `ringtree`; the code behind it is loaded when a group is first made."""
    try:
        from torch.distributed import Backend, is_available

        if is_available() and "ringtree" not in Backend.backend_list:
            Backend.register_backend("ringtree", _create, devices=["cpu"])
    except Exception:  # no torch.distributed of a kind that we know: then there is no such backend
        pass


def _create(store, rank, size, timeout):  # type: ignore[no-untyped-def] # as register_backend() calls it
    from ringtree.torch import create

    return create(store, rank, size, timeout)
