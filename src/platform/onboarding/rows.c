/* rows.c - SQL of onboarding prompts and answers. */
#include <stdlib.h>

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/onboarding/internal.h"

enum { LONG_TEXT = 64 * 1024 }; /* Rows with more bytes are not decoded on an event loop. */

enum err onboarding_find(struct tx *tx, snowflake guild_id, struct onboarding *ret)
{
    struct arena *arena = tx_arena(tx);
    struct rows r;
    bool found;
    enum err e = tx_one(tx,
                        "select version, enabled, mode, prompts, default_channels "
                        "from guild_onboarding where guild_id = $1",
                        BIND(v_id(guild_id)), &r, &found);

    *ret = (struct onboarding){ .guild_id = guild_id };
    if (!e && found && row_text(&r, 3).n > LONG_TEXT)
        e = tx_require_background_thread(tx);
    if (e || !found)
        return e;
    ret->version = row_int(&r, 0);
    ret->enabled = row_bool(&r, 1);
    ret->mode = row_int(&r, 2);
    ret->prompts = json_column_decode_list(arena, &type_onboarding_prompts, row_text(&r, 3));
    ret->default_channel_ids = json_column_decode_list(arena, &type_ids, row_text(&r, 4));
    return OK;
}

enum err onboarding_read_version(struct tx *tx, snowflake guild_id, int64_t *ret)
{
    return tx_read_int(tx, "select version from guild_onboarding where guild_id = $1",
                       BIND(v_id(guild_id)), ret);
}

static const char SAVE_ONBOARDING[] =
    "insert into guild_onboarding (guild_id, version, enabled, mode, prompts, default_channels) "
    "values ($1, $2, $3, $4, $5, $6) on conflict (guild_id) do update set "
    "version = excluded.version, enabled = excluded.enabled, mode = excluded.mode, "
    "prompts = excluded.prompts, default_channels = excluded.default_channels";

enum err onboarding_save(struct tx *tx, const struct onboarding *o, struct str prompts,
                         struct str channels)
{
    return tx_exec(tx, SAVE_ONBOARDING,
                   BIND(v_id(o->guild_id), v_int(o->version), v_int(o->enabled), v_int(o->mode),
                        v_text(prompts), v_text(channels)),
                   NULL);
}

/* --- answers -------------------------------------------------------------------------- */

enum err onboarding_answers_read(struct tx *tx, snowflake guild_id, snowflake user_id,
                                 struct list *ret)
{
    struct rows r;
    bool found;
    enum err e =
        tx_one(tx, "select options from onboarding_answers where guild_id = $1 and user_id = $2",
               BIND(v_id(guild_id), v_id(user_id)), &r, &found);

    *ret = !e && found ? json_column_decode_list(tx_arena(tx), &type_ids, row_text(&r, 0))
                       : (struct list){ 0 };
    return e;
}

static const char SAVE_ANSWERS[] =
    "insert into onboarding_answers (guild_id, user_id, options, prompts_seen, responses_seen) "
    "values ($1, $2, $3, $4, $5) on conflict (guild_id, user_id) do update set "
    "options = excluded.options, prompts_seen = excluded.prompts_seen, "
    "responses_seen = excluded.responses_seen";

enum err onboarding_answers_save(struct tx *tx, const struct onboarding_answers *a)
{
    struct arena *arena = tx_arena(tx);

    return tx_exec(
        tx, SAVE_ANSWERS,
        BIND(v_id(a->guild_id), v_id(a->user_id),
             v_text(json_column_encode(arena, &type_ids, &a->onboarding_responses)),
             v_text(json_column_encode(arena, &type_seen, &a->onboarding_prompts_seen)),
             v_text(json_column_encode(arena, &type_seen, &a->onboarding_responses_seen))),
        NULL);
}

enum err onboarding_answers_delete(struct tx *tx, snowflake guild_id, snowflake user_id)
{
    return tx_exec(tx, "delete from onboarding_answers where guild_id = $1 and user_id = $2",
                   BIND(v_id(guild_id), v_id(user_id)), NULL);
}

/* --- roles and channels of a guild ---------------------------------------------------- */

static int compare_roles_by_id(const void *a, const void *b)
{
    snowflake x = ((const struct role *)a)->id, y = ((const struct role *)b)->id;

    return (x > y) - (x < y);
}

static int compare_channels_by_id(const void *a, const void *b)
{
    snowflake x = ((const struct channel *)a)->id, y = ((const struct channel *)b)->id;

    return (x > y) - (x < y);
}

/* Reads roles and channels of a guild, both sorted by id (the query sorts the channels). */
enum err read_guild_roles_and_channels(struct tx *tx, snowflake guild_id,
                                       struct guild_roles_and_channels *ret)
{
    struct list threads;
    enum err e = guild_roles_list(tx, guild_id, &ret->roles);

    if (!e)
        e = guild_channels_list(tx, guild_id, &ret->channels, &threads);
    if (!e)
        qsort(ret->roles.items, ret->roles.count, sizeof(struct role), compare_roles_by_id);
    return e;
}

const struct role *find_guild_role_by_id(const struct guild_roles_and_channels *p, snowflake id)
{
    struct role key = { .id = id };

    return p->roles.count
               ? bsearch(&key, p->roles.items, p->roles.count, sizeof key, compare_roles_by_id)
               : NULL;
}

const struct channel *find_guild_channel_by_id(const struct guild_roles_and_channels *p,
                                               snowflake id)
{
    struct channel key = { .id = id };

    return p->channels.count ? bsearch(&key, p->channels.items, p->channels.count, sizeof key,
                                       compare_channels_by_id)
                             : NULL;
}

static void remove_deleted_roles(struct list *ids, const struct guild_roles_and_channels *p)
{
    snowflake *id = ids->items;
    size_t retained = 0;

    for (size_t i = 0; i < ids->count; i++)
        if (find_guild_role_by_id(p, id[i]))
            id[retained++] = id[i];
    ids->count = retained;
}

static void remove_deleted_channels(struct list *ids, const struct guild_roles_and_channels *p)
{
    snowflake *id = ids->items;
    size_t retained = 0;

    for (size_t i = 0; i < ids->count; i++)
        if (find_guild_channel_by_id(p, id[i]))
            id[retained++] = id[i];
    ids->count = retained;
}

void onboarding_remove_deleted_ids(struct onboarding *o, const struct guild_roles_and_channels *p)
{
    struct onboarding_prompt *prompt = o->prompts.items;

    remove_deleted_channels(&o->default_channel_ids, p);
    for (size_t i = 0; i < o->prompts.count; i++) {
        struct onboarding_option *option = prompt[i].options.items;

        for (size_t k = 0; k < prompt[i].options.count; k++) {
            remove_deleted_roles(&option[k].role_ids, p);
            remove_deleted_channels(&option[k].channel_ids, p);
        }
    }
}
