"""What a run was made on: enough to judge its figures, and nothing that names the machine."""

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks.groups import PEERS, THE_ORIGINAL

__all__ = ["machine", "versions"]

CPUINFO: Final = Path("/proc/cpuinfo")


def machine() -> str:
    """Processor, cores, memory, system, Python and load, in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.1f} at the start"
    )


def _processor() -> str:
    if CPUINFO.exists():
        for line in CPUINFO.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def versions() -> Mapping[str, str]:
    """What was measured, by the names in the tables."""
    return {
        "floor": f"trio {version('trio')}",
        **{
            name: f"{peer.distribution} {peer.version}"
            for name, peer in {"original": THE_ORIGINAL, **PEERS}.items()
        },
    }
