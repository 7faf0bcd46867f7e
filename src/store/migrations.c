/* migrations.c - applies numbered schema migrations, in order.
 *
 * Each applied migration is recorded with a digest of its text. If the recorded text differs from
 * this program's, or the number is unknown, the program refuses to use the database. */
#include "store/migrations.h"

#include <sodium.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/internal.h"

enum {
    DIGEST = 16,
    MAX_SQL = 1 << 20,
    LOCK_RETRIES = 20, /* number of attempts if other transactions lock the tables */
    LOCK_RETRY_MS = 500,
    STOPPING_SERVER_WAIT_MS = 3000, /* how long to wait, in ms, for a stopped server that PostgreSQL
                                     * still lists as connected */
    STOPPING_SERVER_POLL_MS = 50,
};

struct pending_migration {
    struct work_item work;
    const struct migration *migration; /* migration to apply */
    bool waits; /* result: whether a running server that does not know the migration postponed it */
    bool *applied; /* array with an element per known migration: whether the database has this
                    * migration */
    size_t found;  /* number of migrations that the database has */
    bool as_is;
};

static struct str compute_migration_digest(struct arena *a, const struct migration *m)
{
    unsigned char digest[DIGEST];
    struct str sql = str_of(m->sql);

    crypto_generichash(digest, sizeof digest, (const unsigned char *)sql.p, sql.n, NULL, 0);
    return str_hex_encode(a, digest, sizeof digest);
}

static size_t count_known_migrations(void)
{
    size_t count = 0;

    while (get_known_migrations()[count].number)
        count++;
    return count;
}

int64_t store_schema_number(void)
{
    return get_known_migrations()[count_known_migrations() - 1].number;
}

static enum migration_phase parse_migration_phase(const struct migration *m)
{
    struct str sql = str_of(m->sql);

    if (str_starts_with(sql, STR("-- expand: ")))
        return MIGRATION_EXPAND;
    return str_starts_with(sql, STR("-- contract: ")) ? MIGRATION_CONTRACT : MIGRATION_ALONE;
}

/* --- applied migrations --------------------------------------------------------------- */

/* Checks a migration that a newer program has applied. It is allowed if the table expanded_steps
 * lists it, which means that older servers can use the new schema. */
static enum err check_newer_migration(struct tx *tx, int64_t number, struct str name)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select 1 from expanded_steps where number = $1", BIND(v_int(number)),
                        &r, &found);

    if (e)
        return e;
    if (found) {
        log_info("store: the database has the migration %.*s of a newer program; this program can "
                 "use it",
                 STR_ARGS(name));
        return OK;
    }
    log_error("store: the database is newer than this program: it has the migration %lld (%.*s), "
              "this program knows migrations up to %lld; use the newer program",
              (long long)number, STR_ARGS(name), (long long)store_schema_number());
    return ERR_UNAVAILABLE;
}

static enum err check_applied_migration(struct tx *tx, const struct rows *r, bool *applied)
{
    int64_t number = row_int(r, 0);
    const struct migration *all = get_known_migrations(), *m = all;

    while (m->number && m->number != number)
        m++;
    if (!m->number)
        return check_newer_migration(tx, number, row_text(r, 1));
    if (!str_eq(row_text(r, 2), compute_migration_digest(tx_arena(tx), m))) {
        log_error("store: the migration %s in the database differs from the one in this "
                  "program; use the program that created the database",
                  m->name);
        return ERR_UNAVAILABLE;
    }
    applied[m - all] = true;
    return OK;
}

static enum err read_applied_migrations(struct work_item *w, struct tx *tx)
{
    struct pending_migration *step = container_of(w, struct pending_migration, work);
    struct rows r;
    enum err e = OK;

    memset(step->applied, 0, count_known_migrations() * sizeof *step->applied);
    step->found = 0;
    if (!step->as_is)
        e = tx->store->engine->script(tx, "create table if not exists migrations ("
                                          "number bigint primary key, name text not null, "
                                          "applied_at bigint not null, digest text not null)");
    if (!e)
        e = tx_query(tx, "select number, name, digest from migrations order by number", NO_BIND,
                     &r);
    if (e)
        return e;
    for (; !e && rows_next(&r); step->found++)
        e = check_applied_migration(tx, &r, step->applied);
    enum err ended = rows_end(&r);
    return e ? e : ended;
}

/* Returns whether the line begins a section: "-- sqlite:", "-- postgres:" or "-- both:". */
static bool parse_sql_engine_heading(struct str line, struct str *ret_engine)
{
    static const char *const engines[] = { "sqlite", "postgres", "both" };

    if (!str_starts_with(line, STR("-- ")) || line.p[line.n - 1] != ':')
        return false;
    struct str name = str_slice(line.p + 3, line.n - 4);
    for (size_t i = 0; i < COUNT_OF(engines); i++) {
        if (str_is(name, engines[i])) {
            *ret_engine = name;
            return true;
        }
    }
    return false;
}

static void append_sql_line_without_placeholders(const struct store_engine *engine, struct str line,
                                                 struct buf *out)
{
    struct str id = STR("{id}"), clustered = STR("{clustered}");

    while (line.n) {
        if (str_starts_with(line, id)) {
            buf_add_str(out, str_of(engine->id_sql));
            line = str_skip_bytes(line, id.n);
        } else if (str_starts_with(line, clustered)) {
            buf_add_str(out, str_of(engine->clustered_sql));
            line = str_skip_bytes(line, clustered.n);
        } else {
            buf_add_char(out, line.p[0]);
            line = str_skip_bytes(line, 1);
        }
    }
    buf_add_char(out, '\n');
}

/* Returns the SQL of those sections of a migration that are for this engine, with {id} and
 * {clustered} replaced. */
static char *translate_migration_sql(struct tx *tx, const char *sql)
{
    const struct store_engine *engine = tx->store->engine;
    struct str rest = str_of(sql), engine_name = STR("both");
    struct buf b;

    buf_init(&b, MAX_SQL);
    while (rest.n) {
        struct str line = str_cut(&rest, '\n');

        if (!parse_sql_engine_heading(line, &engine_name) &&
            (str_is(engine_name, "both") || str_is(engine_name, engine->name)))
            append_sql_line_without_placeholders(engine, line, &b);
    }
    char *translated = buf_is_full(&b) ? NULL : str_dup_cstring(tx_arena(tx), buf_as_str(&b));
    buf_clear(&b);
    return translated;
}

/* Inserts a row that says that servers of the previous version can use this schema. */
static enum err insert_expand_migration_row(struct tx *tx, const struct migration *m)
{
    return tx_exec(tx, "insert into expanded_steps (number) values ($1)", BIND(v_int(m->number)),
                   NULL);
}

static enum err insert_applied_migration(struct tx *tx, const struct migration *m)
{
    enum err e = tx_exec(tx,
                         "insert into migrations (number, name, applied_at, digest) "
                         "values ($1, $2, $3, $4)",
                         BIND(v_int(m->number), v_text(str_of(m->name)), v_int(clock_ms()),
                              v_text(compute_migration_digest(tx_arena(tx), m))),
                         NULL);

    return !e && parse_migration_phase(m) == MIGRATION_EXPAND ? insert_expand_migration_row(tx, m)
                                                              : e;
}

/* Sets step->waits if an older server runs. An empty database has no servers, so the check is
 * skipped. */
static enum err check_whether_older_servers_run(struct tx *tx, struct pending_migration *step)
{
    const struct store_engine *engine = tx->store->engine;
    enum migration_phase phase = parse_migration_phase(step->migration);
    enum err e = OK;

    step->waits = false;
    if (!engine->has_older || !step->found)
        return OK;
    if (phase != MIGRATION_EXPAND)
        e = engine->has_older(tx, step->migration->number, phase == MIGRATION_CONTRACT,
                              &step->waits);
    return e || step->waits ? e : engine->script(tx, engine->before_migration_sql);
}

static enum err apply_migration(struct work_item *w, struct tx *tx)
{
    struct pending_migration *step = container_of(w, struct pending_migration, work);
    const struct migration *m = step->migration;
    enum err e = check_whether_older_servers_run(tx, step);

    if (e || step->waits)
        return e;
    const char *sql = translate_migration_sql(tx, m->sql);
    e = sql ? tx->store->engine->script(tx, sql) : ERR_INTERNAL;
    return e ? e : insert_applied_migration(tx, m);
}

static enum err refuse_missing_migration(const struct migration *m)
{
    log_error("store: the database is older than this program: the migration %s is "
              "missing; start the server "
              "on it once, or use the program that created it",
              m->name);
    return ERR_UNAVAILABLE;
}

static void sleep_for_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Applies a migration. The migration waits only briefly for table locks, because other transactions
 * queue behind it, and is then retried. Before a MIGRATION_ALONE step, waits up to
 * STOPPING_SERVER_WAIT_MS for servers that have just stopped, because PostgreSQL may still list
 * them as connected. */
static enum err apply_migration_with_retries(struct store *s, struct pending_migration *step,
                                             run_work_item_in_transaction_fn *run)
{
    bool contracts = parse_migration_phase(step->migration) == MIGRATION_CONTRACT;
    enum err e = run(s, &step->work);

    for (int tries = 1; tries < LOCK_RETRIES && e == ERR_UNAVAILABLE && s->engine->has_older;
         tries++) {
        sleep_for_ms(LOCK_RETRY_MS);
        e = run(s, &step->work);
    }
    for (int waited = 0; !e && step->waits && !contracts && waited < STOPPING_SERVER_WAIT_MS;
         waited += STOPPING_SERVER_POLL_MS) {
        sleep_for_ms(STOPPING_SERVER_POLL_MS);
        e = run(s, &step->work);
    }
    return e;
}

static enum err postpone_or_refuse_migration(struct store *s, const struct migration *m)
{
    if (parse_migration_phase(m) == MIGRATION_CONTRACT) {
        log_info("store: the migration %s waits until all servers of older versions have stopped",
                 m->name);
        atomic_store(&s->unfinished, true);
        return OK;
    }
    log_error(
        "store: the migration %s cannot be applied while servers of an older version run on this "
        "database; stop them first",
        m->name);
    return ERR_UNAVAILABLE;
}

static enum err apply_postpone_or_refuse_migration(struct store *s, struct pending_migration *step,
                                                   run_work_item_in_transaction_fn *run)
{
    const struct migration *m = step->migration;

    if (step->as_is)
        return parse_migration_phase(m) == MIGRATION_CONTRACT ? OK : refuse_missing_migration(m);
    enum err e = apply_migration_with_retries(s, step, run);
    if (e)
        log_error("store: could not apply the migration %s", m->name);
    else if (step->waits)
        e = postpone_or_refuse_migration(s, m);
    else
        log_debug("store: applied the migration %s", m->name);
    return e;
}

enum err migrations_apply(struct store *s, bool as_is, run_work_item_in_transaction_fn *run)
{
    const struct migration *all = get_known_migrations();
    struct pending_migration step = {
        .work = { .mode = STORE_WRITE, .run = read_applied_migrations, .arena = arena_new() },
        .applied = mem_new(count_known_migrations() * sizeof *step.applied),
        .as_is = as_is,
    };
    enum err e = run(s, &step.work);

    if (e)
        log_error("store: could not read the list of applied migrations: %s",
                  error_info(e)->message);
    step.work.run = apply_migration;
    for (size_t i = 0; !e && all[i].number; i++) {
        step.migration = &all[i];
        if (!step.applied[i])
            e = apply_postpone_or_refuse_migration(s, &step, run);
    }
    mem_free(step.applied);
    arena_free(step.work.arena);
    return e;
}

/* --- applying postponed migrations ------------------------------------------------------ */

enum err migrations_apply_postponed(struct store *s, run_work_item_in_transaction_fn *run)
{
    const struct migration *all = get_known_migrations();
    struct pending_migration step = {
        .work = { .mode = STORE_WRITE, .run = read_applied_migrations, .arena = arena_new() },
        .applied = mem_new(count_known_migrations() * sizeof *step.applied),
        .as_is = true,
    };
    enum err e = run(s, &step.work);

    step.work.run = apply_migration;
    for (size_t i = 0; !e && !step.waits && all[i].number; i++) {
        step.migration = &all[i];
        if (step.applied[i])
            continue;
        e = run(s, &step.work);
        if (!e && !step.waits)
            log_info("store: applied the migration %s: all servers of older versions have stopped",
                     all[i].name);
    }
    if (!e && !step.waits)
        atomic_store(&s->unfinished, false);
    mem_free(step.applied);
    arena_free(step.work.arena);
    return e;
}
