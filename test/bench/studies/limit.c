/*
 * limit.c: a client that runs prepared statements in turns, and prints the median and the
 * mean time of each, in microseconds.
 *
 *   limit CONNECTION ROUNDS < STATEMENTS
 *
 * A line of input is a name, a tab, a statement with one parameter $1, a tab, and a query
 * that returns the values of the parameter.  Each round runs every statement once.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATEMENTS_MAX 16
#define LINE_MAX_BYTES 4096

typedef struct Statement
{
	char name[64];
	PGresult *values;
	double *us;
} Statement;

static void
check(PGconn *connection, PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
		return;
	fprintf(stderr, "%s", PQerrorMessage(connection));
	exit(1);
}

static void
prepare(PGconn *connection, Statement *statement, char *line, int rounds)
{
	char *name = strtok(line, "\t");
	char *text = strtok(NULL, "\t");
	char *values = strtok(NULL, "\t\n");
	PGresult *result;

	if (values == NULL)
	{
		fprintf(stderr, "a line must have a name, a statement and a query of values\n");
		exit(2);
	}
	snprintf(statement->name, sizeof(statement->name), "%s", name);
	result = PQprepare(connection, name, text, 1, NULL);
	check(connection, result);
	PQclear(result);
	statement->values = PQexec(connection, values);
	check(connection, statement->values);
	statement->us = calloc(rounds, sizeof(double));
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double
ask(PGconn *connection, const Statement *statement, int round)
{
	const char *value = PQgetvalue(statement->values, round % PQntuples(statement->values), 0);
	double start = now();
	PGresult *result = PQexecPrepared(connection, statement->name, 1, &value, NULL, NULL, 0);
	double end = now();

	check(connection, result);
	PQclear(result);
	return end - start;
}

static int
compare(const void *x, const void *y)
{
	double a = *(const double *) x;
	double b = *(const double *) y;

	return a < b ? -1 : a > b;
}

int
main(int argc, char **argv)
{
	static Statement statement[STATEMENTS_MAX];
	char line[LINE_MAX_BYTES];
	int statements = 0;
	int rounds = argc == 3 ? atoi(argv[2]) : 0;
	PGconn *connection = rounds > 0 ? PQconnectdb(argv[1]) : NULL;

	if (PQstatus(connection) != CONNECTION_OK)
	{
		fprintf(stderr, "usage: limit CONNECTION ROUNDS < STATEMENTS\n%s",
				PQerrorMessage(connection));
		return 2;
	}
	while (statements < STATEMENTS_MAX && fgets(line, sizeof(line), stdin) != NULL)
		prepare(connection, &statement[statements++], line, rounds);
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < statements; i++)
			statement[i].us[round] = ask(connection, &statement[i], round);
	for (int i = 0; i < statements; i++)
	{
		double sum = 0;

		for (int round = 0; round < rounds; round++)
			sum += statement[i].us[round];
		qsort(statement[i].us, rounds, sizeof(double), compare);
		printf("%s\t%.1f\t%.1f\n", statement[i].name, statement[i].us[rounds / 2], sum / rounds);
	}
	PQfinish(connection);
	return 0;
}
