"""neardup in Django, 5.0 or later: fields, an index, functions, and a constraint that forms and the admin check, too.

    class Proposal(models.Model):
        body = models.TextField()
        sig = models.GeneratedField(expression=ToMinhash("body"), output_field=MinhashField(), db_persist=True)

        class Meta:
            constraints = [NearDuplicateConstraint("sig", 0.8, name="no_copies")]

    Proposal.objects.filter(IsSimilar("sig", ToMinhash(Value(text)), 0.8)).order_by(Distance("sig", ToMinhash(Value(text))))[:10]

Values are bytes, as neardup.minhash() makes them."""

from typing import Any

from django.contrib.postgres.indexes import PostgresIndex  # type: ignore[import-not-found,unused-ignore]
from django.core.exceptions import ValidationError  # type: ignore[import-not-found,unused-ignore]
from django.db import DEFAULT_DB_ALIAS, models  # type: ignore[import-not-found,unused-ignore]
from django.db.backends.ddl_references import Statement, Table  # type: ignore[import-not-found,unused-ignore]

from ._values import from_text


class _Field(models.Field):  # type: ignore[misc,type-arg,unused-ignore]
    kind = ""

    def __init__(self, *args: Any, modifiers: tuple[int, ...] = (), **options: Any) -> None:
        """modifiers are the numbers in parentheses of the SQL type."""
        self.modifiers = tuple(modifiers)
        super().__init__(*args, **options)

    def db_type(self, connection: Any) -> str:
        return f"{self.kind}({', '.join(map(str, self.modifiers))})" if self.modifiers else self.kind

    def cast_db_type(self, connection: Any) -> str:
        return self.kind

    def deconstruct(self) -> Any:
        name, path, args, options = super().deconstruct()
        return name, path, args, {**options, **({"modifiers": self.modifiers} if self.modifiers else {})}

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        return f"%s::bytea::{self.kind}"

    def select_format(self, compiler: Any, sql: str, params: Any) -> Any:
        return f"({sql})::bytea", params

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> bytes | None:
        # What INSERT … RETURNING returns is text.
        return from_text(self.kind, value) if isinstance(value, str) else None if value is None else bytes(value)


class MinhashField(_Field):
    kind = "minhash"


class SimhashField(_Field):
    kind = "simhash"


class ShinglesField(_Field):
    kind = "shingles"


class NeardupIndex(PostgresIndex):  # type: ignore[misc,unused-ignore]
    suffix = "neardup"


class ToMinhash(models.Func):  # type: ignore[misc,unused-ignore]
    """to_minhash(text, k, b, scheme)"""

    function = "to_minhash"
    output_field = MinhashField()


class ToSimhash(models.Func):  # type: ignore[misc,unused-ignore]
    function = "to_simhash"
    output_field = SimhashField()


class ToShingles(models.Func):  # type: ignore[misc,unused-ignore]
    function = "to_shingles"
    output_field = ShinglesField()


class IsSimilar(models.Func):  # type: ignore[misc,unused-ignore]
    """is_similar(signature, signature, threshold), a condition that an index serves"""

    function = "is_similar"
    output_field = models.BooleanField()


class Similarity(models.Func):  # type: ignore[misc,unused-ignore]
    function = "similarity"
    output_field = models.FloatField()


class Distance(models.Func):  # type: ignore[misc,unused-ignore]
    """The operator <->, by which an index orders rows."""

    template = "(%(expressions)s)"
    arg_joiner = " <-> "
    output_field = models.FloatField()


class NearDuplicateConstraint(models.BaseConstraint):  # type: ignore[misc,unused-ignore]
    """Refuses rows whose signatures have a similarity of a threshold or more: an exclusion constraint of an index neardup.
    Forms, the admin and full_clean() report a copy before it is stored."""

    violation_error_code = "near_duplicate"
    default_violation_error_message = "This is a near-duplicate of another row (constraint “%(name)s”)."

    def __init__(self, field: str, threshold: float, *, name: str, **options: Any) -> None:
        super().__init__(name=name, **options)
        self.field, self.threshold = field, threshold

    def constraint_sql(self, model: Any, schema_editor: Any) -> str:
        column = schema_editor.quote_name(model._meta.get_field(self.field).column)
        return f"CONSTRAINT {schema_editor.quote_name(self.name)} EXCLUDE USING neardup (near({column}, {self.threshold!r}) WITH &&)"

    def create_sql(self, model: Any, schema_editor: Any) -> Any:
        return Statement("ALTER TABLE %(table)s ADD %(constraint)s", table=Table(model._meta.db_table, schema_editor.quote_name),
                         constraint=self.constraint_sql(model, schema_editor))

    def remove_sql(self, model: Any, schema_editor: Any) -> Any:
        return schema_editor._delete_constraint_sql(schema_editor.sql_delete_check, model, self.name)

    def validate(self, model: Any, instance: Any, exclude: Any = None, using: str = DEFAULT_DB_ALIAS) -> None:
        field = model._meta.get_field(self.field)
        signature = models.Value(getattr(instance, field.attname, None), field)
        if field.generated:
            values = instance._get_field_expression_map(meta=model._meta, exclude=None)
            sources = {part.name for part in field.expression.flatten() if isinstance(part, models.F)}  # type: ignore[attr-defined,unused-ignore]
            if sources & {*(exclude or ())}:
                return
            signature = field.expression.replace_expressions({models.F(name): value for name, value in values.items() if name in sources})
        rows = model._base_manager.using(using).filter(IsSimilar(models.F(self.field), signature, self.threshold))
        if instance.pk is not None:
            rows = rows.exclude(pk=instance.pk)
        if rows.exists():
            raise ValidationError(self.get_violation_error_message(), code=self.violation_error_code)

    def deconstruct(self) -> Any:
        path, _, options = super().deconstruct()
        return path, (self.field, self.threshold), options

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NearDuplicateConstraint) and self.deconstruct() == other.deconstruct()

    __hash__ = None  # type: ignore[assignment]
