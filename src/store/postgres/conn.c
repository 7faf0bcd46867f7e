/* conn.c - one PostgreSQL connection: opening, timeouts, waiting for answers, error codes. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/postgres/postgres.h"

enum {
    ANSWER_TIMEOUT_MS = 8000,
    REPORT_MS = 1000, /* time by which the database's timeout is shorter than this process's */
    STOPPING_SERVER_WAIT_MS = 3000, /* how long to wait for a stopped server that PostgreSQL still
                                     * lists as connected */
};

static bool sqlstate_is(const char *state, const char *code)
{
    return strcmp(state, code) == 0;
}

static bool connection_is_lost(struct postgres_conn *c, const char *state)
{
    if (c->lost)
        return true;
    /* SQL state 57P… means that the database shuts down, or that an operator terminated the
     * connection. 25P03 means that the connection was idle in a transaction for too long. */
    return pq.status(c->pg) != CONNECTION_OK || strncmp(state, "57P", 3) == 0 ||
           sqlstate_is(state, "25P03");
}

enum err postgres_error_from_result(struct postgres_conn *c, const PGresult *result,
                                    const char *sql)
{
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    if (!state)
        state = "";
    if (sqlstate_is(state, "23505")) /* unique_violation */
        return ERR_STORE_CONFLICT;
    if (sqlstate_is(state, "40001") ||
        sqlstate_is(state, "40P01")) /* serialization_failure, deadlock */
        return ERR_STORE_RETRY;
    if (sqlstate_is(state, "25006")) /* read_only_sql_transaction */
        return tx_abort_process_on_write_in_read(sql);
    if (sqlstate_is(state, "22021")) /* character_not_in_repertoire */
        return ERR_BAD_REQUEST;
    if (connection_is_lost(c, state)) {
        c->lost = true;
        return ERR_UNAVAILABLE;
    }
    if (c->time_limit.until && sqlstate_is(state, "57014")) {
        c->time_limit.is_exceeded = true;
        return ERR_STORE_RETRY;
    }
    if (sqlstate_is(state, "57014") || sqlstate_is(state, "55P03") ||
        sqlstate_is(state, "2200H")) { /* query_canceled, lock_not_available, end of a sequence */
        log_warn("store: PostgreSQL refused an SQL statement: %s; statement: %s",
                 pq.resultErrorMessage(result), sql);
        return ERR_UNAVAILABLE;
    }
    bool full = sqlstate_is(state, "53100"); /* disk_full */
    if (!full || disk_full_message_may_be_logged())
        log_error("store: PostgreSQL refused an SQL statement: %s; statement: %s",
                  result ? pq.resultErrorMessage(result) : pq.errorMessage(c->pg), sql);
    return full ? ERR_STORAGE_FULL : ERR_INTERNAL;
}

/* Returns whether OpenSSL has decrypted bytes that libpq has not read. OpenSSL decrypts a whole TLS
 * record, but libpq may have room for only 8 KiB. PostgreSQL sends records of at most 8 KiB (except
 * for long rows, since version 17); a proxy may send 16 KiB. */
bool postgres_conn_has_unread_tls_bytes(const struct postgres_conn *c)
{
    const void *tls = pq.ssl_pending ? pq.sslStruct(c->pg, "OpenSSL") : NULL;

    return tls && pq.ssl_pending(tls) > 0;
}

/* Returns the time that is left until `until` in ms, as timeout for poll; -1 means no timeout. */
static int compute_remaining_timeout_ms(const struct postgres_conn *c, int64_t until)
{
    int64_t left = (until - clock_monotonic_ns()) / 1000000;

    if (!c->answer_timeout_ms)
        return -1;
    return left > 0 ? (int)left : 0;
}

/* Sends unsent bytes and waits until a result can be read without blocking. If the database neither
 * reads nor answers within answer_timeout_ms, the connection counts as lost: the network was cut,
 * or the database hangs. */
static bool wait_for_database_answer(struct postgres_conn *c)
{
    struct pollfd p = { .fd = pq.socket(c->pg), .events = POLLIN };
    int64_t until = clock_monotonic_ns() + (int64_t)c->answer_timeout_ms * 1000000;

    while (!c->lost && pq.isBusy(c->pg)) {
        int unsent = pq.flush(c->pg);

        p.events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
        int ready = postgres_conn_has_unread_tls_bytes(c)
                        ? 1
                        : poll(&p, 1, compute_remaining_timeout_ms(c, until));

        if (ready < 0 && errno == EINTR)
            continue;
        c->timed_out = ready == 0;
        if (c->timed_out)
            log_warn("store: PostgreSQL did not answer for %d seconds; closing the connection",
                     c->answer_timeout_ms / 1000);
        if (ready > 0 && p.revents & POLLOUT) /* the database reads: restart the timeout */
            until = clock_monotonic_ns() + (int64_t)c->answer_timeout_ms * 1000000;
        if (unsent < 0 || ready <= 0 || !pq.consumeInput(c->pg))
            c->lost = true;
    }
    return !c->lost;
}

PGresult *postgres_read_next_result(struct postgres_conn *c)
{
    return wait_for_database_answer(c) ? pq.getResult(c->pg) : NULL;
}

bool postgres_result_is_ok(const PGresult *result)
{
    ExecStatusType status = pq.resultStatus(result);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

PGresult *postgres_read_last_result(struct postgres_conn *c, int sent)
{
    PGresult *last = NULL, *result;

    if (!sent)
        c->lost = true;
    while (!c->lost && (result = postgres_read_next_result(c))) {
        if (last && !postgres_result_is_ok(last)) {
            pq.clear(result);
            continue;
        }
        pq.clear(last);
        last = result;
    }
    return last;
}

enum err postgres_check_and_free_result(struct postgres_conn *c, PGresult *result, const char *sql)
{
    enum err e = postgres_result_is_ok(result) ? OK : postgres_error_from_result(c, result, sql);

    pq.clear(result);
    return e;
}

void postgres_conn_count_round_trip(struct postgres_conn *c)
{
    if (c->round_trips)
        atomic_fetch_add_explicit(c->round_trips, 1, memory_order_relaxed);
    if (c->time_limit.until && c->time_limit.free_round_trips) {
        c->time_limit.until += c->time_limit.round_trip_ns;
        c->time_limit.free_round_trips--;
    }
}

void postgres_conn_read_result_of_pending_commit(struct postgres_conn *c)
{
    if (c->ending)
        pq.clear(postgres_read_last_result(c, 1));
    c->ending = false;
}

/* Sends a command and waits for its result. Measures the duration: the fastest command so far
 * approximates the network round-trip time. */
static PGresult *run_command(struct postgres_conn *c, const char *sql)
{
    postgres_conn_read_result_of_pending_commit(c);
    postgres_conn_count_round_trip(c);
    int64_t began = clock_monotonic_ns();
    PGresult *result = postgres_read_last_result(c, pq.sendQuery(c->pg, sql));
    int64_t took = clock_monotonic_ns() - began;
    if (!c->lost && (!c->time_limit.round_trip_ns || took < c->time_limit.round_trip_ns))
        c->time_limit.round_trip_ns = took;
    return result;
}

enum err postgres_conn_run_command(struct postgres_conn *c, const char *sql)
{
    return postgres_check_and_free_result(c, run_command(c, sql), sql);
}

enum err postgres_conn_query_text(struct postgres_conn *c, const char *sql, char *out, size_t size)
{
    PGresult *result = run_command(c, sql);

    out[0] = '\0';
    if (postgres_result_is_ok(result) && pq.ntuples(result))
        snprintf(out, size, "%s", pq.getvalue(result, 0, 0));
    return postgres_check_and_free_result(c, result, sql);
}

static void on_postgres_notice(void *arg, const char *message)
{
    (void)arg, (void)message; /* ignore the notice, which libpq would otherwise print to stderr */
    log_debug("store: PostgreSQL sent a notice: %s", message);
}

bool postgres_conn_open(struct postgres_conn *c, const char *where, bool log)
{
    /* Keys before dbname are defaults that the operator's connection string may override. The
     * defaults detect within 8 s that the network was cut: tcp_user_timeout if there is unsent
     * data, the keepalives if there is none. */
    static const char *const keys[] = {
        "connect_timeout",     "tcp_user_timeout", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "client_encoding",
        "application_name",    "dbname",           NULL,
    };
    const char *const values[] = { "3", "8000", "4", "2", "2", "UTF8", "guildhall", where, NULL };

    c->pg = pq.connectdbParams(keys, values, 1);
    if (c->pg && pq.status(c->pg) == CONNECTION_OK) {
        pq.setNoticeProcessor(c->pg, on_postgres_notice, NULL);
        map_init(&c->statements);
        c->lost = c->timed_out = c->ending = c->time_limit.has_short_timeout =
            c->has_too_many_statements = false;
        c->begin = NULL;
        c->queued_count = 0;
        c->answer_timeout_ms = 0;
        c->time_limit.round_trip_ns = 0;
        c->position = 0;
        return true;
    }
    if (log)
        log_error("store: cannot connect to PostgreSQL: %s",
                  c->pg ? pq.errorMessage(c->pg) : "out of memory");
    pq.finish(c->pg);
    c->pg = NULL;
    return false;
}

/* Advisory lock that every server holds, one per schema. All other advisory locks of this program
 * have another first number. */
#define SERVER_LOCK "(7166182, hashtext(current_schema()))"

/* The timeouts of the database are a little shorter than those of this process, so that the
 * database reports them. lock_timeout is 3 s for the first lock, because a tool that has just
 * closed still holds it for a moment. */
static const char REGISTER_SERVER_SQL[] =
    "set lock_timeout = '3s'; select pg_advisory_lock_shared" SERVER_LOCK "; "
    "select pg_advisory_lock_shared(" SERVER_LOCK_CLASS ", %" PRId32 "); "
    "set lock_timeout = '7s'; set statement_timeout = '7s'; "
    "set idle_in_transaction_session_timeout = '10s'";

/* Sends the statement that sets the database's statement timeout. Returns false if the statement
 * could not be sent. */
bool postgres_conn_set_timeout(struct postgres_conn *c, bool hurry)
{
    char sql[64];
    int most_ms = c->answer_timeout_ms ? c->answer_timeout_ms - REPORT_MS : 0;
    int ms = hurry ? SHORT_READ_LIMIT_MS : most_ms;

    if (c->time_limit.has_short_timeout == hurry)
        return true;
    snprintf(sql, sizeof sql, "set statement_timeout = %d", ms);
    if (postgres_conn_run_command(c, sql))
        return false;
    c->time_limit.has_short_timeout = hurry;
    return true;
}

bool postgres_conn_register_server(struct postgres_conn *c, struct postgres *p)
{
    char sql[sizeof REGISTER_SERVER_SQL + 16];

    /* Set a timeout: without it, libpq would block if the database does not read; tcp_user_timeout
     * does not apply to a Unix socket. wait_for_database_answer sends the remaining bytes. */
    c->answer_timeout_ms = ANSWER_TIMEOUT_MS;
    if (pq.setnonblocking(c->pg, 1) != 0 ||
        !postgres_check_other_servers(c, p->identity, STOPPING_SERVER_WAIT_MS))
        return false;
    snprintf(sql, sizeof sql, REGISTER_SERVER_SQL, (int32_t)p->identity);
    /* Check again: a server that connected at the same time was not visible to the first check. Now
     * at least one of the two sees the other's lock. */
    if (!postgres_conn_run_command(c, sql))
        return postgres_check_other_servers(c, p->identity, 0) && postgres_schema_is_usable(c, p);
    log_error(
        "store: cannot lock the database: a tool uses it exclusively, or PostgreSQL is too slow");
    return false;
}

enum err postgres_prevent_server_connections(struct tx *tx)
{
    enum err e = tx_exec(tx, "set local lock_timeout = '3s'", NO_BIND, NULL);

    if (!e)
        e = tx_exec(tx, "select pg_advisory_lock" SERVER_LOCK, NO_BIND, NULL);
    if (e)
        log_error("store: a server is running on this database; stop it first");
    return e;
}

void postgres_conn_close(struct postgres_conn *c)
{
    if (!c->pg)
        return;
    postgres_discard_queued_statements(c);
    postgres_free_prepared_statements(c);
    pq.finish(c->pg);
    c->pg = NULL;
}

bool postgres_conn_is_open(struct postgres_conn *c)
{
    struct pollfd p = { .fd = pq.socket(c->pg), .events = POLLIN };

    postgres_conn_read_result_of_pending_commit(c);
    if (c->lost)
        return false;

    /* If no command is in progress, the socket is readable only if the database closes the
     * connection. */
    return poll(&p, 1, 0) == 0 || (pq.consumeInput(c->pg) && pq.status(c->pg) == CONNECTION_OK);
}
