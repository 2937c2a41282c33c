"""The table of settings as rows, for the command line, the YAML file, the action and the documentation."""

import operator
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from model_accuracy_eval.records import Record, Settings


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting, as help, YAML, the action and the documentation need it."""

    field: str
    type: Any
    default: Any
    about: str
    group: str
    short: str
    workflow_only: bool = False

    @property
    def name(self) -> str:
        return self.field.replace("_", "-")

    @property
    def bare(self) -> Any:
        """The type without its bounds."""
        return self.type.__origin__ if hasattr(self.type, "__metadata__") else self.type

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values, if they are a list of words."""
        kinds = (self.bare, *get_args(self.bare))
        return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())


def table(kind: type[Record] = Settings) -> Iterator[Setting]:
    """Yields the settings of a record, in the order in which they are shown."""
    defaults, heading = kind(), ""
    for field in msgspec.structs.fields(kind):
        metas: tuple[Meta, ...] = field.type.__metadata__
        meta = next(meta for meta in metas if meta.description)
        bounds = [meta for meta in metas if not meta.description]
        bare = field.type.__origin__
        heading = Settings.HEADINGS.get(field.name, heading)
        yield Setting(
            field=field.name,
            type=operator.getitem(Annotated, (bare, *bounds)) if bounds else bare,
            default=getattr(defaults, field.name),
            about=meta.description or "",
            group=heading,
            short=(meta.extra or {}).get("short", ""),
            workflow_only=(meta.extra or {}).get("workflow_only", False),
        )
