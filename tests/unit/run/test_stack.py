"""What a run says of the stack that it judged. The tables of npu-smi are written after its public documentation."""

import hashlib
import json
from pathlib import Path

import pytest
from tests.fake_ports import FakeRunningAdapter

from model_accuracy_eval.records.plan import stack_changes, stack_line
from model_accuracy_eval.run import stack

_910B = """
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc2                 Version: 24.1.rc2                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 90.1        37                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3162 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | Warning       | 92.4        38                0    / 0             |
| 0                         | 0000:01:00.0  | 0           0    / 0          3162 / 65536         |
+===========================+===============+====================================================+
"""
_310P = """
+--------------------------------------------------------------------------------------------------------+
| npu-smi 23.0.0                                   Version: 23.0.0                                       |
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 2       310P3                 | OK              | NA           41                0     / 0             |
| 0       0                     | 0000:01:00.0    | 0            1852 / 44280                            |
+-------------------------------+-----------------+------------------------------------------------------+
"""
_910_93 = """
+------------------------------------------------------------------------------------------------+
| npu-smi 25.0.rc1                 Version: 25.0.rc1                                             |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     Ascend910           | OK            | 172.1       41                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3420 / 65536         |
+------------------------------------------------------------------------------------------------+
"""


def of(tmp_path: Path, **said: object) -> dict[str, str]:
    running = FakeRunningAdapter()
    running.said_of_stack = json.dumps(said)
    return stack.of_adapter(running, 8000, str(tmp_path))


@pytest.mark.parametrize(
    ("said", "chips", "driver"),
    [
        ({"npus": _910B}, "2 × 910B3", "24.1.rc2"),
        ({"npus": _310P}, "1 × 310P3", "23.0.0"),
        ({"npus": _910_93}, "1 × Ascend910", "25.0.rc1"),
        ({"npus": "", "driver": "24.1.0"}, "unknown", "24.1.0"),
        ({"gpus": "NVIDIA A100-SXM4-80GB, 550.54.15\nNVIDIA A100-SXM4-80GB, 550.54.15\n"},
         "2 × NVIDIA A100-SXM4-80GB", "550.54.15"),
    ],
)  # fmt: skip
def test_chips_and_driver(said: dict[str, str], chips: str, driver: str, tmp_path: Path) -> None:
    found = of(tmp_path, **said)
    assert (found["chips"], found["driver"]) == (chips, driver)


def test_nothing_found_is_unknown_and_never_guessed(tmp_path: Path) -> None:
    """An adapter without python3 prints nothing, and a hostile one anything."""
    running = FakeRunningAdapter()
    for printed in ("", "no JSON", '{"packages": 3}', "[]"):
        running.said_of_stack = printed
        assert stack.of_adapter(running, 8000, "") == {"chips": "unknown"}
    assert len(of(tmp_path, cann="8" * 5000)["CANN"]) == 400


def test_packages_and_the_command_that_serves_without_its_secrets(tmp_path: Path) -> None:
    words = ["vllm", "serve", "/w", "--api-key", "marker-one", "--hf-token=marker-two", "--proxy", "http://me:marker@p"]
    found = of(tmp_path, packages={"torch": "2.5.1", "torch-npu": "2.5.1.post1"}, cann="8.0.RC3", serving=words)
    assert found["serves with"] == "vllm serve /w --api-key *** --hf-token=*** --proxy http://p"
    assert stack_line(found) == "CANN 8.0.RC3, torch 2.5.1, torch-npu 2.5.1.post1"


def test_the_form_of_the_weights(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"torch_dtype": "bfloat16", "quantization_config": {"quant_method": "awq"}}')
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": "{{ messages }}"}')
    found = of(tmp_path)
    assert (found["dtype"], found["quantization"]) == ("bfloat16", "awq")
    assert found["chat template"] == hashlib.sha256(b"{{ messages }}").hexdigest()[:12]
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}!")
    assert of(tmp_path)["chat template"] != found["chat template"]


def test_what_both_runs_know_and_is_not_the_same_is_told() -> None:
    old = {"engine": "vLLM 0.10.2", "chips": "unknown", "torch": "2.5.1"}
    new = {"engine": "vLLM 0.11.0", "chips": "8 × 910B3", "torch": "2.5.1", "CANN": "8.0.RC3"}
    assert stack_changes(old, new) == ["The stack changed: engine was vLLM 0.10.2 then, vLLM 0.11.0 now."]
