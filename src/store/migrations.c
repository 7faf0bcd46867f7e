/* migrations.c - brings a database up to date, one numbered step after the other.
 *
 * A step that was applied is written down with a digest of its text: a program
 * that knows it by other words, or does not know it, must not touch the data. */
#include "store/migrations.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/internal.h"

enum { DIGEST = 16, MAX_SQL = 1 << 20 };

struct migration_step {
    struct work work;
    const struct migration *migration; /* to apply */
    int64_t applied;                   /* the last number that was found */
    bool as_is;
};

static struct str digest_of(struct arena *a, const struct migration *m)
{
    unsigned char digest[DIGEST];
    struct str sql = str_of(m->sql);

    crypto_generichash(digest, sizeof digest, (const unsigned char *)sql.p, sql.n, NULL, 0);
    return str_hex(a, digest, sizeof digest);
}

static int last_number(void)
{
    int last = 0;

    for (const struct migration *m = migrations; m->number; m++)
        last = m->number;
    return last;
}

/* --- what was applied ----------------------------------------------------------------- */

static enum err migration_compare(struct tx *tx, const struct rows *r)
{
    int64_t number = row_int(r, 0);
    const struct migration *m = migrations;

    while (m->number && m->number != number)
        m++;
    if (!m->number) {
        log_error("store: the database is newer than this program: it has step %lld (%.*s), "
                  "the program ends at %d; use the newer program",
                  (long long)number, STR_FMT(row_text(r, 1)), last_number());
        return ERR_UNAVAILABLE;
    }
    if (!str_eq(row_text(r, 2), digest_of(tx_arena(tx), m))) {
        log_error("store: step %s was applied to the database with another text than this "
                  "program has; use the program that made it",
                  m->name);
        return ERR_UNAVAILABLE;
    }
    return OK;
}

static enum err look_at_applied(struct work *w, struct tx *tx)
{
    struct migration_step *step = container_of(w, struct migration_step, work);
    struct rows r;
    enum err e = OK;

    step->applied = 0;
    if (!step->as_is)
        e = tx->store->engine->script(tx, "create table if not exists migrations ("
                                          "number bigint primary key, name text not null, "
                                          "applied_at bigint not null, digest text not null)");
    if (!e)
        e = tx_query(tx, "select number, name, digest from migrations order by number", NO_BIND,
                     &r);
    if (e)
        return e;
    while (!e && rows_next(&r)) {
        e = migration_compare(tx, &r);
        step->applied = row_int(&r, 0);
    }
    enum err ended = rows_end(&r);
    return e ? e : ended;
}

/* --- applying ------------------------------------------------------------------------- */

/* Is this line the head of a part, and of whose? "-- sqlite:", "-- postgres:", "-- both:". */
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

/* The engine's own parts, with its words for {id} and {clustered}. */
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

static enum err migration_apply(struct work *w, struct tx *tx)
{
    const struct migration *m = container_of(w, struct migration_step, work)->migration;
    const char *sql = migration_translate(tx, m->sql);
    enum err e = sql ? tx->store->engine->script(tx, sql) : ERR_INTERNAL;

    if (e)
        return e;
    return tx_exec(tx,
                   "insert into migrations (number, name, applied_at, digest) "
                   "values ($1, $2, $3, $4)",
                   BIND(v_int(m->number), v_text(str_of(m->name)), v_int(clock_ms()),
                        v_text(digest_of(tx_arena(tx), m))),
                   NULL);
}

static enum err migration_missing(const struct migration *m)
{
    log_error("store: the database is older than this program: it lacks step %s; start the server "
              "on it once, or use the program that made it",
              m->name);
    return ERR_UNAVAILABLE;
}

enum err migrations_apply(struct store *s, bool as_is, run_at_once *run)
{
    struct migration_step step = {
        .work = { .mode = STORE_WRITE, .run = look_at_applied, .arena = arena_new() },
        .as_is = as_is,
    };
    enum err e = run(s, &step.work);

    if (e)
        log_error("store: could not read which steps were applied: %s", error_info(e)->message);
    step.work.run = migration_apply;
    for (const struct migration *m = migrations; !e && m->number; m++) {
        if (m->number <= step.applied)
            continue;
        step.migration = m;
        e = as_is ? migration_missing(m) : run(s, &step.work);
        if (as_is)
            break;
        if (e)
            log_error("store: could not apply step %s", m->name);
        else
            log_debug("store: applied step %s", m->name);
    }
    arena_free(step.work.arena);
    return e;
}
