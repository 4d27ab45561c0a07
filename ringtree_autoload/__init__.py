"""What PyTorch calls when it looks for backends, so that `init_process_group("ringtree")` works without an import, and
so does `init_method="ringtree://"`.

It is also where `ringtree trace` reaches the ranks of a job and `ringtree train` those of a script, which they have
told so by a variable.

For: the entry points `torch.backends` (called by every `import torch`, unless TORCH_DEVICE_BACKEND_AUTOLOAD=0) and
`torch.distributed.backends` (from 2.14 on, called when a name is first used that nobody has registered). Not for:
people; `ringtree.torch` is theirs.

A package of its own because `import ringtree` loads NumPy and the engine, which an `import torch` of somebody who never
uses ringtree must not pay for. Nothing here may raise: that would break their `import torch`.
"""

import os
import sys


def register() -> None:
    """Tells torch.distributed the name `ringtree`; the code behind it is loaded when a group is first made."""
    if "RINGTREE_TRACE" in os.environ:
        _trace()
    if "RINGTREE_TRAIN_GROUPS" in os.environ:
        _note_groups()
    try:
        from torch.distributed import Backend, is_available

        if is_available() and "ringtree" not in Backend.backend_list:
            Backend.register_backend("ringtree", _create, devices=["cpu"])
            _hide(Backend)
            from torch.distributed.rendezvous import register_rendezvous_handler

            register_rendezvous_handler("ringtree", _rendezvous)  # type: ignore[no-untyped-call]
    except Exception:  # no torch.distributed of a kind that we know: then there is no such backend
        pass


def _trace() -> None:
    """Records this process's collectives, as `ringtree trace` asks; says in one line where it can't."""
    try:
        from ringtree.joblog.tracer import install_from_environment

        install_from_environment()
    except Exception as error:
        print(f"ringtree: this process is not traced: {type(error).__name__}: {error}", file=sys.stderr)


def _note_groups() -> None:
    """Tells `ringtree train` which backends a script's groups have; where it can't, the lab says so."""
    try:
        from ringtree_autoload.made_groups import FOLDER, note_groups

        note_groups(os.environ[FOLDER])
    except Exception:  # no torch.distributed of a kind that we know
        pass


def _hide(backend) -> None:  # type: ignore[no-untyped-def] # torch.distributed.Backend
    """Keeps PyTorch up to 2.13 from treating other people's groups differently because there is a plugin at all.

    There `cpu:gloo` has a default backend only if no plugin is listed. So the table does not list this one; who asks
    for it by name finds it.
    """
    plugin = backend._plugins.pop("RINGTREE")

    class Plugins(dict):  # type: ignore[type-arg]
        def __missing__(self, name: str) -> object:
            if name == "RINGTREE":
                return plugin
            raise KeyError(name)

        def __contains__(self, name: object) -> bool:
            return name == "RINGTREE" or super().__contains__(name)

        def get(self, name: str, default: object = None) -> object:
            return self[name] if name in self else default  # noqa: SIM401 # which would call this function

    backend._plugins = Plugins(backend._plugins)


def _create(store, rank, size, timeout):  # type: ignore[no-untyped-def] # as register_backend() calls it
    from ringtree.torch import create

    return create(store, rank, size, timeout)


def _rendezvous(url, timeout=None, **more):  # type: ignore[no-untyped-def] # as rendezvous() calls it
    from ringtree.torch.launched import rendezvous

    return rendezvous(url, **more) if timeout is None else rendezvous(url, timeout, **more)
