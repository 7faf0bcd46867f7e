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

struct step {
    struct work work;
    const struct migration *migration; /* to apply */
    int64_t applied;                   /* the last number that was found */
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

/* --- what was applied ------------------------------------------------------ */

static enum err compare(struct tx *tx, const struct rows *r)
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
    struct step *step = container_of(w, struct step, work);
    struct rows r;
    enum err e = tx->store->engine->script(tx, "create table if not exists migrations ("
                                               "number bigint primary key, name text not null, "
                                               "applied_at bigint not null, digest text not null)");

    step->applied = 0;
    if (!e)
        e = tx_query(tx, "select number, name, digest from migrations order by number", NO_BIND,
                     &r);
    if (e)
        return e;
    while (!e && rows_next(&r)) {
        e = compare(tx, &r);
        step->applied = row_int(&r, 0);
    }
    enum err ended = rows_end(&r);
    return e ? e : ended;
}

/* --- applying -------------------------------------------------------------- */

/* The engine's words for {id} and {clustered}. */
static char *translate(struct tx *tx, const char *sql)
{
    const struct engine *engine = tx->store->engine;
    struct str id = STR("{id}"), clustered = STR("{clustered}"), rest = str_of(sql);
    struct buf b;

    buf_init(&b, MAX_SQL);
    while (rest.n) {
        if (str_starts(rest, id)) {
            buf_add_str(&b, str_of(engine->id_word));
            rest = str_from(rest, id.n);
        } else if (str_starts(rest, clustered)) {
            buf_add_str(&b, str_of(engine->clustered_word));
            rest = str_from(rest, clustered.n);
        } else {
            buf_add_char(&b, rest.p[0]);
            rest = str_from(rest, 1);
        }
    }
    char *translated = buf_full(&b) ? NULL : str_dupz(tx_arena(tx), buf_str(&b));
    buf_clear(&b);
    return translated;
}

static enum err apply(struct work *w, struct tx *tx)
{
    const struct migration *m = container_of(w, struct step, work)->migration;
    const char *sql = translate(tx, m->sql);
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

enum err migrations_apply(struct store *s, run_at_once *run)
{
    struct step step = {
        .work = { .mode = STORE_WRITE, .run = look_at_applied, .arena = arena_new() },
    };
    enum err e = run(s, &step.work);

    step.work.run = apply;
    for (const struct migration *m = migrations; !e && m->number; m++) {
        if (m->number <= step.applied)
            continue;
        step.migration = m;
        e = run(s, &step.work);
        if (e)
            log_error("store: could not apply step %s", m->name);
        else
            log_debug("store: applied step %s", m->name);
    }
    arena_free(step.work.arena);
    return e;
}
