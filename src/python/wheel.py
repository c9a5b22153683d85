"""Writes a wheel of the package and the library: wheel.py VERSION LIBRARY FOLDER.

A wheel is an archive with a list of its files, so nothing is needed to make one but Python."""

import base64
import hashlib
import pathlib
import platform
import re
import sys
import zipfile

version, library, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
machine = platform.machine()
# The newest symbol version of the C library that the library needs says on which systems it runs.
needed = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", library.read_bytes())]
tag = "py3-none-" + (f"manylinux_2_{max(needed)}_{machine}" if needed else f"linux_{machine}")
info = f"neardup-{version}.dist-info"
files = {f"neardup/{path.name}": path.read_bytes() for path in sorted((pathlib.Path(__file__).parent / "neardup").glob("*.py*"))
         if path.is_file()}
files["neardup/libneardup.so.0"] = library.read_bytes()
files[f"{info}/METADATA"] = f"""Metadata-Version: 2.1
Name: neardup
Version: {version}
Summary: Near-duplicate texts, with the bits of the PostgreSQL extension neardup
License: PostgreSQL
Requires-Python: >=3.10
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
""".encode()
files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: neardup\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n"
                 for name, data in files.items())
files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
folder.mkdir(parents=True, exist_ok=True)
path = folder / f"neardup-{version}-{tag}.whl"
with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in files.items():
        # Equal files make an equal wheel.
        archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
print(path)
