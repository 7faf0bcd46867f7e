/* guild_read.c - reads a guild with all objects in it that a member of the guild can view. */
#include <inttypes.h>
#include <string.h>

#include "gateway_source/gateway_source.h"
#include "gateway_source/encoded_members.h"
#include "model/thread.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/scheduled_events/scheduled_events.h"
#include "voice/states.h"

static const struct channel *find_channel_in_list(const struct list *channels, snowflake id)
{
    const struct channel *all = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (all[i].id == id)
            return &all[i];
    return NULL;
}

static bool can_view_channel_or_thread(const struct permission_computation_input *who,
                                       const struct channel *c, const struct list *all)
{
    const struct list *o = &c->permission_overwrites.value;
    const struct channel *parent;
    uint64_t perms = 0;

    if (!channel_is_thread(c->type))
        perms = permissions_in_channel(who, c->type, o->items, o->count, false);
    else if ((parent = find_channel_in_list(all, c->parent_id.value)))
        perms = permissions_in_thread(who, c, parent);
    return perms & PERMISSION(VIEW_CHANNEL);
}

/* Adds the channels that the viewer gets: a bot gets every channel of the guild, a user gets the
 * channels that the user can view. */
static void add_visible_channels(struct arena *arena,
                                 const struct permission_computation_input *who, bool bot,
                                 const struct guild_with_channels *parts, struct gateway_guild *ret)
{
    const struct channel *c = parts->channels.items;

    for (size_t i = 0; i < parts->channels.count; i++) {
        if (!bot && !can_view_channel_or_thread(who, &c[i], &parts->channels))
            continue;
        *(struct channel *)list_append(arena, &ret->channels, sizeof *c) = c[i];
        if (ret->encoded)
            *(struct str *)list_append(arena, &ret->channel_texts, sizeof(struct str)) =
                ret->encoded->channels[i];
    }
}

/* Appends a copy of the Discord thread with the viewer's thread member. All viewers share the
 * original, so it must not change. */
static void append_visible_thread(struct arena *arena, struct channel thread, struct list *ret)
{
    if (thread.member) {
        struct thread_member *own = arena_alloc(arena, sizeof *own);

        *own = *thread.member;
        own->id.given = own->user_id.given = ABSENT;
        thread.member = own;
    }
    *(struct channel *)list_append(arena, ret, sizeof thread) = thread;
}

/* Reads the open Discord threads that the viewer gets: a bot gets all threads that it can view, a
 * user gets the threads that the user has joined. */
static enum err read_visible_threads_of_guild(struct tx *tx,
                                              const struct permission_computation_input *who,
                                              bool bot, const struct guild_with_channels *parts,
                                              struct gateway_guild *ret)
{
    struct arena *arena = tx_arena(tx);
    size_t size = parts->threads.count * sizeof(struct channel);
    struct list threads = { size ? arena_alloc(arena, size) : NULL, parts->threads.count };
    struct channel *t = threads.items;

    if (size)
        memcpy(t, parts->threads.items, size);
    enum err e = open_threads_read_membership_of_user(tx, who->guild_id, who->user_id, &threads);
    for (size_t i = 0; !e && i < threads.count; i++)
        if ((bot || t[i].member) && can_view_channel_or_thread(who, &t[i], &parts->channels))
            append_visible_thread(arena, t[i], &ret->threads);
    return e;
}

static enum err read_listed_members(struct tx *tx, const struct guild_read_options *read_step,
                                    bool all, struct gateway_guild *ret)
{
    if (all && read_step->encodes_members)
        return read_encoded_members(tx, read_step->guild_id, read_step->listed_up_to,
                                    read_step->refers_to_users, &ret->encoded_members);
    if (all)
        return members_list_after(tx, read_step->guild_id, 0, read_step->listed_up_to,
                                  &ret->members);
    struct member *own = list_append(tx_arena(tx), &ret->members, sizeof *own);
    *own = *read_step->member;
    own->user = read_step->user;
    return OK;
}

enum err read_guild_for_member(struct tx *tx, const struct guild_read_options *read_step,
                               struct gateway_guild *ret)
{
    struct guild_with_channels parts;

    *ret = (struct gateway_guild){ .presences = STR("[]") };
    enum err e = read_guild_with_all_lists(tx, read_step->guild_id, &parts);
    if (e)
        return e;
    ret->guild = parts.guild;
    ret->encoded = parts.encoded;
    ret->soundboard_sounds = parts.sounds;
    struct permission_computation_input who =
        permission_computation_input_of_member(&ret->guild, read_step->member);
    ret->joined_at = read_step->member->joined_at;
    ret->large = ret->guild.member_count > GUILD_LISTED_MEMBERS;
    add_visible_channels(tx_arena(tx), &who, read_step->user->bot.value, &parts, ret);
    e = read_visible_threads_of_guild(tx, &who, read_step->user->bot.value, &parts, ret);
    bool all = ret->guild.member_count <= read_step->listed_up_to;
    if (!e)
        e = read_listed_members(tx, read_step, all, ret);
    if (!e)
        e = read_visible_stage_instances(tx, ret);
    if (!e)
        e = gateway_guild_add_scheduled_events(tx, ret);
    return e ? e : read_visible_voice_states(tx, &who, &parts.channels, all, ret);
}

enum err read_guild_for_user(struct tx *tx, snowflake guild_id, snowflake viewer,
                             struct gateway_guild *ret)
{
    struct member *member = arena_alloc(tx_arena(tx), sizeof *member);
    struct guild_read_options read_step = { .guild_id = guild_id, .member = member };
    enum err e = member_find(tx, guild_id, viewer, member);

    if (e)
        return e == ERR_UNKNOWN_MEMBER ? ERR_MISSING_ACCESS : e;
    e = member_read_user(tx, member);
    read_step.user = member->user;
    /* Decide by the kind of account, because the intents and options of the viewer's sessions are
     * not known here: a bot gets no list of all members. */
    read_step.listed_up_to = !e && member->user->bot.value ? 0 : GUILD_LISTED_MEMBERS;
    return e ? e : read_guild_for_member(tx, &read_step, ret);
}

/* Counts the rows that determine how long reading a guild takes: one for each channel, for each
 * further overwrite of a channel, and for each voice state. */
static const char COUNT_GUILD_ROWS[] =
    "select (select count(*) from (select 1 from channels c left join overwrites o on "
    "o.channel_id = c.id where c.guild_id = $1 and c.thread_archived = 0 limit $2) rights) + "
    "(select count(*) from (select 1 from voice_states where guild_id = $1 limit $2) voices)";

/* Maximum number of rows of a guild that is fast to read. With this many rows, and with the maximum
 * of roles and members, the writer thread needs about 8 ms. */
enum { GUILD_ROWS_MAX = 500 };

static enum err guild_takes_long_to_read(struct tx *tx, snowflake guild_id, bool *ret)
{
    struct rows row;
    bool found = false;
    enum err e =
        tx_one(tx, COUNT_GUILD_ROWS, BIND(v_id(guild_id), v_int(GUILD_ROWS_MAX + 1)), &row, &found);

    if (!e)
        *ret = found && row_int(&row, 0) > GUILD_ROWS_MAX;
    return e;
}

/* Emits GUILD_CREATE with only the guild's id. Each session of the new member then reads the guild
 * itself, on a thread other than the writer. */
static void emit_guild_create_with_id_only(struct call *call, const struct member *m)
{
    struct gateway_guild *guild = arena_alloc(call->arena, sizeof *guild);
    struct str json =
        str_printf(call->arena, "{\"id\":\"%" PRIu64 "\",\"unavailable\":true}", m->guild_id);

    *guild = (struct gateway_guild){ .guild.id = m->guild_id };
    call_emit_encoded_event(call, EVENT_GUILD_CREATE, audience_of_user(m->user_id),
                            &gateway_guild_schema, guild, json);
}

enum err emit_guild_create_to_new_member(struct call *call, const struct member *m)
{
    struct gateway_guild *guild = arena_alloc(call->arena, sizeof *guild);
    bool is_long = false;
    enum err e = guild_takes_long_to_read(call->tx, m->guild_id, &is_long);

    if (!e && is_long) {
        emit_guild_create_with_id_only(call, m);
        return OK;
    }
    if (!e)
        e = read_guild_for_user(call->tx, m->guild_id, m->user_id, guild);
    if (!e)
        call_emit_event(call, EVENT_GUILD_CREATE, audience_of_user(m->user_id),
                        &gateway_guild_schema, guild);
    return e;
}
