/* category_sync.c - applies changes of a category's overwrites to its channels. A channel is
 * synchronised with its category if both have equal overwrites; it then also gets the category's
 * new overwrites. Fifty channels with hundreds of overwrites each are too much for one transaction,
 * so a job updates the remaining channels in steps. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/channels/internal.h"

/* Maximum number of overwrites that one job step compares, writes and emits. */
enum { ROWS_A_STEP = 600 };

struct category_sync {
    snowflake category_id;
    struct list before;   /* overwrites of the category before the change (struct overwrite) */
    struct list channels; /* ids of the channels that are not processed yet (snowflakes) */
};

static const struct field follow_fields[] = {
    { FIELD(struct category_sync, category_id), .type = &type_id },
    { FIELD(struct category_sync, before), .type = &type_overwrites },
    { FIELD(struct category_sync, channels), .type = &type_ids },
    { 0 },
};
static const struct schema follow_schema = {
    .name = "CategoryFollow",
    .size = sizeof(struct category_sync),
    .fields = follow_fields,
};
static const struct type type_follow = { .kind = KIND_OBJECT, .schema = &follow_schema };

/* Copies the category's current overwrites to a channel. Skips a channel that has been moved to
 * another category, or whose overwrites have been changed, since the job started. */
static enum err synchronize_channel_with_category(struct call *call, const struct category_sync *f,
                                                  snowflake id)
{
    struct channel c;
    enum err e = channel_find(call->tx, id, &c);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (c.parent_id.value != f->category_id ||
        !overwrite_lists_are_equal(&c.permission_overwrites.value, &f->before))
        return OK;
    e = channel_overwrites_copy(call->tx, f->category_id, id);
    return e ? e : channel_emit_update(call, id);
}

/* Synchronises channels with their category until `room` overwrites have been compared or
 * written. A job processes the remaining channels. */
static enum err synchronize_channel_batch(struct call *call, struct category_sync *f, snowflake key,
                                          int64_t room)
{
    const snowflake *ids = f->channels.items;
    size_t done = 0;
    enum err e = OK;

    for (; !e && done < f->channels.count && room > 0; done++) {
        e = synchronize_channel_with_category(call, f, ids[done]);
        room -= (int64_t)f->before.count + 1;
    }
    if (e || done == f->channels.count)
        return e;
    f->channels.items = (snowflake *)f->channels.items + done;
    f->channels.count -= done;
    return job_schedule(call, &category_sync_job, key, clock_us(),
                        json_column_encode(call->arena, &type_follow, f));
}

static enum err run_category_sync_job(struct call *call, const struct job *job)
{
    const struct category_sync *f = json_column_decode(call->arena, &type_follow, job->data);
    struct category_sync left;

    if (!f)
        return OK;
    left = *f;
    return synchronize_channel_batch(call, &left, job->key, ROWS_A_STEP);
}

const struct job_kind category_sync_job = {
    .name = "category-follow",
    .doc = "Copies the overwrites of a changed category to its synchronised channels.",
    .run = run_category_sync_job,
};

static const char CHANNELS_OF_CATEGORY[] =
    "select id from channels where guild_id = (select guild_id from channels where id = $1) and "
    "thread_archived = 0 and +parent_id = $1 order by id";

static enum err list_channels_of_category(struct tx *tx, snowflake category_id, struct list *ret)
{
    return tx_read_ids(tx, CHANNELS_OF_CATEGORY, BIND(v_id(category_id)), ret);
}

/* Starts the synchronisation of a category's channels. Call it in the transaction that wrote the
 * category's overwrites, after its CHANNEL_UPDATE. */
static enum err start_category_sync(struct call *call, snowflake category_id,
                                    const struct list *before, size_t now)
{
    struct category_sync f = { .category_id = category_id, .before = *before };
    size_t most = before->count > now ? before->count : now;
    enum err e = list_channels_of_category(call->tx, category_id, &f.channels);

    if (e || !f.channels.count)
        return e;
    return synchronize_channel_batch(call, &f, snowflake_new(), ROWS_A_STEP - (int64_t)most);
}

/* Counts the channels of category $1 that have $2 overwrites, which is the number that the category
 * had before the change. Only these channels can have been synchronised with it. */
static const char COUNT_FOLLOWERS[] =
    "select count(*) from channels c where c.guild_id = (select guild_id from channels where "
    "id = $1) and c.thread_archived = 0 and +c.parent_id = $1 and "
    "(select count(*) from overwrites o where o.channel_id = c.id) = $2";

/* Computes an upper bound of the overwrites that the synchronisation job has yet to add. */
static enum err count_overwrites_to_copy(struct call *call, snowflake category_id, size_t before,
                                         size_t now, int64_t *ret)
{
    int64_t n = 0;

    *ret = 0;
    if (now <= before || (int64_t)now < ROWS_A_STEP / MAX_CHILDREN)
        return OK;
    enum err e =
        tx_read_int(call->tx, COUNT_FOLLOWERS, BIND(v_id(category_id), v_int((int64_t)before)), &n);
    if (!e)
        *ret = n * (int64_t)(now - before);
    return e;
}

enum err category_copy_overwrites_to_channels(struct call *call, const struct channel *was,
                                              size_t now)
{
    const struct list *before = &was->permission_overwrites.value;
    int64_t coming = 0;
    enum err e = OK;

    if (was->type == CHANNEL_CATEGORY)
        e = start_category_sync(call, was->id, before, now);
    if (!e && was->type == CHANNEL_CATEGORY)
        e = count_overwrites_to_copy(call, was->id, before->count, now, &coming);
    return e || now < before->count
               ? e
               : check_guild_overwrite_limit(call, was->guild_id.value, now, coming);
}
