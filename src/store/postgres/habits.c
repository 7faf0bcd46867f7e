/* habits.c - what reads of a kind ask when they have seen their first rows.
 *
 * Much of it follows from what they asked at first: who asks for the emoji of a guild asks for the
 * guild, then for the emoji by the same id. So a loop remembers which question came later, and
 * where its ids stood before, and asks it together with the first ones the next time. Rows that
 * nobody wants then were asked for in vain; a question that was so too often is not asked any more.
 * A guess decides nothing: a read gets the rows of the very question that it asks. */
#include <string.h>

#include "base/mem.h"
#include "store/postgres/pipeline.h"

enum {
    MOST_QUESTIONS = 12, /* of a kind */
    MOST_PLACES = 6,     /* of a question */
    SHORT_TEXT = 8,
    BEST_SCORE = 8,
    WORST_SCORE = -4,
};

/* What stands in one place of a question: what stood in that place of another, or always the same.
 */
struct habit_source {
    const char *sql; /* NULL: always the same */
    size_t place;
    bool is_null;
    char text[SHORT_TEXT + 1];
};

struct habit_question {
    const char *sql;
    size_t count;
    int score;
    struct habit_source from[MOST_PLACES];
};

struct habit {
    unsigned count;
    struct habit_question questions[MOST_QUESTIONS];
};

static uint64_t habit_key(const struct work *work)
{
    return (uint64_t)(uintptr_t)work->name;
}

void postgres_habits_clear(struct postgres_habits *h)
{
    struct habit *habit;
    size_t at = 0;

    while ((habit = map_next(&h->by_kind, &at)))
        mem_free(habit);
    map_clear(&h->by_kind);
}

/* --- guesses -------------------------------------------------------------------------- */

/* Only what is surely a number goes where a number may be wanted. */
static bool is_id_text(const char *text)
{
    enum { LEAST = 10, MOST = 18 };
    size_t n = strspn(text, "0123456789");

    return n >= LEAST && n <= MOST + 1 && !text[n] && (n <= MOST || text[0] < '9');
}

static const char *text_at(const struct postgres_errand *e, size_t place)
{
    return place < e->count && !e->values->binary[place] ? e->values->text[place] : NULL;
}

static const char *source_text(const struct postgres_conn *c, const struct work *work,
                               const struct habit_source *s)
{
    if (!s->sql)
        return s->text;
    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];
        const char *text = e->work == work && e->sql == s->sql ? text_at(e, s->place) : NULL;

        if (text && is_id_text(text))
            return text;
    }
    return NULL;
}

static void guess_one(struct postgres_conn *c, struct work *work, const struct habit_question *q,
                      unsigned number)
{
    struct postgres_values *p = arena_raw(work->arena, sizeof *p);

    for (size_t i = 0; i < q->count; i++) {
        const char *text = q->from[i].is_null ? NULL : source_text(c, work, &q->from[i]);

        if (!text && !q->from[i].is_null)
            return;
        /* Copied: another question may take this one's place before it is answered. */
        p->text[i] = text ? str_dupz(work->arena, str_of(text)) : NULL;
        p->length[i] = p->binary[i] = 0;
    }
    postgres_guess(c, work, q->sql, p, q->count, number);
}

void postgres_habits_guess(struct postgres_habits *h, struct postgres_conn *c, struct work *work)
{
    struct habit *habit = map_get(&h->by_kind, habit_key(work));

    for (unsigned i = 0; habit && i < habit->count; i++)
        if (habit->questions[i].score > WORST_SCORE)
            guess_one(c, work, &habit->questions[i], i + 1);
}

/* --- what came of them ---------------------------------------------------------------- */

static void note_guess(struct habit *habit, const struct postgres_errand *e)
{
    struct habit_question *q = &habit->questions[e->guess - 1];

    if (e->used && q->score < BEST_SCORE)
        q->score++;
    if (!e->used && q->score > WORST_SCORE)
        q->score--;
}

/* --- questions that came later -------------------------------------------------------- */

static bool find_source(const struct postgres_conn *c, const struct work *work, const char *text,
                        struct habit_source *ret)
{
    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];

        if (e->work != work || e->round != 1 || e->guess)
            continue;
        for (size_t place = 0; place < e->count; place++) {
            const char *there = text_at(e, place);

            if (there && strcmp(there, text) == 0) {
                ret->sql = e->sql;
                ret->place = place;
                return true;
            }
        }
    }
    return false;
}

static bool source_of(const struct postgres_conn *c, const struct postgres_errand *e, size_t place,
                      struct habit_source *ret)
{
    const char *text = e->values->text[place];

    if (e->values->binary[place])
        return false;
    ret->is_null = !text;
    if (text && is_id_text(text))
        return find_source(c, e->work, text, ret);
    if (text && strlen(text) > SHORT_TEXT)
        return false;
    if (text)
        strcpy(ret->text, text);
    return true;
}

static bool question_of(const struct postgres_conn *c, const struct postgres_errand *e,
                        struct habit_question *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->sql = e->sql;
    ret->count = e->count;
    if (e->count > MOST_PLACES)
        return false;
    for (size_t i = 0; i < e->count; i++)
        if (!source_of(c, e, i, &ret->from[i]))
            return false;
    return true;
}

static bool same_source(const struct habit_source *a, const struct habit_source *b)
{
    return a->sql == b->sql && a->place == b->place && a->is_null == b->is_null &&
           strcmp(a->text, b->text) == 0;
}

static bool same_question(const struct habit_question *a, const struct habit_question *b)
{
    if (a->sql != b->sql || a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_source(&a->from[i], &b->from[i]))
            return false;
    return true;
}

/* One that is asked in vain too often makes room. */
static void habit_add(struct habit *habit, const struct habit_question *q)
{
    struct habit_question *place = NULL;

    for (unsigned i = 0; i < habit->count; i++) {
        struct habit_question *old = &habit->questions[i];

        if (same_question(old, q)) {
            old->score += old->score < 0;
            return;
        }
        if (old->score <= WORST_SCORE)
            place = old;
    }
    if (habit->count < MOST_QUESTIONS)
        place = &habit->questions[habit->count++];
    if (place)
        *place = *q;
}

static struct habit *habit_of(struct postgres_habits *h, const struct work *work)
{
    struct habit *habit = map_get(&h->by_kind, habit_key(work));

    if (!habit) {
        habit = mem_new(sizeof *habit);
        map_put(&h->by_kind, habit_key(work), habit);
    }
    return habit;
}

void postgres_habits_learn(struct postgres_habits *h, const struct postgres_conn *c,
                           const struct work *work)
{
    struct habit_question q;

    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];

        if (e->work != work)
            continue;
        if (e->guess)
            note_guess(habit_of(h, work), e);
        else if (e->round > 1 && question_of(c, e, &q))
            habit_add(habit_of(h, work), &q);
    }
}
