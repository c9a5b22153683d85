// Tests of pgx on a server that PGHOST and PGPORT name, and behind PgBouncer at POOLER_PORT.  Prints TAP; the database has the
// table and the guard of 043_frameworks.pl.
//
//	frameworks DATABASE
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const text = "The library needs a new roof, since the old one leaks whenever it rains in autumn."
const far = "A playground for the children of the valley, and benches for their parents."

var near = strings.Replace(text, "autumn", "spring", 1)
var ctx = context.Background()
var count, failures int

func check(ok bool, name string) {
	count++
	word := "ok"
	if !ok {
		word = "not ok"
		failures++
	}
	fmt.Println(word, count, "-", name)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func value[T any](conn *pgx.Conn, query string, arguments ...any) (found T) {
	if err := conn.QueryRow(ctx, query, arguments...).Scan(&found); err != nil {
		panic(err)
	}
	return
}

// Lets a connection send and receive a type, and arrays of it, as bytes.
func register(conn *pgx.Conn, name string) {
	types := conn.TypeMap()
	types.RegisterType(&pgtype.Type{Name: name, OID: value[uint32](conn, "SELECT $1::regtype::oid", name), Codec: pgtype.ByteaCodec{}})
	types.RegisterType(must(conn.LoadType(ctx, "_"+name)))
}

func direct(conn *pgx.Conn) {
	rows := [][]any{{"A roof", text}, {nil, far}}
	loaded := must(conn.CopyFrom(ctx, pgx.Identifier{"proposals"}, []string{"title", "body"}, pgx.CopyFromRows(rows)))
	check(loaded == 2, "pgx: CopyFrom loads in bulk")
	search := "SELECT array_agg(id) FROM proposals WHERE is_similar(sig, to_minhash($1), $2)"
	check(len(value[[]int64](conn, search, near, 0.5)) == 1, "a threshold is a parameter")
	mine := value[[]byte](conn, "SELECT to_minhash($1)::bytea", near)
	check(value[int](conn, "SELECT count(*) FROM proposals WHERE is_similar(sig, $1::bytea::minhash, 0.5)", mine) == 1, "so are bytes")

	register(conn, "minhash")
	check(bytes.Equal(value[[]byte](conn, "SELECT to_minhash($1)", near), mine), "with a codec, signatures are received as bytes")
	all := value[[][]byte](conn, "SELECT array_agg(sig ORDER BY id) FROM proposals")
	check(len(all) == 2 && value[int](conn, "SELECT count(*) FROM proposals WHERE sig = ANY ($1)", all) == 2, "and arrays of them, both ways")
	must(conn.Exec(ctx, "CREATE TABLE signed (id int, sig minhash)"))
	loaded = must(conn.CopyFrom(ctx, pgx.Identifier{"signed"}, []string{"id", "sig"}, pgx.CopyFromRows([][]any{{1, mine}, {2, nil}})))
	check(loaded == 2 && value[int](conn, "SELECT id FROM signed WHERE is_similar(sig, $1, 1)", mine) == 1, "CopyFrom sends them")
	must(conn.Exec(ctx, "DROP TABLE signed"))

	_, err := conn.Exec(ctx, "INSERT INTO proposals (body) VALUES ($1)", near)
	var refusal *pgconn.PgError
	check(errors.As(err, &refusal) && refusal.Code == "23P01" && refusal.ConstraintName == "no_copies" &&
		strings.Contains(refusal.Detail, "A roof"), "a refusal tells of the other row")
}

// Two connections share one of the server's, transaction by transaction.
func pooled(settings string) {
	pair := []*pgx.Conn{must(pgx.Connect(ctx, settings)), must(pgx.Connect(ctx, settings))}
	found := 0
	for i := range 20 {
		found += value[int](pair[i%2], "SELECT count(*) FROM proposals WHERE is_similar(sig, to_minhash($1), $2)", near, 0.5)
	}
	check(found == 20, "behind PgBouncer")
	for _, conn := range pair {
		conn.Close(ctx)
	}
}

func main() {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if strings.HasSuffix(module.Path, "/pgx/v5") {
			fmt.Println("#", runtime.Version()+", pgx", module.Version)
		}
	}
	settings := "dbname=" + os.Args[1]
	conn := must(pgx.Connect(ctx, settings))
	direct(conn)
	conn.Close(ctx)
	pooled(settings + " port=" + os.Getenv("POOLER_PORT") + " default_query_exec_mode=exec")
	fmt.Printf("1..%d\n", count)
	os.Exit(min(failures, 1))
}
