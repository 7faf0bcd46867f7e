/* deletion.c - applies the deletion rules of all domains. */
#include "api/deletion.h"

#include "api/internal.h"
#include "base/clock.h"

enum {
    ROWS_OF_STATEMENT = 20,
    STEP_NS = 4 * 1000 * 1000, /* time limit of a step */
};

struct deletion_step deletion_begin(void)
{
    return (struct deletion_step){ DELETION_ROWS, ROWS_OF_STATEMENT, clock_thread() + STEP_NS };
}

/* Subtracts rows from the step. The CPU time is limited as well, because the cost of rows differs
 * by a factor of a hundred. */
void deletion_count(struct deletion_step *step, int64_t rows)
{
    step->room -= rows;
    if (clock_thread() > step->until)
        step->room = 0;
}

int64_t deletion_portion(const struct deletion_step *step)
{
    return step->room < step->portion ? step->room : step->portion;
}

enum err deletion_apply(struct call *call, const struct deletion_rule *rule, snowflake id,
                        int64_t portion, int64_t *ret_gone)
{
    const struct value values[] = { v_id(id), v_int(portion) };
    int64_t marked = 0;
    enum err e = OK;

    *ret_gone = 0;
    if (rule->mark.text)
        e = tx_exec(call->tx, rule->mark, values, 2, &marked);
    if (marked)
        call_dropped_blobs(call);
    return e || !rule->remove.text ? e : tx_exec(call->tx, rule->remove, values, 2, ret_gone);
}

static enum err rule_run(struct call *call, const struct deletion_rule *rule, snowflake id,
                         struct deletion_step *step)
{
    int64_t portion = 0, gone = 0;
    enum err e = OK;

    if (rule->run)
        return rule->run(call, id, step);
    while (!e && step->room > 0 && gone == portion) {
        portion = deletion_portion(step);
        e = deletion_apply(call, rule, id, portion, &gone);
        deletion_count(step, gone);
    }
    return e;
}

static enum err phase_run(struct call *call, enum deletion_object with, enum deletion_phase phase,
                          snowflake id, struct deletion_step *step)
{
    enum err e = OK;

    for (const struct domain *const *d = call->api->domains; !e && *d; d++)
        for (const struct deletion_rule *r = (*d)->deletions; !e && r && r->with; r++)
            if (r->with == with && r->phase == phase && step->room > 0)
                e = rule_run(call, r, id, step);
    return e;
}

enum err deletion_walk(struct call *call, enum deletion_object with, snowflake id,
                       struct deletion_step *step)
{
    enum err e = OK;

    for (int phase = DELETE_FIRST; !e && phase <= DELETE_LAST; phase++)
        e = phase_run(call, with, (enum deletion_phase)phase, id, step);
    return e;
}

enum err deletion_continue(struct call *call, const struct job_kind *kind, snowflake id,
                           const struct deletion_step *step, struct str data)
{
    return step->room > 0 ? OK : job_schedule(call, kind, id, clock_us(), data);
}

enum err deletion_run(struct call *call, const struct job_kind *kind, enum deletion_object with,
                      snowflake id)
{
    struct deletion_step step = deletion_begin();
    enum err e = deletion_walk(call, with, id, &step);

    return e ? e : deletion_continue(call, kind, id, &step, STR(""));
}
