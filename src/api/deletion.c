/* deletion.c - applies the deletion rules of all feature folders. */
#include "api/deletion.h"

#include "api/internal.h"
#include "base/clock.h"

enum {
    ROWS_OF_STATEMENT = 20,
    STEP_NS = 4 * 1000 * 1000, /* CPU time limit of a step */
};

struct deletion_step_limits deletion_step_begin(void)
{
    return (struct deletion_step_limits){ DELETION_ROWS, ROWS_OF_STATEMENT,
                                          clock_thread_cpu_ns() + STEP_NS };
}

/* Subtracts deleted rows from the rows that the step may still delete. Also ends the step when its
 * CPU time is used up, because deleting some rows takes a hundred times as long as deleting
 * others. */
void deletion_step_subtract_deleted_rows(struct deletion_step_limits *step, int64_t rows)
{
    step->rows_left -= rows;
    if (clock_thread_cpu_ns() > step->until)
        step->rows_left = 0;
}

int64_t deletion_step_batch_size(const struct deletion_step_limits *step)
{
    return step->rows_left < step->rows_per_statement ? step->rows_left : step->rows_per_statement;
}

enum err deletion_rule_apply(struct call *call, const struct deletion_rule *rule, snowflake id,
                             int64_t portion, int64_t *ret_gone)
{
    const struct value values[] = { v_id(id), v_int(portion) };
    int64_t marked = 0;
    enum err e = OK;

    *ret_gone = 0;
    if (rule->mark.text)
        e = tx_exec(call->tx, rule->mark, values, 2, &marked);
    if (marked)
        call_schedule_blob_deletion_after_commit(call);
    return e || !rule->remove.text ? e : tx_exec(call->tx, rule->remove, values, 2, ret_gone);
}

static enum err run_deletion_rule(struct call *call, const struct deletion_rule *rule, snowflake id,
                                  struct deletion_step_limits *step)
{
    int64_t portion = 0, gone = 0;
    enum err e = OK;

    if (rule->run)
        return rule->run(call, id, step);
    while (!e && step->rows_left > 0 && gone == portion) {
        portion = deletion_step_batch_size(step);
        e = deletion_rule_apply(call, rule, id, portion, &gone);
        deletion_step_subtract_deleted_rows(step, gone);
    }
    return e;
}

static enum err run_deletion_phase(struct call *call, enum deletion_object_kind with,
                                   enum deletion_phase phase, snowflake id,
                                   struct deletion_step_limits *step)
{
    enum err e = OK;

    for (const struct domain *const *d = call->api->domains; !e && *d; d++)
        for (const struct deletion_rule *r = (*d)->deletions; !e && r && r->with; r++)
            if (r->with == with && r->phase == phase && step->rows_left > 0)
                e = run_deletion_rule(call, r, id, step);
    return e;
}

enum err deletion_apply_all_rules(struct call *call, enum deletion_object_kind with, snowflake id,
                                  struct deletion_step_limits *step)
{
    enum err e = OK;

    for (int phase = DELETE_FIRST; !e && phase <= DELETE_LAST; phase++)
        e = run_deletion_phase(call, with, (enum deletion_phase)phase, id, step);
    return e;
}

enum err deletion_schedule_next_step(struct call *call, const struct job_kind *kind, snowflake id,
                                     const struct deletion_step_limits *step, struct str data)
{
    return step->rows_left > 0 ? OK : job_schedule(call, kind, id, clock_us(), data);
}

enum err deletion_run_step(struct call *call, const struct job_kind *kind,
                           enum deletion_object_kind with, snowflake id)
{
    struct deletion_step_limits step = deletion_step_begin();
    enum err e = deletion_apply_all_rules(call, with, id, &step);

    return e ? e : deletion_schedule_next_step(call, kind, id, &step, STR(""));
}
