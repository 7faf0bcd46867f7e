/* slow_mode.c - slow mode: minimum time between two messages or two new threads of a member. */
#include "platform/channels/channels.h"

#include "base/clock.h"

/* SQL for each enum slow_mode_kind. Messages and threads have separate timestamps: a member who has
 * just written may still start a thread. */
static const struct slow_mode_statements {
    struct sql last, record;
} slow_mode_statements[] = {
    [SLOW_MESSAGE] = { &"select last_at from slow_modes where channel_id = $1 and user_id = $2",
                       &"insert into slow_modes (channel_id, user_id, last_at) values "
                        "($1, $2, $3) on conflict (channel_id, user_id) do update set "
                        "last_at = $3" },
    [SLOW_THREAD] = { &"select thread_at from slow_modes where channel_id = $1 and user_id = $2",
                      &"insert into slow_modes (channel_id, user_id, last_at, thread_at) values "
                       "($1, $2, 0, $3) on conflict (channel_id, user_id) do update set "
                       "thread_at = $3" },
};

/* Returns false for moderators, who are exempt from slow mode. */
static bool slow_mode_applies(const struct channel *c, uint64_t perms)
{
    const uint64_t exempt =
        PERMISSION(MANAGE_MESSAGES) | PERMISSION(MANAGE_CHANNELS) | PERMISSION(BYPASS_SLOWMODE);

    return !channel_is_private(c->type) && c->rate_limit_per_user.value && !(perms & exempt);
}

enum err slow_mode_remaining_ms(struct tx *tx, const struct slow_mode_author *writer,
                                enum slow_mode_kind kind, int64_t *ret_ms)
{
    int64_t pause = writer->channel->rate_limit_per_user.value * 1000000;
    struct rows row;
    bool found = false;
    enum err e = OK;

    *ret_ms = 0;
    if (!slow_mode_applies(writer->channel, writer->permissions))
        return OK;
    e = tx_one(tx, slow_mode_statements[kind].last,
               BIND(v_id(writer->channel->id), v_id(writer->user_id)), &row, &found);
    if (e || !found)
        return e;
    int64_t left = row_int(&row, 0) + pause - clock_us();
    *ret_ms = left > 0 ? (left + 999) / 1000 : 0;
    return OK;
}

enum err slow_mode_remaining_for_caller(struct call *call, const struct channel *c,
                                        enum slow_mode_kind kind, int64_t *ret_ms)
{
    const struct slow_mode_author writer = { c, call->caller->id, call->target.permissions };

    *ret_ms = 0;
    return call->caller->kind == CALLER_BOT
               ? OK
               : slow_mode_remaining_ms(call->tx, &writer, kind, ret_ms);
}

enum err slow_mode_record_message(struct call *call, const struct channel *c,
                                  enum slow_mode_kind kind)
{
    int64_t left;
    enum err e = slow_mode_remaining_for_caller(call, c, kind, &left);

    if (!e && left) {
        call_refuse_as_rate_limited(call, left);
        return ERR_SLOW_MODE;
    }
    if (e || call->caller->kind == CALLER_BOT || !slow_mode_applies(c, call->target.permissions))
        return e;
    return tx_exec(call->tx, slow_mode_statements[kind].record,
                   BIND(v_id(c->id), v_id(call->caller->id), v_int(clock_us())), NULL);
}
