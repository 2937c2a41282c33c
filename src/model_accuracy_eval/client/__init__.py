"""The client of the service that is evaluated."""

from model_accuracy_eval import light_httpx as light_httpx
