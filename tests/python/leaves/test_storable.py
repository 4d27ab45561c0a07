"""What of a command is stored: no secrets, and nothing that JSON refuses."""

from __future__ import annotations

import os

from ringtree.storable import is_secret, storable_command, without_secrets


def test_secrets_in_a_command_are_masked_and_nothing_else_is() -> None:
    masked = {
        "--export=ALL,HF_TOKEN=hf_abc,X=1": "--export=ALL,HF_TOKEN=***,X=1",
        "api-key=abc": "api-key=***",
        "https://me:secret@host/x": "https://***@host/x",
    }
    assert {text: without_secrets(text) for text in masked} == masked
    for text in ("--arms", "gloo@OMP_NUM_THREADS=2", "1K:64M", "a=b", "https://host/@x"):
        assert without_secrets(text) == text


def test_bytes_that_are_no_text_are_stored_as_such() -> None:
    assert storable_command(["train.py", os.fsdecode(b"r\xe9sum\xe9"), "--token=abc"]) == [
        "train.py",
        "r�sum�",
        "--token=***",
    ]


def test_variables_are_secret_by_name_or_by_value() -> None:
    assert is_secret("HF_TOKEN", "x")
    assert is_secret("PROXY", "https://me:pw@host")
    assert not is_secret("OMP_NUM_THREADS", "2")
