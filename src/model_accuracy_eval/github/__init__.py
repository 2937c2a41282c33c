"""The platform that repositories live on: GitHub, and git."""

from model_accuracy_eval import light_httpx as light_httpx
