"""Tests of neardup.sqlalchemy, neardup.django and neardup.refusal() on a server that PGHOST and PGPORT name: psycopg 2 and 3,
asyncpg, SQLAlchemy, Alembic and Django; of drivers behind PgBouncer at POOLER_PORT.  Prints TAP; the database is made anew.

    frameworks.py DATABASE"""

import asyncio
import os
import sys
import warnings
from importlib.metadata import version
from typing import Any

import asyncpg
import psycopg
import psycopg2
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata, produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import orm
from sqlalchemy.ext.asyncio import create_async_engine

import neardup
import neardup.sqlalchemy as nd

NAME = sys.argv[1]
TEXT = "The library needs a new roof, since the old one leaks whenever it rains in autumn."
NEAR = TEXT.replace("autumn", "spring")
FAR = "A playground for the children of the valley, and benches for their parents."
count = 0
failures = 0
warnings.simplefilter("error", sa.exc.SAWarning)


def check(ok: Any, name: str) -> None:
    global count, failures
    count += 1
    failures += not ok
    print("ok" if ok else "not ok", count, "-", name, flush=True)


def caught(call: Any) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


# ---- SQLAlchemy and Alembic ----

class Base(orm.DeclarativeBase):
    pass


class Proposal(Base):
    __tablename__ = "proposals"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str | None]
    body: orm.Mapped[str]
    sig: orm.Mapped[bytes] = orm.mapped_column(nd.Minhash(128, 8), sa.Computed("to_minhash(body, 128, 8)", persisted=True), nullable=True)
    given: orm.Mapped[bytes | None] = orm.mapped_column(nd.Simhash(64))
    sets: orm.Mapped[bytes | None] = orm.mapped_column(nd.Shingles())


def context(connection: Any) -> Any:
    how = {"include_object": nd.include_object, "compare_type": True, "compare_server_default": True}
    return MigrationContext.configure(connection, opts=how)


def differences(connection: Any) -> list[Any]:
    return compare_metadata(context(connection), Base.metadata)


def migrate(connection: Any, script: Any) -> None:
    for operation in script.ops:
        Operations(context(connection)).invoke(operation)


def ask(session: Any) -> None:
    fingerprint, words = neardup.simhash([TEXT])[0], neardup.shingles([TEXT])[0]
    session.add_all([Proposal(title="A roof", body=TEXT, given=fingerprint, sets=words), Proposal(body=FAR)])
    session.commit()
    row = session.scalars(sa.select(Proposal).order_by(Proposal.id)).first()
    check(row.sig == neardup.minhash([TEXT], k=128, b=8)[0], "a generated signature comes back as the bytes of the package")
    check((row.given, row.sets) == (fingerprint, words), "bytes are sent and received")
    mine = neardup.minhash([NEAR], k=128, b=8)[0]
    found = session.execute(sa.select(Proposal.id, Proposal.sig.similarity(mine)).where(Proposal.sig.is_similar(mine, 0.5))
                            .order_by(Proposal.sig.distance(mine)).limit(10)).all()
    check([id for id, _ in found] == [row.id] and 0.5 <= found[0][1] < 1, "a signature of the program is a parameter")
    text = sa.func.to_minhash(NEAR, 128, 8, type_=nd.Minhash)
    check(session.scalars(sa.select(Proposal.id).where(Proposal.sig.is_similar(text, 0.5))).all() == [row.id], "and one of the server")
    array = session.scalar(sa.select(sa.func.array_agg(sa.cast(Proposal.sig, sa.LargeBinary))))
    check(sorted(map(bytes, array)) == sorted(map(bytes, neardup.minhash([TEXT, FAR], k=128, b=8))), "arrays of signatures are received")


def sqlalchemy_with(driver: str, last: bool) -> None:
    engine = sa.create_engine(f"postgresql+{driver}:///{NAME}")
    with engine.begin() as connection:
        script = produce_migrations(context(connection), Base.metadata)
        migrate(connection, script.upgrade_ops)
    with orm.Session(engine) as session:
        ask(session)
        session.execute(sa.text("SELECT neardup_guard('proposals', 'sig', 0.5, name => 'no_copies', show => 'title')"))
        session.commit()
        session.add(Proposal(body=NEAR))
        refused = neardup.refusal(caught(session.commit))
        session.rollback()
        check(refused and (refused.constraint, refused.table, refused.similar.get("title")) == ("no_copies", "proposals", "A roof")
              and 0.5 <= refused.similarity < 1, f"refusal() reads what {driver} raises through SQLAlchemy")
        check(neardup.refusal(caught(lambda: session.execute(sa.text("SELECT 1 / 0")))) is None, "and nothing of other errors")
    with engine.connect() as connection:
        check(differences(connection) == [], "Alembic finds no differences, the guard's own index included")
        columns = {column["name"]: column["type"] for column in sa.inspect(connection).get_columns("proposals")}
        check(isinstance(columns["sig"], nd.Minhash) and columns["sig"].get_col_spec() == "minhash(128, 8)"
              and isinstance(columns["sets"], nd.Shingles), "reflection knows the types")
    if not last:
        with engine.begin() as connection:
            migrate(connection, script.downgrade_ops)
            check(not sa.inspect(connection).has_table("proposals"), "Alembic migrates up and down")
    engine.dispose()


async def asyncpg_alone() -> None:
    connection = await asyncpg.connect(database=NAME)
    try:
        await connection.execute("INSERT INTO proposals (body) VALUES ($1)", NEAR)
        error = None
    except asyncpg.ExclusionViolationError as raised:
        error = raised
    refused = neardup.refusal(error)
    check(refused and refused.similar == {"id": 1, "title": "A roof"}, "refusal() reads what asyncpg raises")
    mine = neardup.minhash([NEAR], k=128, b=8)[0]
    check(await connection.fetchval("SELECT id FROM proposals WHERE is_similar(sig, $1::bytea::minhash, 0.5)", bytes(mine)) == 1, "bytes are its parameters")
    check(await connection.fetchval("SELECT sig::bytea FROM proposals WHERE id = 1") == bytes(neardup.minhash([TEXT], k=128, b=8)[0]), "and its results")
    await connection.set_type_codec("minhash", encoder=bytes, decoder=bytes, format="binary")
    await connection.execute("CREATE TABLE signed (id int, sig minhash)")
    await connection.copy_records_to_table("signed", records=[(1, mine), (2, None)])
    check(await connection.fetchval("SELECT sig FROM signed WHERE is_similar(sig, $1, 1)", mine) == bytes(mine), "with a codec, COPY takes them, and results are bytes")
    await connection.close()
    engine = create_async_engine(f"postgresql+asyncpg:///{NAME}")
    try:
        async with engine.begin() as begun:
            await begun.execute(sa.insert(Proposal).values(body=NEAR))
        raised_by = None
    except sa.exc.IntegrityError as raised_here:
        raised_by = raised_here
    check((found := neardup.refusal(raised_by)) and found.constraint == "no_copies", "and asyncpg through SQLAlchemy")
    async with engine.connect() as begun:
        check((await begun.execute(sa.select(Proposal.id).where(Proposal.sig.is_similar(mine, 0.5)))).scalar() == 1, "whose parameters are bytes, too")
    await engine.dispose()


def drivers() -> None:
    for driver, connect in (("psycopg 3", psycopg.connect), ("psycopg 2", psycopg2.connect)):
        connection = connect(dbname=NAME)
        cursor = connection.cursor()
        refused = neardup.refusal(caught(lambda: cursor.execute("INSERT INTO proposals (body) VALUES (%s)", [NEAR])))
        check(refused and refused.similar == {"id": 1, "title": "A roof"} and not refused.same_statement, f"refusal() reads what {driver} raises")
        connection.rollback()
        cursor.execute("SELECT neardup_guard('proposals', name => 'no_copies', show => '')")
        refused = neardup.refusal(caught(lambda: cursor.execute("INSERT INTO proposals (body) VALUES (%s)", [NEAR])))
        check(refused and refused.similar == {"id": "1"} and 0.5 <= refused.similarity < 1, "also of a guard that shows no columns")
        connection.rollback()
        cursor.execute("SELECT neardup_guard('proposals', name => 'no_copies', show => '')")
        refused = neardup.refusal(caught(lambda: cursor.execute("INSERT INTO proposals (body) VALUES (%s), (%s)", [FAR[10:], FAR[10:] + " too"])))
        check(refused and refused.table == "proposals", "of two rows of a statement")
        connection.rollback()
        connection.close()


# ---- PgBouncer, where two connections share one of the server's, transaction by transaction ----

SEARCH = "SELECT id FROM proposals WHERE is_similar(sig, to_minhash({}, 128, 8), {})"
POOLER = {"port": int(os.environ["POOLER_PORT"])}


def pooled() -> None:
    pair = [psycopg.connect(dbname=NAME, prepare_threshold=None, **POOLER) for _ in range(2)]
    found = []
    for i in range(20):
        with pair[i % 2].transaction():
            pair[i % 2].execute("SET LOCAL neardup.cache_size = '8MB'")
            found += pair[i % 2].execute(SEARCH.format("%s", "%s"), [NEAR, 0.5]).fetchall()
    check(found == 20 * [(1,)], "psycopg 3 behind PgBouncer, with a setting for a transaction")
    for connection in pair:
        connection.close()


async def pooled_asyncpg() -> None:
    pair = [await asyncpg.connect(database=NAME, statement_cache_size=0, **POOLER) for _ in range(2)]
    found = [await pair[i % 2].fetchval(SEARCH.format("$1", "$2"), NEAR, 0.5) for i in range(20)]
    check(found == 20 * [1], "asyncpg behind PgBouncer")
    for connection in pair:
        await connection.close()


# ---- Django ----

def django_models() -> Any:
    import django
    from django.conf import settings

    settings.configure(DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", INSTALLED_APPS=[],
                       DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": NAME}})
    django.setup()
    from django.db import models

    import neardup.django as nj

    class Grant(models.Model):
        title = models.TextField(default="", blank=True)
        body = models.TextField()
        given = nj.SimhashField(null=True, blank=True, modifiers=(64,))
        sig = models.GeneratedField(expression=nj.ToMinhash("body"), output_field=nj.MinhashField(), db_persist=True)

        class Meta:
            app_label = "fund"
            constraints = [nj.NearDuplicateConstraint("sig", 0.5, name="no_copies")]
            indexes = [nj.NeardupIndex(fields=["given"], name="grant_given")]

    return Grant, nj


def django_tests() -> None:
    Grant, nj = django_models()
    from django import forms
    from django.core.exceptions import ValidationError
    from django.db import IntegrityError, connection, transaction
    from django.db.migrations.autodetector import MigrationAutodetector
    from django.db.migrations.state import ModelState, ProjectState
    from django.db.migrations.writer import MigrationWriter
    from django.db.models import Value

    def state() -> ProjectState:
        models = ProjectState()
        models.add_model(ModelState.from_model(Grant))
        return models

    migrations = MigrationAutodetector(ProjectState(), state())._detect_changes()["fund"]
    with connection.schema_editor() as editor:
        for migration in migrations:
            migration.apply(ProjectState(), editor)
    roof = Grant.objects.create(body=TEXT, given=neardup.simhash([TEXT])[0])
    roof.refresh_from_db()
    check(roof.sig == bytes(neardup.minhash([TEXT])[0]), "Django: a generated signature comes back as bytes")
    check(roof.given == bytes(neardup.simhash([TEXT])[0]), "a stored one, too")
    rows = Grant.objects.filter(nj.IsSimilar("sig", nj.ToMinhash(Value(NEAR)), 0.5)).annotate(s=nj.Similarity("sig", nj.ToMinhash(Value(NEAR))))
    check([0.5 <= row.s < 1 for row in rows.order_by(nj.Distance("sig", nj.ToMinhash(Value(NEAR))))] == [True], "conditions and order")
    check(Grant.objects.filter(nj.IsSimilar("sig", Value(bytes(neardup.minhash([NEAR])[0]), nj.MinhashField()), 0.5)).count() == 1, "bytes are parameters")

    def insert() -> None:
        with transaction.atomic():
            Grant.objects.create(body=NEAR)

    error = caught(insert)
    check(isinstance(error, IntegrityError) and neardup.refusal(error).constraint == "no_copies", "refusal() reads what Django raises")
    check(isinstance(caught(lambda: Grant(body=NEAR).full_clean()), ValidationError), "full_clean() reports a copy")
    check(caught(lambda: Grant(body=FAR, title="x").full_clean()) is None and caught(roof.full_clean) is None, "but no other text, nor a row itself")
    form = forms.modelform_factory(Grant, fields=["body"])
    check("near-duplicate" in str(form({"body": NEAR}).errors) and form({"body": FAR}).is_valid(), "so does a form")
    other = forms.modelform_factory(Grant, fields=["title"])
    check(other({"title": "a"}, instance=Grant(body=NEAR)).is_valid(), "unless it has not the field")

    text = MigrationWriter.serialize(Grant._meta.constraints[0])[0]
    check("NearDuplicateConstraint" in text and "0.5" in text, "a migration can be written")
    check(MigrationAutodetector(state(), state())._detect_changes() == {}, "and is empty the second time")
    with connection.schema_editor() as editor:
        editor.remove_constraint(Grant, Grant._meta.constraints[0])
        editor.add_constraint(Grant, Grant._meta.constraints[0])
        editor.remove_index(Grant, Grant._meta.indexes[0])
        editor.add_index(Grant, Grant._meta.indexes[0])
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM neardup_indexes WHERE index_name IN ('no_copies'::regclass, 'grant_given'::regclass)")
        check(cursor.fetchone()[0] == 2, "constraint and index are dropped and made")
    with connection.schema_editor() as editor:
        for migration in reversed(migrations):
            migration.unapply(ProjectState(), editor)
    check("fund_grant" not in connection.introspection.table_names(), "up and down")


with psycopg.connect(dbname="postgres", autocommit=True) as admin:
    admin.execute(f"DROP DATABASE IF EXISTS {NAME}")
    admin.execute(f"CREATE DATABASE {NAME}")
with psycopg.connect(dbname=NAME) as admin:
    admin.execute("CREATE EXTENSION neardup")
print("#", ", ".join(f"{name} {version(name)}" for name in ("psycopg", "psycopg2-binary", "asyncpg", "SQLAlchemy", "alembic", "Django")))
sqlalchemy_with("psycopg2", last=False)
sqlalchemy_with("psycopg", last=True)
asyncio.run(asyncpg_alone())
drivers()
pooled()
asyncio.run(pooled_asyncpg())
django_tests()
print(f"1..{count}")
sys.exit(failures > 0)
