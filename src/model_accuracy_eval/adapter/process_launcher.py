"""Starts adapters as plain processes of this machine: `requirements.txt` is installed, then `deploy.sh` runs."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from model_accuracy_eval.adapter.adapter_files import (
    NO_PIP,
    adapter_environment,
    deploy_command,
    refuse_replacing,
    visible_npus,
    wants_packages,
)
from model_accuracy_eval.adapter.adapter_process import AdapterProcess
from model_accuracy_eval.adapter.log_tail import tail
from model_accuracy_eval.adapter.port_watch import port_owner
from model_accuracy_eval.errors import AdapterFailed, EvalError, Refused
from model_accuracy_eval.system.unprivileged_user import UnprivilegedUser

_VENV_MAKER = Path(__file__).with_name("venv_maker.py")
_DETAIL_LINES = 40


class ProcessLauncher:
    """Implements `ports.Launcher`. `check` is called every 0.1 s of a wait, and may raise to end it."""

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        check: Callable[[], None] = lambda: None,
        user: UnprivilegedUser | None = None,
    ) -> None:
        """`user`: whom the adapter runs as, and who gets its folder; None: as we do."""
        self._environ = environ
        self._check = check
        self._user = user

    def port_owner(self, port: int) -> str | None:
        return port_owner(port)

    def objection(self, folder: str) -> EvalError | None:
        try:
            deploy_command(folder, self._environ.get("PATH", os.defpath))
            refuse_replacing(Path(folder) / "requirements.txt")
        except Refused as refusal:
            return refusal
        return None

    def start(
        self, *, folder: str, model_path: str, port: int, log: str, npus: tuple[int, ...] | None = None
    ) -> AdapterProcess:
        environment = adapter_environment(self._environ, model_path=model_path, port=port)
        environment |= visible_npus(self._environ, npus)
        command = deploy_command(folder, environment.get("PATH", os.defpath))
        packages = wants_packages(Path(folder) / "requirements.txt")
        if self._user is None and not packages:
            _check_port(port)
            return self._process(command, folder, environment, log, None)
        home = tempfile.mkdtemp(prefix="adapter-home-")
        try:
            if self._user:
                environment |= self._settle(self._user, home, folder, model_path)
            if packages:
                environment = self._make_python(home, environment, log)
                self._install(folder, environment, log)
            _check_port(port)
            return self._process(command, folder, environment, log, home)
        except BaseException:
            shutil.rmtree(home, ignore_errors=True)
            raise

    def _settle(self, user: UnprivilegedUser, home: str, folder: str, model_path: str) -> dict[str, str]:
        """Gives the user a home and the adapter's folder; returns its variables. No account has its number, so that
        programs read its name from these."""
        if model_path and not user.can_read(model_path):
            raise Refused(
                f"deploy.sh runs as a user without rights, who cannot read the weights in {model_path}; make them "
                f"readable for everybody (chmod -R o+rX), or name an image to run it in (adapter-image)."
            )
        user.owns(home)
        user.owns(folder)
        return {"HOME": home, "USER": "adapter", "LOGNAME": "adapter"}

    def _make_python(self, home: str, environment: Mapping[str, str], log: str) -> dict[str, str]:
        """Makes the adapter's own Python in `home`, and returns the environment that uses it."""
        path = environment.get("PATH", os.defpath)
        python = shutil.which("python3", path=path)
        if python is None:
            raise Refused(f"requirements.txt cannot be installed: there is no python3 on the PATH ({path}).")
        code = self._run([python, "-c", _VENV_MAKER.read_text(encoding="utf-8"), home], home, environment, log, home)
        if code == NO_PIP:
            raise Refused(f"requirements.txt cannot be installed: {python} has no pip; install pip for it.")
        if code:
            raise AdapterFailed(
                f"{python} could not make a virtual environment for requirements.txt (exit code {code}).",
                detail=tail(log, _DETAIL_LINES),
            )
        return {**environment, "PATH": f"{home}/bin{os.pathsep}{path}", "VIRTUAL_ENV": home}

    def _install(self, folder: str, environment: Mapping[str, str], log: str) -> None:
        requirements = str(Path(folder).resolve() / "requirements.txt")
        home = environment["VIRTUAL_ENV"]
        # By its file and not by `-m`, which would put the folder with its modules before pip's own.
        command = [f"{home}/bin/python3", f"{home}/bin/pip", "install", "--no-input", "-r", requirements]
        quiet = {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_PROGRESS_BAR": "off"}
        with Path(log).open("ab") as output:
            output.write(f"── pip install -r {requirements}\n".encode(errors="replace"))
        code = self._run(command, folder, {**environment, **quiet}, log, home)
        if code:
            raise AdapterFailed(
                f"Installing {requirements} failed: pip ended with exit code {code}.",
                detail=tail(log, _DETAIL_LINES),
                about=("requirements.txt", 1),
            )
        with Path(log).open("ab") as output:
            output.write("── deploy.sh\n".encode())

    def _run(self, command: list[str], folder: str, environment: Mapping[str, str], log: str, remove: str) -> int:
        process = self._process(command, folder, environment, log, remove)
        try:
            while (code := process.exit_code()) is None:
                self._check()
                process.wait(0.1)
        except BaseException:
            process.stop()
            raise
        process.finish()
        return code

    def _process(
        self, command: list[str], folder: str, environment: Mapping[str, str], log: str, remove: str | None
    ) -> AdapterProcess:
        return AdapterProcess(command, folder=folder, environment=environment, log=log, remove=remove, user=self._user)


def _check_port(port: int) -> None:
    """Looks once more: since the preflight, weights and packages took their time."""
    if owner := port_owner(port):
        raise AdapterFailed(f"Port {port} was taken by {owner} before deploy.sh was started; stop that, and run again.")
