"""Units behind a value: left out of a comparison, unless both sides have one and the two are known to differ."""

import re

_SPELLINGS = {
    "mm": "millimeter millimetre",
    "cm": "centimeter centimetre",
    "m": "meter metre",
    "km": "kilometer kilometre",
    "in": "inch inches",
    "ft": "foot feet",
    "yd": "yard",
    "mi": "mile",
    "mg": "milligram",
    "g": "gram",
    "kg": "kilogram",
    "lb": "lbs pound",
    "oz": "ounce",
    "ml": "mL milliliter millilitre",
    "l": "L liter litre",
    "s": "sec second",
    "min": "minute",
    "h": "hr hour",
    "day": "",
    "week": "",
    "month": "",
    "year": "yr",
    "mph": "",
    "cent": "¢",
    "$": "dollar USD",
    "€": "euro EUR",
    "£": "GBP",
    "¥": "yen yuan RMB",
    "%": "percent pct percentage",
    "°": "degree deg",
}
_CANONICAL = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in (name, *spellings.split())}
_SHORT = {spelling for spelling in _CANONICAL if len(spelling) <= 3} - {"m", "g", "s", "h", "l", "L", "in", "min"}
"""Units of a few letters that are read as units outside of \\text too: `m` may be a variable, and `min` a function."""
_POWER_WORDS = {"square": "^2", "squared": "^2", "sq": "^2", "cubic": "^3", "cubed": "^3"}
_PART = re.compile(r"[^\W\d_]+|[$€£¥%°¢]|\^\{?-?\d\}?|/")


def canonical(text: str) -> str:
    """One spelling for each unit: "square centimetres" and "cm^2" are "cm^2", "miles per hour" is "mi/h"."""
    names: list[str] = []
    power = ""
    for part in _PART.findall(text.replace("\\", "")):
        if part.startswith("^"):
            names[-1:] = [names[-1] + part.replace("{", "").replace("}", "")] if names else []
        elif part in _POWER_WORDS:
            if part.endswith("d") and names:
                names[-1] += _POWER_WORDS[part]
            else:
                power = _POWER_WORDS[part]
        elif part in {"per", "/"}:
            names.append("/")
        else:
            names.append(_name(part) + power)
            power = ""
    return "mi/h" if names == ["mph"] else "".join(names)


def _name(word: str) -> str:
    for spelling in (word, word.lower(), word.lower().removesuffix("s"), word.lower().removesuffix("es")):
        if spelling in _CANONICAL:
            return _CANONICAL[spelling]
    return word.lower()


def is_unit(text: str) -> bool:
    """Whether it is a unit that is known here, such as m/s."""
    return text.strip("/") == text and _known(canonical(text))


def is_short_unit(word: str) -> bool:
    """Whether a word of up to three letters is a unit and not a product of variables."""
    return word in _SHORT


def differ(left: str, right: str) -> bool:
    """Whether both are known units and not the same; "5 people" and "5 students" do not differ in this sense."""
    return left != right and _known(left) and _known(right)


def _known(unit: str) -> bool:
    names = re.sub(r"\^-?\d", "", unit).split("/")
    return bool(unit) and all(name in _SPELLINGS for name in names)
