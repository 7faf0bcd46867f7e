/* recall.c - rows that a connection has read before and that have not changed since.
 *
 * Most of what a call asks (who is this, what may they do there, what is that app) was asked with
 * the same values a moment ago. Such rows are remembered with their statement and its values, from
 * the second time on that they are asked for, and given out again while no column that the
 * statement reads was written (sqlite_reach.c). Loops have those of their snapshots, and the writer
 * its own: this process is the only one that writes, so what was not written since is what the
 * database would say. Where rows change as often as they are read, remembering them is tried ever
 * more rarely. */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

enum {
    PLACES = 4096, /* two beside each other for a question */
    NOTICED = 8192,
    MOST_ROWS = 64,
    LARGEST = 16 * 1024,
    MOST = 1024 * 1024, /* bytes of a connection */
    LONGEST_TEXT = 64,  /* of a value */
    MOST_VALUES = 8,
    MOST_PATIENCE = 64,
};

struct recalled {
    uint64_t hash;
    const char *sql;
    const struct sqlite_slots *reads; /* the connection's, kept as long as it */
    uint64_t seen;                    /* commits */
    size_t size;
    unsigned holders; /* its place, and cursors that give it out */
    unsigned used;    /* since it was last read */
    unsigned wait, patience;
    bool waits; /* it has changed and was not used before that */
    bool single;
    unsigned rows;
    int columns;
    size_t count;
    struct value *values, *cells; /* behind it, with their bytes */
};

struct sqlite_recalls {
    struct recalled *all[PLACES];
    uint32_t noticed[NOTICED]; /* asked once */
    size_t bytes;
    unsigned sweep;
    uint64_t given;
};

struct sqlite_recalls *sqlite_recalls_new(void)
{
    return mem_new(sizeof(struct sqlite_recalls));
}

static void recalled_unref(struct recalled *r)
{
    if (r && --r->holders == 0)
        mem_free(r);
}

uint64_t sqlite_recalls_given(const struct sqlite_recalls *all)
{
    return all->given;
}

void sqlite_recalls_free(struct sqlite_recalls *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < PLACES; i++)
        recalled_unref(all->all[i]);
    mem_free(all);
}

static void recall_drop(struct sqlite_recalls *all, size_t place)
{
    struct recalled *r = all->all[place];

    if (!r)
        return;
    all->bytes -= r->size;
    all->all[place] = NULL;
    recalled_unref(r);
}

/* --- the question --------------------------------------------------------------------- */

static bool can_recall(const struct value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == VALUE_BYTES || values[i].kind == VALUE_REAL ||
            (values[i].kind == VALUE_TEXT && values[i].s.n > LONGEST_TEXT))
            return false;
    return count <= MOST_VALUES;
}

static uint64_t hash_of_value(const struct value *v)
{
    if (v->kind == VALUE_TEXT)
        return hash_str(v->s);
    return v->kind == VALUE_INT ? (uint64_t)v->i + 1 : 0;
}

static uint64_t hash_of_question(const char *sql, const struct value *values, size_t count,
                                 bool single)
{
    uint64_t hash = (uint64_t)(uintptr_t)sql << 1 | single;

    for (size_t i = 0; i < count; i++)
        hash = hash_u64(hash ^ hash_of_value(&values[i])) + i;
    return hash_u64(hash);
}

static bool same_value(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == VALUE_TEXT)
        return str_eq(a->s, b->s);
    return a->kind == VALUE_NULL || a->i == b->i;
}

static bool is_question(const struct recalled *r, uint64_t hash, const char *sql,
                        const struct value *values, size_t count, bool single)
{
    if (!r || r->hash != hash || r->sql != sql || r->count != count || r->single != single)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!same_value(&r->values[i], &values[i]))
            return false;
    return true;
}

/* --- whether it is remembered --------------------------------------------------------- */

/* True: it may be remembered this time. */
static bool question_notice(struct sqlite_recalls *all, uint64_t hash)
{
    uint32_t *at = &all->noticed[hash % NOTICED], mark = (uint32_t)(hash >> 32) | 1;
    bool before = *at == mark;

    *at = mark;
    return before;
}

/* What was never used before it changed is tried again after ever more questions. */
static bool has_to_wait(struct recalled *r)
{
    if (r->used) {
        r->patience = 0;
        return false;
    }
    if (!r->waits) {
        r->waits = true;
        r->patience = r->patience ? 2 * r->patience : 2;
        if (r->patience > MOST_PATIENCE)
            r->patience = MOST_PATIENCE;
        r->wait = r->patience;
    }
    return r->wait && r->wait--;
}

static size_t place_of(uint64_t hash)
{
    return (size_t)(hash >> 20) % (PLACES / 2) * 2;
}

const struct recalled *sqlite_recall(struct sqlite *q, struct sqlite_conn *c, const char *sql,
                                     const struct value *values, size_t count, bool single,
                                     struct sqlite_asking *ret)
{
    struct sqlite_recalls *all = c->recalls;
    struct recalled *r = NULL;

    if (!can_recall(values, count))
        return NULL;
    uint64_t hash = hash_of_question(sql, values, count, single);
    size_t place = place_of(hash);
    for (size_t i = place; i < place + 2 && !r; i++)
        if (is_question(all->all[i], hash, sql, values, count, single))
            r = all->all[i];
    if (!r) {
        ret->hash = question_notice(all, hash) ? hash : 0;
        return NULL;
    }
    if (sqlite_snapshot_taken(c) && sqlite_reach_holds(q, r->reads, r->seen)) {
        r->used = 1;
        r->holders++;
        all->given++;
        return r;
    }
    if (has_to_wait(r))
        return NULL;
    ret->hash = hash;
    ret->patience = r->patience;
    return NULL;
}

/* --- remembering ---------------------------------------------------------------------- */

static size_t bytes_of_values(const struct value *v, size_t count)
{
    size_t n = count * sizeof *v;

    for (size_t i = 0; i < count; i++)
        if (v[i].kind == VALUE_TEXT || v[i].kind == VALUE_BYTES)
            n += v[i].s.n;
    return n;
}

/* The bytes of values lie behind all values. */
static char *copy_values(struct value *to, const struct value *from, size_t count, char *bytes)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
        if (from[i].kind != VALUE_TEXT && from[i].kind != VALUE_BYTES)
            continue;
        if (from[i].s.n)
            memcpy(bytes, from[i].s.p, from[i].s.n);
        to[i].s.p = bytes;
        bytes += from[i].s.n;
    }
    return bytes;
}

static void make_room(struct sqlite_recalls *all, size_t size)
{
    while (all->bytes + size > MOST)
        recall_drop(all, all->sweep++ % PLACES);
}

/* In the place of the same question, or of one that is not used. */
static size_t place_for(struct sqlite_recalls *all, uint64_t hash)
{
    size_t place = place_of(hash);
    struct recalled *first = all->all[place], *second = all->all[place + 1];

    if (!first || first->hash == hash)
        return place;
    if (!second || second->hash == hash)
        return place + 1;
    bool second_goes = first->used && !second->used;
    first->used = second->used = 0;
    return place + second_goes;
}

void sqlite_recall_keep(struct sqlite_conn *c, const struct sqlite_asking *a)
{
    struct sqlite_recalls *all = c->recalls;
    size_t cells = (size_t)a->rows * (size_t)a->columns;
    size_t size = sizeof(struct recalled) + bytes_of_values(a->values, a->count) +
                  bytes_of_values(a->cells, cells);

    if (size > LARGEST)
        return;
    make_room(all, size);
    size_t place = place_for(all, a->hash);
    recall_drop(all, place);
    struct recalled *r = mem_new(size);
    *r = (struct recalled){
        .hash = a->hash,
        .sql = a->sql,
        .reads = a->reads,
        .seen = c->seen,
        .size = size,
        .holders = 1,
        .patience = a->patience,
        .single = a->single,
        .rows = a->rows,
        .columns = a->columns,
        .count = a->count,
        .values = (struct value *)(r + 1),
        .cells = (struct value *)(r + 1) + a->count,
    };
    char *bytes = (char *)(r->cells + cells);
    bytes = copy_values(r->values, a->values, a->count, bytes);
    copy_values(r->cells, a->cells, cells, bytes);
    all->all[place] = r;
    all->bytes += size;
}

void sqlite_asking_row(struct arena *arena, struct sqlite_asking *a, const struct value *row,
                       int columns)
{
    enum { FIRST = 4 };

    if (a->rows == MOST_ROWS || (a->rows + 1) * (size_t)columns * sizeof *row > LARGEST) {
        a->hash = 0;
        return;
    }
    if (a->rows == a->room) {
        unsigned room = a->room ? 4 * a->room : a->single ? 1 : FIRST;
        struct value *more = arena_raw(arena, room * (size_t)columns * sizeof *more);

        if (a->rows)
            memcpy(more, a->cells, a->rows * (size_t)columns * sizeof *more);
        a->cells = more;
        a->room = room;
    }
    memcpy(a->cells + a->rows++ * (size_t)columns, row, (size_t)columns * sizeof *row);
}

/* --- giving it out -------------------------------------------------------------------- */

int sqlite_recalled_columns(const struct recalled *r)
{
    return r->columns;
}

bool sqlite_recalled_row(const struct recalled *r, unsigned row, struct arena *a, struct value *ret)
{
    if (row >= r->rows)
        return false;
    const struct value *cell = r->cells + row * (size_t)r->columns;
    for (int i = 0; i < r->columns; i++)
        if (a && (cell[i].kind == VALUE_TEXT || cell[i].kind == VALUE_BYTES))
            ret[i] = value_copy(a, cell[i].kind, cell[i].s.p, cell[i].s.n);
        else
            ret[i] = cell[i];
    return true;
}

void sqlite_recalled_done(const struct recalled *r)
{
    recalled_unref((struct recalled *)r);
}
