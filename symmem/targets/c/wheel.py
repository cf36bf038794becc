"""Built kernels as a wheel: the Python modules with their library inside, which pip installs without a compiler.

    symmem_adamw/__init__.py       the module, and beside it the files that it reads
    symmem_adamw/lib/libsymmem_adamw.so      symmem_adamw/include/symmem_adamw.h
    symmem_adamw/lib/libsymmem_adamw_alone.so    without threads, for machines that lack the library of OpenMP

Several optimizers are a package each, and their library lies in ``symmem_kernels/``.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import sysconfig
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from symmem import __version__
from symmem.targets.c.wrapper import runtime_modules

_DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in the archive: the same input gives the same bytes."""


def _tag(libraries: Iterable[bytes]) -> str:
    """Any Python 3, and this platform: ``manylinux_2_29_x86_64`` where that glibc has all that is asked for."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    asked = [
        (int(major), int(minor))
        for each in libraries
        for major, minor in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[.\0])", each)
    ]
    if platform.startswith("linux_") and asked:
        major, minor = max(asked)
        platform = platform.replace("linux_", f"manylinux_{major}_{minor}_", 1)
    return f"py3-none-{platform}"


def wheel(
    made: Path, libraries: Sequence[Path], library: str, package: str, modules: Sequence[str]
) -> tuple[str, bytes]:
    """The name and the content of a wheel of what was laid out in ``made``, with these libraries in it.

    ``modules`` are the names of the optimizers' modules.
    """
    python = {path.name: path.read_bytes() for path in (made / "python").iterdir()}
    runtime = tuple(runtime_modules())
    files: dict[str, bytes] = {}
    for module in modules:
        files[f"{module}/__init__.py"] = python[f"{module}.py"]
        files |= {f"{module}/{name}": python[name] for name in (*runtime, f"_{module}.py")}
        files[f"{library}/include/{module}.h"] = (made / "include" / f"{module}.h").read_bytes()
    compiled = {f"{library}/lib/{path.name}": path.read_bytes() for path in libraries}
    tag = _tag(compiled.values())
    content = _archive({**files, **compiled}, f"{library}-{__version__}.dist-info", package, tag)
    return f"{library}-{__version__}-{tag}.whl", content


def _archive(files: Mapping[str, bytes], about: str, package: str, tag: str) -> bytes:
    described = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {__version__}\n"
        f"Summary: Kernels of optimizers without memory, made by symmem\nRequires-Dist: numpy\n",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: symmem {__version__}\n"
        f"Root-Is-Purelib: false\nTag: {tag}\n",
    }
    everything = dict(files) | {path: text.encode() for path, text in described.items()}
    record = [f"{path},sha256={_digest(content)},{len(content)}" for path, content in everything.items()]
    everything[f"{about}/RECORD"] = "\n".join([*record, f"{about}/RECORD,,", ""]).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in everything.items():
            entry = zipfile.ZipInfo(path, _DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return stream.getvalue()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
