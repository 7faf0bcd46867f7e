/* import_channels.c - a guild's channels and their overwrites.
 *
 * All channels of a guild are made before the first is given its parent, so
 * that a file may list them in any order. */
#include "platform/worlds/internal.h"

static const char ADD_CHANNEL[] =
    "insert into channels (id, guild_id, type, name, position) values ($1, $2, $3, $4, "
    "(select count(*) from channels where guild_id = $2))";

enum err import_channel(struct importing *im, const void *entry, const struct place *at,
                        snowflake guild)
{
    const struct world_channel *c = entry;
    unsigned before = im->form->problems;
    snowflake id = 0;
    enum err e = settle(im, &channel_naming, guild, c->id, c->name, at, &id);

    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_CHANNELS, !id);
    if (id)
        return OK;
    id = c->id.given == GIVEN ? c->id.value : snowflake_new();
    return tx_exec(im->tx, ADD_CHANNEL,
                   BIND(v_id(id), v_id(guild), v_int(channel_type_of(c->type)), v_text(c->name)),
                   NULL);
}

/* --- overwrites ----------------------------------------------------------------------- */

static const char DROP_OVERWRITES[] = "delete from overwrites where channel_id = $1";
static const char SAVE_OVERWRITE[] =
    "insert into overwrites (channel_id, target_id, type, allow, deny) values ($1, $2, $3, $4, $5) "
    "on conflict (channel_id, target_id) do update set allow = excluded.allow, deny = excluded.deny";

static uint64_t rights_of_entry(struct importing *im, const struct opt_str *json)
{
    struct str wrong;
    uint64_t rights = 0;

    if (json->given == GIVEN)
        rights_read(json->value, im->arena, &rights, &wrong);
    return rights;
}

static enum err import_overwrite(struct importing *im, const struct world_overwrite *o,
                                 snowflake channel, snowflake guild, const struct place *up)
{
    bool role = o->role.given == GIVEN;
    struct place at = place_key(up, role ? STR("role") : STR("member"));
    snowflake target = 0;
    enum err e = refer(im, role ? &role_naming : &user_naming, guild,
                       role ? o->role.value : o->member.value, &at, &target);

    if (e || !target)
        return e;
    return tx_exec(im->tx, SAVE_OVERWRITE,
                   BIND(v_id(channel), v_id(target),
                        v_int(role ? OVERWRITE_ROLE : OVERWRITE_MEMBER),
                        v_int((int64_t)rights_of_entry(im, &o->allow)),
                        v_int((int64_t)rights_of_entry(im, &o->deny))),
                   NULL);
}

static enum err import_overwrites(struct importing *im, const struct world_channel *c,
                                  snowflake channel, snowflake guild, const struct place *up)
{
    struct place all = place_key(up, STR("overwrites"));
    const struct world_overwrite *list = c->overwrites.value.items;
    enum err e = OK;

    if (c->overwrites.given == GIVEN)
        e = tx_exec(im->tx, DROP_OVERWRITES, BIND(v_id(channel)), NULL);
    for (size_t i = 0; i < c->overwrites.value.count && !e; i++) {
        struct place at = place_index(&all, i);

        e = import_overwrite(im, &list[i], channel, guild, &at);
    }
    return e;
}

/* --- all that a channel has ----------------------------------------------------------- */

static const char DRESS_CHANNEL[] =
    "update channels set name = $2, type = $3, parent_id = coalesce($4, parent_id), "
    "topic = coalesce($5, topic), position = coalesce($6, position), nsfw = coalesce($7, nsfw), "
    "rate_limit_per_user = coalesce($8, rate_limit_per_user), bitrate = coalesce($9, bitrate), "
    "user_limit = coalesce($10, user_limit), rtc_region = coalesce($11, rtc_region), "
    "video_quality_mode = coalesce($12, video_quality_mode), flags = coalesce($13, flags), "
    "default_auto_archive_duration = coalesce($14, default_auto_archive_duration), "
    "owner_id = coalesce($15, owner_id), thread_archived = coalesce($16, thread_archived), "
    "thread_archived_at = coalesce($17, thread_archived_at), "
    "thread_archive_minutes = coalesce($18, thread_archive_minutes), "
    "thread_locked = coalesce($19, thread_locked) where id = $1";

static enum err write_channel(struct importing *im, const struct world_channel *c, snowflake id,
                              snowflake parent, snowflake owner)
{
    return tx_exec(
        im->tx, DRESS_CHANNEL,
        BIND(v_id(id), v_text(c->name), v_int(channel_type_of(c->type)),
             parent ? v_id(parent) : v_null(), v_opt_text(c->topic), v_opt_int(c->position),
             v_opt_bool(c->nsfw), v_opt_int(c->rate_limit_per_user), v_opt_int(c->bitrate),
             v_opt_int(c->user_limit), v_opt_text(c->rtc_region), v_opt_int(c->video_quality_mode),
             v_opt_int(c->flags), v_opt_int(c->default_auto_archive_duration),
             owner ? v_id(owner) : v_null(), v_opt_bool(c->archived), v_opt_int(c->archived_at),
             v_opt_int(c->auto_archive_duration), v_opt_bool(c->locked)),
        NULL);
}

enum err dress_channel(struct importing *im, const void *entry, const struct place *at,
                       snowflake guild)
{
    const struct world_channel *c = entry;
    struct place parent_at = place_key(at, STR("parent")), owner_at = place_key(at, STR("owner"));
    snowflake id = 0, parent = 0, owner = 0;

    /* What import_channel could not make has its problem noted there. */
    if (form_failed_at(im->form, at))
        return OK;
    enum err e = settle(im, &channel_naming, guild, c->id, c->name, at, &id);
    if (!e)
        e = refer_maybe(im, &channel_naming, guild, &c->parent, &parent_at, &parent);
    if (!e)
        e = refer_maybe(im, &user_naming, 0, &c->owner, &owner_at, &owner);
    if (!e && id)
        e = write_channel(im, c, id, parent, owner);
    if (!e && id)
        e = import_overwrites(im, c, id, guild, at);
    return e || !id ? e : import_messages(im, &c->messages, id, at);
}
