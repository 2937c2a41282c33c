"""Go's imports: one that is missing, and one that is not used, are errors both."""

import re

_IMPORT = re.compile(r'^import[^\S\n]*(?:\(([^()]*)\)|((?:[\w.]+[^\S\n]+)?"[^"\n]+"))[^\S\n]*;?', re.MULTILINE)
_PACKAGE = re.compile(r"^package[^\S\n]+\w+[^\S\n]*;?", re.MULTILINE)
_ONE = re.compile(r'(?:([\w.]+)[^\S\n]+)?"([^"\n]+)"')
_GIVEN = ("bytes", "crypto/md5", "fmt", "math", "math/rand", "regexp", "sort", "strconv", "strings", "time")
"""What the published runner imports by itself where it is used."""


def taken(source: str) -> tuple[dict[str, str], str]:
    """The imports, by the names that they are used under, and the source without them."""
    lines = [line for found in _IMPORT.finditer(source) for line in (found[1] or found[2]).split("\n")]
    found = [_ONE.match(line.strip()) for line in lines]
    imports = {(one[1] or _name(one[2])): one[0] for one in found if one}
    return imports, _PACKAGE.sub("", _IMPORT.sub("", source))


def written(imports: dict[str, str], shaded: str) -> str:
    """The block of those that source without comments and texts uses; `_` and `.` have no name to be seen."""
    known = {_name(path): f'"{path}"' for path in _GIVEN} | imports
    used = set(re.findall(r"(?<![.\w])(\w+)\s*\.", shaded)) | {"_", "."}
    return "import (\n" + "".join(f"\t{line}\n" for name, line in sorted(known.items()) if name in used) + ")\n"


def _name(path: str) -> str:
    return path.rpartition("/")[2]
