"""The platform that repositories live on: GitHub, and git."""

from model_accuracy_eval import extras

extras.load("github")
