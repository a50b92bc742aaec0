"""`import keyfold` stays light."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "fastapi",
    "starlette",
    "strawberry",
    "uvicorn",
    "botocore",
    "boto3",
    "yaml",
    "jwt",
    "httpx",
}


def test_importing_keyfold_loads_no_web_and_no_aws_package() -> None:
    script = "import keyfold, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(answer.stdout.split())
