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


_RUST = ("--edition=2021", "--cap-lints=allow")

RECIPES = {
    "bash": Recipe("main.sh", ("bash", "main.sh")),
    "c": Recipe("main.c", ("./main",), ("cc", "-O1", "-o", "main", "main.c", "-lm")),
    "cpp": Recipe("main.cpp", ("./main",), ("c++", "-std=c++17", "-O1", "-o", "main", "main.cpp")),
    "go": Recipe("main.go", ("./main",), ("go", "build", "-o", "main", "main.go")),
    "go_test": Recipe("main_test.go", ("./main",), ("go", "test", "-c", "-vet=off", "-o", "main", "main_test.go")),
    # Starting costs them more than running: no thorough compiler, no collector with threads.
    "java": Recipe(
        "Main.java",
        ("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-ea", "Main"),
        ("javac", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-nowarn", "Main.java"),
    ),
    "javascript": Recipe("main.js", ("node", "main.js")),
    "perl": Recipe("main.pl", ("perl", "main.pl")),
    "rust": Recipe("main.rs", ("./main",), ("rustc", *_RUST, "-o", "main", "main.rs")),
    "rust_test": Recipe("main.rs", ("./main",), ("rustc", *_RUST, "--test", "-o", "main", "main.rs")),
}

TOOLS = sorted(set().union(*(recipe.tools for recipe in RECIPES.values())))


def find(language: str) -> Recipe:
    """`go_test` and `rust_test` run what these languages mark as tests, and need no main."""
    if language not in RECIPES:
        raise UnknownName("language", language, ["python", *RECIPES])
    return RECIPES[language]
