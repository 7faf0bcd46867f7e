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
    TRIES = 20, /* attempts, if other transactions lock the tables */
    TRY_MS = 500,
    PATIENCE_MS = 3000, /* wait for a server that has just stopped but is still listed */
    LOOK_MS = 50,
};

struct migration_step {
    struct work work;
    const struct migration *migration; /* migration to apply */
    bool waits;                        /* result: not applied, because a running server does not
                                        * know it */
    bool *applied;                     /* by index in the list of migrations: found in the
                                        * database */
    size_t found;                      /* number of migrations found in the database */
    bool as_is;
};

static struct str digest_of(struct arena *a, const struct migration *m)
{
    unsigned char digest[DIGEST];
    struct str sql = str_of(m->sql);

    crypto_generichash(digest, sizeof digest, (const unsigned char *)sql.p, sql.n, NULL, 0);
    return str_hex(a, digest, sizeof digest);
}

static size_t migrations_count(void)
{
    size_t count = 0;

    while (migrations_known()[count].number)
        count++;
    return count;
}

int64_t store_schema(void)
{
    return migrations_known()[migrations_count() - 1].number;
}

static enum migration_phase migration_phase(const struct migration *m)
{
    struct str sql = str_of(m->sql);

    if (str_starts(sql, STR("-- expand: ")))
        return MIGRATION_EXPAND;
    return str_starts(sql, STR("-- contract: ")) ? MIGRATION_CONTRACT : MIGRATION_ALONE;
}

/* --- applied migrations --------------------------------------------------------------- */

/* Checks an applied migration of a newer program. It is allowed if it is recorded as an expand
 * step. */
static enum err migration_unknown(struct tx *tx, int64_t number, struct str name)
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
                 STR_FMT(name));
        return OK;
    }
    log_error("store: the database is newer than this program: it has the migration %lld (%.*s), "
              "this program knows migrations up to %lld; use the newer program",
              (long long)number, STR_FMT(name), (long long)store_schema());
    return ERR_UNAVAILABLE;
}

static enum err migration_compare(struct tx *tx, const struct rows *r, bool *applied)
{
    int64_t number = row_int(r, 0);
    const struct migration *all = migrations_known(), *m = all;

    while (m->number && m->number != number)
        m++;
    if (!m->number)
        return migration_unknown(tx, number, row_text(r, 1));
    if (!str_eq(row_text(r, 2), digest_of(tx_arena(tx), m))) {
        log_error("store: the migration %s in the database differs from the one in this "
                  "program; use the program that created the database",
                  m->name);
        return ERR_UNAVAILABLE;
    }
    applied[m - all] = true;
    return OK;
}

static enum err look_at_applied(struct work *w, struct tx *tx)
{
    struct migration_step *step = container_of(w, struct migration_step, work);
    struct rows r;
    enum err e = OK;

    memset(step->applied, 0, migrations_count() * sizeof *step->applied);
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
        e = migration_compare(tx, &r, step->applied);
    enum err ended = rows_end(&r);
    return e ? e : ended;
}

/* Whether the line begins a section for one engine: "-- sqlite:", "-- postgres:" or "-- both:". */
static bool is_part_head(struct str line, struct str *ret_engine)
{
    static const char *const engines[] = { "sqlite", "postgres", "both" };

    if (!str_starts(line, STR("-- ")) || line.p[line.n - 1] != ':')
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

static void add_line(const struct engine *engine, struct str line, struct buf *out)
{
    struct str id = STR("{id}"), clustered = STR("{clustered}");

    while (line.n) {
        if (str_starts(line, id)) {
            buf_add_str(out, str_of(engine->id_word));
            line = str_from(line, id.n);
        } else if (str_starts(line, clustered)) {
            buf_add_str(out, str_of(engine->clustered_word));
            line = str_from(line, clustered.n);
        } else {
            buf_add_char(out, line.p[0]);
            line = str_from(line, 1);
        }
    }
    buf_add_char(out, '\n');
}

/* Returns the SQL of the sections for this engine, with {id} and {clustered} replaced. */
static char *migration_translate(struct tx *tx, const char *sql)
{
    const struct engine *engine = tx->store->engine;
    struct str rest = str_of(sql), whose = STR("both");
    struct buf b;

    buf_init(&b, MAX_SQL);
    while (rest.n) {
        struct str line = str_cut(&rest, '\n');

        if (!is_part_head(line, &whose) && (str_is(whose, "both") || str_is(whose, engine->name)))
            add_line(engine, line, &b);
    }
    char *translated = buf_full(&b) ? NULL : str_dupz(tx_arena(tx), buf_str(&b));
    buf_clear(&b);
    return translated;
}

/* Records that servers of the previous version can use this schema. */
static enum err note_expanded(struct tx *tx, const struct migration *m)
{
    return tx_exec(tx, "insert into expanded_steps (number) values ($1)", BIND(v_int(m->number)),
                   NULL);
}

static enum err note_applied(struct tx *tx, const struct migration *m)
{
    enum err e = tx_exec(tx,
                         "insert into migrations (number, name, applied_at, digest) "
                         "values ($1, $2, $3, $4)",
                         BIND(v_int(m->number), v_text(str_of(m->name)), v_int(clock_ms()),
                              v_text(digest_of(tx_arena(tx), m))),
                         NULL);

    return !e && migration_phase(m) == MIGRATION_EXPAND ? note_expanded(tx, m) : e;
}

/* Sets step->waits if an older server runs. An empty database has no servers, so it is not
 * checked. */
static enum err migration_meet(struct tx *tx, struct migration_step *step)
{
    const struct engine *engine = tx->store->engine;
    enum migration_phase phase = migration_phase(step->migration);
    enum err e = OK;

    step->waits = false;
    if (!engine->has_older || !step->found)
        return OK;
    if (phase != MIGRATION_EXPAND)
        e = engine->has_older(tx, step->migration->number, phase == MIGRATION_CONTRACT,
                              &step->waits);
    return e || step->waits ? e : engine->script(tx, engine->step_words);
}

static enum err migration_apply(struct work *w, struct tx *tx)
{
    struct migration_step *step = container_of(w, struct migration_step, work);
    const struct migration *m = step->migration;
    enum err e = migration_meet(tx, step);

    if (e || step->waits)
        return e;
    const char *sql = migration_translate(tx, m->sql);
    e = sql ? tx->store->engine->script(tx, sql) : ERR_INTERNAL;
    return e ? e : note_applied(tx, m);
}

static enum err migration_missing(const struct migration *m)
{
    log_error("store: the database is older than this program: the migration %s is "
              "missing; start the server "
              "on it once, or use the program that created it",
              m->name);
    return ERR_UNAVAILABLE;
}

static void migration_pause(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* A migration waits for table locks for a short time only, so that other transactions do not queue
 * behind it, and is then retried. A server that has just stopped may be listed for a moment, so a
 * migration that needs all older servers stopped waits up to PATIENCE_MS. */
static enum err migration_insist(struct store *s, struct migration_step *step, run_at_once *run)
{
    bool contracts = migration_phase(step->migration) == MIGRATION_CONTRACT;
    enum err e = run(s, &step->work);

    for (int tries = 1; tries < TRIES && e == ERR_UNAVAILABLE && s->engine->has_older; tries++) {
        migration_pause(TRY_MS);
        e = run(s, &step->work);
    }
    for (int waited = 0; !e && step->waits && !contracts && waited < PATIENCE_MS;
         waited += LOOK_MS) {
        migration_pause(LOOK_MS);
        e = run(s, &step->work);
    }
    return e;
}

static enum err migration_wait(struct store *s, const struct migration *m)
{
    if (migration_phase(m) == MIGRATION_CONTRACT) {
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

static enum err migration_take(struct store *s, struct migration_step *step, run_at_once *run)
{
    const struct migration *m = step->migration;

    if (step->as_is)
        return migration_phase(m) == MIGRATION_CONTRACT ? OK : migration_missing(m);
    enum err e = migration_insist(s, step, run);
    if (e)
        log_error("store: could not apply the migration %s", m->name);
    else if (step->waits)
        e = migration_wait(s, m);
    else
        log_debug("store: applied the migration %s", m->name);
    return e;
}

enum err migrations_apply(struct store *s, bool as_is, run_at_once *run)
{
    const struct migration *all = migrations_known();
    struct migration_step step = {
        .work = { .mode = STORE_WRITE, .run = look_at_applied, .arena = arena_new() },
        .applied = mem_new(migrations_count() * sizeof *step.applied),
        .as_is = as_is,
    };
    enum err e = run(s, &step.work);

    if (e)
        log_error("store: could not read the list of applied migrations: %s",
                  error_info(e)->message);
    step.work.run = migration_apply;
    for (size_t i = 0; !e && all[i].number; i++) {
        step.migration = &all[i];
        if (!step.applied[i])
            e = migration_take(s, &step, run);
    }
    mem_free(step.applied);
    arena_free(step.work.arena);
    return e;
}

/* --- migrations that waited for older servers ----------------------------------------- */

enum err migrations_finish(struct store *s, run_at_once *run)
{
    const struct migration *all = migrations_known();
    struct migration_step step = {
        .work = { .mode = STORE_WRITE, .run = look_at_applied, .arena = arena_new() },
        .applied = mem_new(migrations_count() * sizeof *step.applied),
        .as_is = true,
    };
    enum err e = run(s, &step.work);

    step.work.run = migration_apply;
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
