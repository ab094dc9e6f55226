"""Makes the Python package `roundtable` in generated/ from the contracts beside this file.

Type stubs are made too where mypy-protobuf is installed. generated/ is replaced as a whole and only by a
complete result, so a contract that does not compile leaves the last good code in place.
"""

import shutil
import sysconfig
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTOS = Path(__file__).resolve().parent
GENERATED = PROTOS.parent / "generated"
SCRIPTS = Path(sysconfig.get_path("scripts"))
STUB_PLUGINS = [SCRIPTS / "protoc-gen-mypy", SCRIPTS / "protoc-gen-mypy_grpc"]


def compile_protos(options: Sequence[str], sources: Sequence[Path]) -> None:
    """Runs protoc, which writes its own complaints to stderr.

    Raises:
        SystemExit: protoc refused a source.
    """
    if not sources:
        return
    well_known = files("grpc_tools") / "_proto"
    arguments = ["protoc", f"-I{PROTOS}", f"-I{well_known}", *options, *map(str, sources)]
    if status := protoc.main(arguments):
        raise SystemExit(status)


def generate(target: Path) -> None:
    """Fills an empty folder."""
    ours = sorted(PROTOS.glob("roundtable/**/*.proto"))
    compile_protos([f"--python_out={target}", f"--grpc_python_out={target}"], ours)
    if all(plugin.exists() for plugin in STUB_PLUGINS):
        plugins = [f"--plugin={plugin}" for plugin in STUB_PLUGINS]
        compile_protos([*plugins, f"--mypy_out=quiet:{target}", f"--mypy_grpc_out=quiet:{target}"], ours)
        # googleapis-common-protos carries the code of google.rpc but no types.
        stubs = target / "stubs"
        stubs.mkdir()
        compile_protos([*plugins, f"--mypy_out=quiet:{stubs}"], sorted(PROTOS.glob("google/**/*.proto")))

    package = target / "roundtable"
    package.mkdir(exist_ok=True)
    for folder in (package, *(path for path in package.glob("**/*") if path.is_dir())):
        (folder / "__init__.py").touch()
    (package / "py.typed").touch()
    (target / ".stamp").touch()


def main() -> None:
    work = Path(tempfile.mkdtemp(prefix=".generated-", dir=GENERATED.parent))
    try:
        fresh = work / "fresh"
        fresh.mkdir()
        generate(fresh)
        if GENERATED.exists():
            GENERATED.rename(work / "stale")
        fresh.rename(GENERATED)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
