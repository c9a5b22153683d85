// Tests of tokio-postgres, sqlx and Diesel on a server that PGHOST and PGPORT name, and behind PgBouncer at POOLER_PORT.  Prints
// TAP; the database has the table and the guard of migrations/1_proposals/up.sql.
//
//     frameworks DATABASE

use std::env::{args, var};
use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

const TEXT: &str = "The library needs a new roof, since the old one leaks whenever it rains in autumn.";
const NEAR: &str = "The library needs a new roof, since the old one leaks whenever it rains in spring.";
const FAR: &str = "A playground for the children of the valley, and benches for their parents.";
const UP: &str = include_str!("migrations/1_proposals/up.sql");
const DOWN: &str = include_str!("migrations/1_proposals/down.sql");
const SEARCH: &str = "SELECT id FROM proposals WHERE is_similar(sig, to_minhash($1), $2) ORDER BY sig <-> to_minhash($1)";
const GONE: &str = "to_regclass('proposals') IS NULL";

static COUNT: AtomicUsize = AtomicUsize::new(0);
static FAILURES: AtomicUsize = AtomicUsize::new(0);

fn check(ok: bool, name: &str) {
    let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
    FAILURES.fetch_add(usize::from(!ok), Ordering::Relaxed);
    println!("{} {count} - {name}", if ok { "ok" } else { "not ok" });
}

struct Refusal {
    is_exclusion: bool,
    constraint: Option<String>,
    detail: Option<String>,
}

trait Client {
    fn load(&mut self) -> impl Future<Output = u64>;
    fn search(&mut self, text: &str, threshold: f64) -> impl Future<Output = Vec<i64>>;
    fn sign(&mut self, text: &str) -> impl Future<Output = Vec<u8>>;
    fn search_signature(&mut self, signature: &[u8], threshold: f64) -> impl Future<Output = Vec<i64>>;
    fn all(&mut self) -> impl Future<Output = Vec<Vec<u8>>>;
    fn count(&mut self, signatures: Vec<Vec<u8>>) -> impl Future<Output = i64>;
    fn insert(&mut self, body: &str) -> impl Future<Output = Option<Refusal>>;
}

async fn scenario(name: &str, client: &mut impl Client) {
    check(client.load().await == 2, &format!("{name}: rows are loaded in bulk"));
    let found = client.search(NEAR, 0.5).await;
    check(found.len() == 1, "a threshold is a parameter");
    let mine = client.sign(NEAR).await;
    check(client.search_signature(&mine, 0.5).await == found, "bytes are results, and parameters");
    let all = client.all().await;
    check(all.len() == 2 && client.count(all).await == 2, "and arrays of them");
    let refusal = client.insert(NEAR).await.expect("refused");
    check(
        refusal.is_exclusion && refusal.constraint.as_deref() == Some("no_copies") && refusal.detail.unwrap().contains("A roof"),
        "a refusal tells of the other row",
    );
}

// Two connections share one of the server's, transaction by transaction.
async fn pooled(mut pair: [impl Client; 2]) {
    let mut found = 0;
    for i in 0..20 {
        found += pair[i % 2].search(NEAR, 0.5).await.len();
    }
    check(found == 20, "behind PgBouncer");
}

fn settings(port: &str) -> String {
    let [host, port, user, password] = ["PGHOST", port, "PGUSER", "PGPASSWORD"].map(|name| var(name).unwrap());
    format!("host={host} port={port} user={user} password={password} dbname={}", args().nth(1).unwrap())
}

// ---- tokio-postgres ----

mod tokio_client {
    use super::*;
    use tokio_postgres::{binary_copy::BinaryCopyInWriter, connect, error::SqlState, types::Type, Client as Connection, NoTls};

    pub struct Direct(pub Connection);

    pub async fn open(port: &str) -> Direct {
        let (client, connection) = connect(&settings(port), NoTls).await.unwrap();
        tokio::spawn(connection);
        Direct(client)
    }

    /// Writes signatures as a binary COPY of bytes.
    pub async fn copy_signatures(client: &Connection, signature: &[u8]) {
        client.batch_execute("CREATE TEMP TABLE signed (sig minhash)").await.unwrap();
        let mut writer = pin!(BinaryCopyInWriter::new(client.copy_in("COPY signed FROM STDIN (FORMAT binary)").await.unwrap(), &[Type::BYTEA]));
        writer.as_mut().write(&[&signature]).await.unwrap();
        writer.finish().await.unwrap();
        let equal = client.query_one("SELECT sig::bytea FROM signed", &[]).await.unwrap().get::<_, Vec<u8>>(0) == signature;
        check(equal, "COPY sends them as BYTEA");
    }

    // query_typed() prepares no statement.
    impl Client for Direct {
        async fn load(&mut self) -> u64 {
            let sink = self.0.copy_in("COPY proposals (title, body) FROM STDIN (FORMAT binary)").await.unwrap();
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &[Type::TEXT, Type::TEXT]));
            writer.as_mut().write(&[&"A roof", &TEXT]).await.unwrap();
            writer.as_mut().write(&[&None::<&str>, &FAR]).await.unwrap();
            writer.finish().await.unwrap()
        }
        async fn search(&mut self, text: &str, threshold: f64) -> Vec<i64> {
            let rows = self.0.query_typed(SEARCH, &[(&text, Type::TEXT), (&threshold, Type::FLOAT8)]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        }
        async fn sign(&mut self, text: &str) -> Vec<u8> {
            self.0.query_one("SELECT to_minhash($1)::bytea", &[&text]).await.unwrap().get(0)
        }
        async fn search_signature(&mut self, signature: &[u8], threshold: f64) -> Vec<i64> {
            let query = "SELECT id FROM proposals WHERE is_similar(sig, $1::bytea::minhash, $2)";
            let rows = self.0.query(query, &[&signature, &threshold]).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        }
        async fn all(&mut self) -> Vec<Vec<u8>> {
            self.0.query_one("SELECT array_agg(sig)::bytea[] FROM proposals", &[]).await.unwrap().get(0)
        }
        async fn count(&mut self, signatures: Vec<Vec<u8>>) -> i64 {
            let query = "SELECT count(*) FROM proposals WHERE sig = ANY ($1::bytea[]::minhash[])";
            self.0.query_one(query, &[&signatures]).await.unwrap().get(0)
        }
        async fn insert(&mut self, body: &str) -> Option<Refusal> {
            let error = self.0.execute("INSERT INTO proposals (body) VALUES ($1)", &[&body]).await.err()?;
            let error = error.as_db_error()?;
            Some(Refusal {
                is_exclusion: *error.code() == SqlState::EXCLUSION_VIOLATION,
                constraint: error.constraint().map(str::to_owned),
                detail: error.detail().map(str::to_owned),
            })
        }
    }
}

// ---- sqlx ----

mod sqlx_client {
    use super::*;
    use sqlx::migrate::{Migration, MigrationType, Migrator};
    use sqlx::postgres::{PgConnectOptions, PgConnection, PgDatabaseError};
    use sqlx::{query, query_scalar, AssertSqlSafe, ConnectOptions, SqlStr};

    /// A signature as its bytes.
    #[derive(sqlx::Type)]
    #[sqlx(type_name = "minhash")]
    struct Signature(Vec<u8>);

    pub struct Direct(pub PgConnection);

    pub async fn open(port: &str) -> Direct {
        let options = PgConnectOptions::new().port(var(port).unwrap().parse().unwrap()).database(&args().nth(1).unwrap());
        Direct(options.statement_cache_capacity(if port == "PGPORT" { 100 } else { 0 }).connect().await.unwrap())
    }

    pub async fn is_gone(client: &mut Direct) -> bool {
        query_scalar(AssertSqlSafe(format!("SELECT {GONE}"))).fetch_one(&mut client.0).await.unwrap()
    }

    pub fn migrations() -> Migrator {
        let migration = |kind, sql| Migration::new(1, "proposals".into(), kind, SqlStr::from_static(sql), false);
        Migrator::with_migrations(vec![migration(MigrationType::ReversibleUp, UP), migration(MigrationType::ReversibleDown, DOWN)])
    }

    impl Client for Direct {
        async fn load(&mut self) -> u64 {
            let mut copy = self.0.copy_in_raw("COPY proposals (title, body) FROM STDIN").await.unwrap();
            copy.send(format!("A roof\t{TEXT}\n\\N\t{FAR}\n").as_bytes()).await.unwrap();
            copy.finish().await.unwrap()
        }
        async fn search(&mut self, text: &str, threshold: f64) -> Vec<i64> {
            query_scalar(SEARCH).bind(text).bind(threshold).persistent(false).fetch_all(&mut self.0).await.unwrap()
        }
        async fn sign(&mut self, text: &str) -> Vec<u8> {
            query_scalar::<_, Signature>("SELECT to_minhash($1)").bind(text).fetch_one(&mut self.0).await.unwrap().0
        }
        async fn search_signature(&mut self, signature: &[u8], threshold: f64) -> Vec<i64> {
            let found = query_scalar("SELECT id FROM proposals WHERE is_similar(sig, $1, $2)").bind(Signature(signature.to_vec()));
            found.bind(threshold).fetch_all(&mut self.0).await.unwrap()
        }
        async fn all(&mut self) -> Vec<Vec<u8>> {
            let all = query_scalar::<_, Vec<Signature>>("SELECT array_agg(sig) FROM proposals").fetch_one(&mut self.0);
            all.await.unwrap().into_iter().map(|signature| signature.0).collect()
        }
        async fn count(&mut self, signatures: Vec<Vec<u8>>) -> i64 {
            let signatures: Vec<Signature> = signatures.into_iter().map(Signature).collect();
            query_scalar("SELECT count(*) FROM proposals WHERE sig = ANY ($1)").bind(signatures).fetch_one(&mut self.0).await.unwrap()
        }
        async fn insert(&mut self, body: &str) -> Option<Refusal> {
            let error = query("INSERT INTO proposals (body) VALUES ($1)").bind(body).execute(&mut self.0).await.err()?;
            let error = error.as_database_error()?.downcast_ref::<PgDatabaseError>();
            Some(Refusal {
                is_exclusion: error.code() == "23P01",
                constraint: error.constraint().map(str::to_owned),
                detail: error.detail().map(str::to_owned),
            })
        }
    }
}

// ---- Diesel ----

mod diesel_client {
    use super::*;
    use diesel::connection::CacheSize;
    use diesel::deserialize::{self, FromSql, FromSqlRow};
    use diesel::expression::AsExpression;
    use diesel::pg::{Pg, PgValue};
    use diesel::prelude::*;
    use diesel::result::{DatabaseErrorKind, Error::DatabaseError};
    use diesel::serialize::{self, IsNull, Output, ToSql};
    use diesel::query_builder::QueryId;
    use diesel::sql_types::{Bool, Double, SqlType, Text};
    use diesel_migrations::{embed_migrations, EmbeddedMigrations, MigrationHarness};
    use proposals::dsl::{body, id, sig, title};

    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations");

    #[derive(SqlType, QueryId, Clone, Copy)]
    #[diesel(postgres_type(name = "minhash"))]
    pub struct Minhash;

    /// A signature as its bytes.
    #[derive(AsExpression, FromSqlRow, Debug, Clone)]
    #[diesel(sql_type = Minhash)]
    pub struct Signature(Vec<u8>);

    impl FromSql<Minhash, Pg> for Signature {
        fn from_sql(value: PgValue) -> deserialize::Result<Self> {
            Ok(Signature(value.as_bytes().to_vec()))
        }
    }

    impl ToSql<Minhash, Pg> for Signature {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            out.write_all(&self.0)?;
            Ok(IsNull::No)
        }
    }

    diesel::table! {
        proposals (id) { id -> Int8, title -> Nullable<Text>, body -> Text, sig -> crate::diesel_client::Minhash, }
    }

    #[diesel::declare_sql_function]
    extern "SQL" {
        fn to_minhash(text: Text) -> Minhash;
        fn is_similar(a: Minhash, b: Minhash, threshold: Double) -> Bool;
        fn array_agg(signature: Minhash) -> Array<Minhash>;
    }
    diesel::infix_operator!(Distance, " <-> ", Double, backend: Pg);

    pub struct Direct(pub PgConnection);

    pub fn up(client: &mut Direct) {
        client.0.run_pending_migrations(MIGRATIONS).unwrap();
    }

    pub fn down(client: &mut Direct) -> bool {
        client.0.revert_all_migrations(MIGRATIONS).unwrap();
        diesel::select(diesel::dsl::sql::<Bool>(GONE)).get_result(&mut client.0).unwrap()
    }

    pub fn open(port: &str) -> Direct {
        let mut connection = PgConnection::establish(&settings(port)).unwrap();
        if port != "PGPORT" {
            connection.set_prepared_statement_cache_size(CacheSize::Disabled);
        }
        Direct(connection)
    }

    impl Client for Direct {
        async fn load(&mut self) -> u64 {
            let rows = [(title.eq(Some("A roof")), body.eq(TEXT)), (title.eq(None), body.eq(FAR))];
            diesel::copy_from(proposals::table).from_insertable(&rows).execute(&mut self.0).unwrap() as u64
        }
        async fn search(&mut self, text: &str, threshold: f64) -> Vec<i64> {
            let near = proposals::table.select(id).filter(is_similar(sig, to_minhash(text), threshold));
            near.order(Distance::new(sig, to_minhash(text))).load(&mut self.0).unwrap()
        }
        async fn sign(&mut self, text: &str) -> Vec<u8> {
            diesel::select(to_minhash(text)).get_result::<Signature>(&mut self.0).unwrap().0
        }
        async fn search_signature(&mut self, signature: &[u8], threshold: f64) -> Vec<i64> {
            let near = proposals::table.select(id).filter(is_similar(sig, Signature(signature.to_vec()), threshold));
            near.load(&mut self.0).unwrap()
        }
        async fn all(&mut self) -> Vec<Vec<u8>> {
            let all: Vec<Signature> = proposals::table.select(array_agg(sig)).get_result(&mut self.0).unwrap();
            all.into_iter().map(|signature| signature.0).collect()
        }
        async fn count(&mut self, signatures: Vec<Vec<u8>>) -> i64 {
            let signatures: Vec<Signature> = signatures.into_iter().map(Signature).collect();
            proposals::table.filter(sig.eq_any(signatures)).count().get_result(&mut self.0).unwrap()
        }
        async fn insert(&mut self, text: &str) -> Option<Refusal> {
            let DatabaseError(kind, error) = diesel::insert_into(proposals::table).values(body.eq(text)).execute(&mut self.0).err()? else { return None };
            Some(Refusal {
                is_exclusion: matches!(kind, DatabaseErrorKind::ExclusionViolation),
                constraint: error.constraint_name().map(str::to_owned),
                detail: error.details().map(str::to_owned),
            })
        }
    }
}

/// Prints the versions of the packages.
fn print_versions() {
    let lock = include_str!("Cargo.lock");
    let versions = ["tokio-postgres", "sqlx", "diesel"].map(|name| {
        let after = lock.split(&format!("name = \"{name}\"\nversion = \"")).nth(1).unwrap();
        format!("{name} {}", after.split('"').next().unwrap())
    });
    println!("# {}", versions.join(", "));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    print_versions();
    let mut client = tokio_client::open("PGPORT").await;
    let signature = client.sign(TEXT).await;
    scenario("tokio-postgres", &mut client).await;
    tokio_client::copy_signatures(&client.0, &signature).await;
    pooled([tokio_client::open("POOLER_PORT").await, tokio_client::open("POOLER_PORT").await]).await;
    client.0.batch_execute(DOWN).await.unwrap();

    let mut client = sqlx_client::open("PGPORT").await;
    sqlx_client::migrations().run(&mut client.0).await.unwrap();
    scenario("sqlx", &mut client).await;
    pooled([sqlx_client::open("POOLER_PORT").await, sqlx_client::open("POOLER_PORT").await]).await;
    sqlx_client::migrations().undo(&mut client.0, 0).await.unwrap();
    check(sqlx_client::is_gone(&mut client).await, "up and down");

    let mut client = diesel_client::open("PGPORT");
    diesel_client::up(&mut client);
    scenario("Diesel", &mut client).await;
    pooled([diesel_client::open("POOLER_PORT"), diesel_client::open("POOLER_PORT")]).await;
    check(diesel_client::down(&mut client), "up and down");
    println!("1..{}", COUNT.load(Ordering::Relaxed));
    std::process::exit(i32::from(FAILURES.load(Ordering::Relaxed) > 0));
}
