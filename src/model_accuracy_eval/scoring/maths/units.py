"""Units and currencies: their spellings, and whether two of them are known to differ.

A unit behind a value is left out of a comparison, unless both sides have one and the two are not the same.
"""

import re

CURRENCIES = {
    "$": "\\$ dollar buck USD 美元",
    "€": "\\euro euro EUR 欧元",
    "£": "\\pounds GBP 英镑",
    "¥": "￥ yen yuan RMB CNY JPY 元 円",
    "₹": "rupee INR",
    "₩": "won KRW",
    "₽": "ruble rouble RUB",
    "cent": "¢",
}
"""Sign → its other signs and words."""
_WITH_PREFIXES = {
    "m": "meter metre 米", "g": "gram gramme gm 克", "s": "sec second 秒", "l": "L liter litre 升", "N": "newton",
    "J": "joule", "W": "watt", "V": "volt", "A": "amp ampere", "C": "coulomb", "F": "farad", "T": "tesla", "H": "henry",
    "K": "kelvin", "Ω": "Omega ohm", "Hz": "hertz", "Pa": "pascal", "eV": "electronvolt", "Wh": "watt-hour",
    "mol": "mole", "cal": "calorie", "bit": "", "B": "byte",
}  # fmt: skip
_PREFIXES = {"n": "nano", "μ": "micro", "m": "milli", "c": "centi", "d": "deci", "k": "kilo", "M": "mega", "G": "giga"}
_OTHERS = {
    "in": "inch inches", "ft": "foot feet", "yd": "yard", "mi": "mile 英里", "acre": "", "lb": "lbs pound",
    "oz": "ounce", "ton": "tonne 吨", "cup": "", "gal": "gallon", "qt": "quart", "pt": "pint", "mph": "", "rpm": "",
    "min": "minute 分钟", "h": "hr hour 小时", "day": "天", "week": "周", "month": "月", "year": "yr 年", "atm": "",
    "dB": "decibel", "%": "percent pct percentage", "°": "degree deg", "rad": "radian", "km": "公里 千米",
    "kg": "公斤 千克", "cm": "厘米", "am": "AM", "pm": "PM",
}  # fmt: skip


def _spellings() -> dict[str, str]:
    """Spelling → the one that is compared."""
    names = {name: name for name in (*CURRENCIES, *_WITH_PREFIXES, *_OTHERS)}
    for table in (CURRENCIES, _WITH_PREFIXES, _OTHERS):
        names |= {spelling: name for name, spellings in table.items() for spelling in spellings.split()}
    for name, spellings in _WITH_PREFIXES.items():
        for prefix, word in _PREFIXES.items():
            words = [word + spelling for spelling in spellings.split() if spelling.isascii() and len(spelling) > 1]
            names = dict.fromkeys([prefix + name, *words], prefix + name) | names
    return names | {"mL": "ml"}


SPELLINGS = _spellings()
_NAMES = frozenset(SPELLINGS.values())
_ALONE = frozenset((
    "mm", "cm", "km", "ft", "yd", "mi", "mg", "kg", "lb", "lbs", "oz", "ml", "mL", "sec", "hr", "day", "yr", "mph",
    "pct", "deg", "USD", "EUR", "GBP", "RMB",
))  # fmt: skip
"""Short words that are units wherever they stand; others may be products of variables, and `min` a function."""
CHANGING = re.compile(
    r"\b(?:and|or|not|half|halves|thirds|minus|plus|than|except|dozen|hundred|thousand|million|billion|trillion)\b|[万亿]"
)
"""Words that make another value of the one before them, and are no unit."""
_POWER_WORDS = {"square": "^2", "squared": "^2", "sq": "^2", "cubic": "^3", "cubed": "^3"}
_PART = re.compile(r"[^\W\d_]+|[$€£¥￥₹₩₽%°¢]|\^?\{?-?\d\}?|/")
_UNIT = re.compile(rf"(?!/)(?:\\?(?:{_PART.pattern})|\s)+(?<!/)")


def canonical(text: str) -> str:
    """One spelling for each unit: "square centimetres" and "cm^2" are "cm^2", "miles per hour" is "mi/h"."""
    names: list[str] = []
    power = ""
    for part in _PART.findall(text.replace("\\", "").replace("µ", "μ")):
        if part[0] in "^{-" or part.isdecimal():
            names[-1:] = [f"{names[-1]}^{part.strip('^{}')}"] if names else []
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
    if word in SPELLINGS or len(word) == 1:
        return SPELLINGS.get(word, word)
    for spelling in (word.lower(), word.lower().removesuffix("s"), word.lower().removesuffix("es")):
        if spelling in SPELLINGS:
            return SPELLINGS[spelling]
    return word.lower()


def is_unit(text: str) -> bool:
    """Whether it is a unit that is known here, such as m/s."""
    return bool(_UNIT.fullmatch(text)) and _known(canonical(text))


def is_short_unit(word: str, *, after_number: bool) -> bool:
    """Whether a word of two or three letters is a unit and not a product of variables: cm always, kN as in 3 kN."""
    return word in _ALONE or (after_number and len(word) > 1 and word in SPELLINGS)


def differ(left: str, right: str) -> bool:
    """Whether both are known units and not the same; "5 people" and "5 students" do not differ in this sense."""
    return left != right and _known(left) and _known(right)


def _known(unit: str) -> bool:
    names = re.sub(r"\^-?\d", "", unit).split("/")
    return bool(unit) and all(name in _NAMES for name in names)
