"""`python -m model_accuracy_eval` is the command line."""

from model_accuracy_eval.cli import main

if __name__ == "__main__":
    main()
