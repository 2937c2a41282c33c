"""How programs of other languages are run: a file, perhaps a compiler, a command. The image must have the tools."""

from typing import NamedTuple

from model_accuracy_eval.errors import UnknownName


class Recipe(NamedTuple):
    """Code and tests go into one file, whose exit code decides."""

    file: str
    running: tuple[str, ...]
    compiling: tuple[str, ...] = ()

    @property
    def tools(self) -> set[str]:
        """The commands that must be there; what compiling makes is none of them."""
        return {words[0] for words in (self.compiling, self.running) if words and not words[0].startswith("./")}


RECIPES = {
    "bash": Recipe("main.sh", ("bash", "main.sh")),
    "c": Recipe("main.c", ("./main",), ("cc", "-O1", "-o", "main", "main.c", "-lm")),
    "cpp": Recipe("main.cpp", ("./main",), ("c++", "-std=c++17", "-O1", "-o", "main", "main.cpp")),
    "go": Recipe("main.go", ("./main",), ("go", "build", "-o", "main", "main.go")),
    "java": Recipe("Main.java", ("java", "-ea", "Main"), ("javac", "Main.java")),
    "javascript": Recipe("main.js", ("node", "main.js")),
    "perl": Recipe("main.pl", ("perl", "main.pl")),
    "rust": Recipe("main.rs", ("./main",), ("rustc", "-o", "main", "main.rs")),
}

TOOLS = sorted(set().union(*(recipe.tools for recipe in RECIPES.values())))


def find(language: str) -> Recipe:
    if language not in RECIPES:
        raise UnknownName("language", language, ["python", *RECIPES])
    return RECIPES[language]
