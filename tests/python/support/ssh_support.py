"""Hosts that are reached by ssh: an sshd in each network namespace, with a key and a home directory of its own.

For: tests of what goes by ssh. Not for: the namespaces (hosts_support.py). Needs root, as sshd does; it ends with its
context, and the machine's own sshd and keys are never touched.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hosts_support import Hosts, on_host

_CONFIG = """\
HostKey {folder}/key
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
UseDNS no
Subsystem sftp internal-sftp
PermitRootLogin prohibit-password
SetEnv HOME={home}
"""


def why_no_ssh() -> str:
    """Why no sshd can be started here; "" if it can."""
    missing = [tool for tool in ("sshd", "ssh", "ssh-keygen") if _found(tool) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: apt-get install openssh-server)"
    return "" if os.geteuid() == 0 else "sshd lets in its own user only, unless it is root's"


@contextlib.contextmanager
def ssh_servers(hosts: Hosts, folder: Path) -> Iterator[Path]:
    """An sshd at port 22 of every host; yields the key that opens all. Homes are folder/home0, folder/home1, …"""
    sshd = _found("sshd")
    assert sshd is not None, "why_no_ssh() was asked"
    Path("/run/sshd").mkdir(exist_ok=True)  # which sshd wants and Debian makes at boot
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=60)
    with contextlib.ExitStack() as stack:
        for host in range(hosts.count):
            home = folder / f"home{host}"
            home.mkdir()
            config = folder / f"sshd{host}"
            config.write_text(_CONFIG.format(folder=folder, home=home))
            server = subprocess.Popen(
                on_host(hosts, host, sshd, "-D", "-e", "-f", str(config)),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(server.wait)
            stack.callback(server.terminate)
        yield key


def _found(tool: str) -> str | None:
    return shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
