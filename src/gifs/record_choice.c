/* record_choice.c - records that a user selected a GIF, as a row for count_choices.c. */
#include "gifs/internal.h"

#include <stdatomic.h>
#include <utf8proc.h>

#include "base/clock.h"
#include "base/utf8.h"

/* --- terms that count ----------------------------------------------------------------- */

static bool search_term_has_letter(struct str term)
{
    uint32_t c;
    size_t size;

    for (; term.n && (size = utf8_decode(term, &c)); term = str_skip_bytes(term, size)) {
        utf8proc_category_t kind = utf8proc_category((utf8proc_int32_t)c);

        if (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO)
            return true;
    }
    return false;
}

/* Returns whether `words` contains all words of `wanted` one directly after the other. */
static bool list_contains_word_sequence(const struct list *words, const struct list *wanted)
{
    const struct str *w = words->items, *v = wanted->items;

    for (size_t at = 0; wanted->count && at + wanted->count <= words->count; at++) {
        size_t same = 0;

        while (same < wanted->count && str_eq(w[at + same], v[same]))
            same++;
        if (same == wanted->count)
            return true;
    }
    return false;
}

/* Returns whether the term contains a blocked word. Accents are removed, so that they cannot hide a
 * word. */
static bool search_term_has_blocked_word(struct arena *a, struct str term)
{
    struct list words = split_into_search_words(a, term, false);

    for (struct str rest = gif_get_config()->blocked_words; rest.n;) {
        struct str blocked = normalize_search_text(a, str_cut(&rest, ','));
        struct list wanted = split_into_search_words(a, blocked, true);

        if (str_eq(blocked, term) || list_contains_word_sequence(&words, &wanted))
            return true;
    }
    return false;
}

static bool search_term_may_be_counted(struct arena *a, struct str term)
{
    size_t n = utf8_length(term);

    return n >= 2 && n <= GIFS_MAX_TERM && search_term_has_letter(term) &&
           !search_term_has_blocked_word(a, term);
}

/* Time in microseconds up to which choices only insert their rows, because this process has already
 * scheduled the count job. The job schedules itself again as long as it finds rows
 * (count_choices.c). */
static _Atomic int64_t count_planned_until;

void reset_schedule_of_gif_selection_count(void)
{
    count_planned_until = 0;
}

/* Returns whether this choice must schedule the count job. Choices schedule the job twice per
 * interval. So if a row is committed after a run of the job, the next run counts it. */
static bool must_schedule_count_job(void)
{
    int64_t now = clock_us(), until = count_planned_until;

    return until <= now && atomic_compare_exchange_strong(&count_planned_until, &until,
                                                          now + GIFS_COUNT_INTERVAL_US / 2);
}

/* Data about a selected GIF that is computed before the transaction. */
struct recorded_choice {
    struct str term;
    /* Whether this choice schedules the count job. Decided once, so that a retry does the same. */
    bool asks;
};

void prepare_recording_of_selected_gif(struct call *call)
{
    const struct gif_select_body *in = call->body;
    struct recorded_choice *recorded =
        call_store_stage_data(call, "recorded_choice", sizeof *recorded);

    recorded->term = normalize_search_text(call->arena, in->q);
    if (!search_term_may_be_counted(call->arena, recorded->term))
        recorded->term = STR("");
}

/* Inserts a row for the choice. If the GIF is unknown, inserts no row. */
static const char INSERT_CHOICE[] =
    "insert into gif_choices (n, user_id, gif, locale, term, at) "
    "select cast($1 as bigint), cast($2 as bigint), g.n, cast($4 as text), "
    "cast($5 as text), cast($6 as bigint) from gifs g where g.id = $3";

enum err insert_gif_selection(struct call *call, struct str id, struct str locale)
{
    struct recorded_choice *recorded = call_get_stage_data(call, "recorded_choice");
    int64_t now = clock_us(), made = 0;
    enum err e = tx_exec(call->tx, INSERT_CHOICE,
                         BIND(v_id(snowflake_new()), v_id(call->caller->id), v_text(id),
                              v_text(locale), v_text(recorded->term), v_int(now)),
                         &made);

    if (e || !made)
        return e;
    if (!recorded->asks)
        recorded->asks = must_schedule_count_job();
    return recorded->asks ? job_schedule(call, &gif_count_job, 0, now, STR("")) : OK;
}
