"""llama.cpp's own HTTP server, out of the package xllamacpp: `python serve_llamacpp.py GGUF PORT`. Serves until it is ended."""

import signal
import sys

import xllamacpp

settings = xllamacpp.CommonParams()
settings.model.path, settings.port = sys.argv[1], int(sys.argv[2])
settings.n_parallel, settings.n_ctx = 4, 4 * 32768
settings.cpuparams.n_threads = 1
# In half precision, as flash attention computes here, log-probabilities are off by up to a hundredth.
settings.cache_type_k = settings.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
settings.warmup, settings.use_jinja = False, True
server = xllamacpp.Server(settings)
signal.pause()
