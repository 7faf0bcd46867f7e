/* guild_look.c - reads a guild with all objects in it that one of its members can view. */
#include <inttypes.h>
#include <string.h>

#include "gateway_source/gateway_source.h"
#include "gateway_source/people.h"
#include "model/thread.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/scheduled_events/scheduled_events.h"
#include "voice/states.h"

static const struct channel *find_channel(const struct list *channels, snowflake id)
{
    const struct channel *all = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (all[i].id == id)
            return &all[i];
    return NULL;
}

static bool can_view(const struct rights_of *who, const struct channel *c, const struct list *all)
{
    const struct list *o = &c->permission_overwrites.value;
    const struct channel *parent;
    uint64_t rights = 0;

    if (!channel_is_thread(c->type))
        rights = rights_in_channel(who, c->type, o->items, o->count, false);
    else if ((parent = find_channel(all, c->parent_id.value)))
        rights = rights_in_thread(who, c, parent);
    return rights & PERMISSION(VIEW_CHANNEL);
}

/* Bots get every channel, users the channels that they can view. */
static void show_channels(struct arena *arena, const struct rights_of *who, bool bot,
                          const struct guild_parts *parts, struct gateway_guild *ret)
{
    const struct channel *c = parts->channels.items;

    for (size_t i = 0; i < parts->channels.count; i++) {
        if (!bot && !can_view(who, &c[i], &parts->channels))
            continue;
        *(struct channel *)list_add(arena, &ret->channels, sizeof *c) = c[i];
        if (ret->written)
            *(struct str *)list_add(arena, &ret->channel_texts, sizeof(struct str)) =
                ret->written->channels[i];
    }
}

/* The guild parts are shared by all readers, so the viewer's thread member is copied. */
static void show_thread(struct arena *arena, struct channel thread, struct list *ret)
{
    if (thread.member) {
        struct thread_member *own = arena_alloc(arena, sizeof *own);

        *own = *thread.member;
        own->id.given = own->user_id.given = ABSENT;
        thread.member = own;
    }
    *(struct channel *)list_add(arena, ret, sizeof thread) = thread;
}

/* Bots get all open threads that they can view, users the threads that they have joined. */
static enum err show_threads(struct tx *tx, const struct rights_of *who, bool bot,
                             const struct guild_parts *parts, struct gateway_guild *ret)
{
    struct arena *arena = tx_arena(tx);
    size_t size = parts->threads.count * sizeof(struct channel);
    struct list threads = { size ? arena_alloc(arena, size) : NULL, parts->threads.count };
    struct channel *t = threads.items;

    if (size)
        memcpy(t, parts->threads.items, size);
    enum err e = threads_load_own(tx, who->guild_id, who->user_id, &threads);
    for (size_t i = 0; !e && i < threads.count; i++)
        if ((bot || t[i].member) && can_view(who, &t[i], &parts->channels))
            show_thread(arena, t[i], &ret->threads);
    return e;
}

static enum err show_members(struct tx *tx, const struct guild_look *look, bool all,
                             struct gateway_guild *ret)
{
    if (all && look->writes_people)
        return guild_people(tx, look->guild_id, look->listed_up_to, look->refers, &ret->people);
    if (all)
        return members_after(tx, look->guild_id, 0, look->listed_up_to, &ret->members);
    struct member *own = list_add(tx_arena(tx), &ret->members, sizeof *own);
    *own = *look->member;
    own->user = look->user;
    return OK;
}

enum err guild_look(struct tx *tx, const struct guild_look *look, struct gateway_guild *ret)
{
    struct guild_parts parts;

    *ret = (struct gateway_guild){ .presences = STR("[]") };
    enum err e = guild_whole(tx, look->guild_id, &parts);
    if (e)
        return e;
    ret->guild = parts.guild;
    ret->written = parts.written;
    ret->soundboard_sounds = parts.sounds;
    struct rights_of who = guild_rights_of(&ret->guild, look->member);
    ret->joined_at = look->member->joined_at;
    ret->large = ret->guild.member_count > GUILD_LISTED;
    show_channels(tx_arena(tx), &who, look->user->bot.value, &parts, ret);
    e = show_threads(tx, &who, look->user->bot.value, &parts, ret);
    bool all = ret->guild.member_count <= look->listed_up_to;
    if (!e)
        e = show_members(tx, look, all, ret);
    if (!e)
        e = stages_show(tx, ret);
    if (!e)
        e = scheduled_events_show(tx, ret);
    return e ? e : voice_show(tx, &who, &parts.channels, all, ret);
}

enum err guild_for_gateway(struct tx *tx, snowflake guild_id, snowflake viewer,
                           struct gateway_guild *ret)
{
    struct member *member = arena_alloc(tx_arena(tx), sizeof *member);
    struct guild_look look = { .guild_id = guild_id, .member = member };
    enum err e = member_find(tx, guild_id, viewer, member);

    if (e)
        return e == ERR_UNKNOWN_MEMBER ? ERR_MISSING_ACCESS : e;
    e = member_load_user(tx, member);
    look.user = member->user;
    /* The options of the viewer's sessions are not known. */
    look.listed_up_to = !e && member->user->bot.value ? 0 : GUILD_LISTED;
    return e ? e : guild_look(tx, &look, ret);
}

/* Counts a row per channel or overwrite and a row per voice state. */
static const char ROWS_TO_SHOW[] =
    "select (select count(*) from (select 1 from channels c left join overwrites o on "
    "o.channel_id = c.id where c.guild_id = $1 and c.thread_archived = 0 limit $2) rights) + "
    "(select count(*) from (select 1 from voice_states where guild_id = $1 limit $2) voices)";

/* With the maximum of roles and members the read takes about 8 ms of the writer. */
enum { ROWS_AT_ONCE = 500 };

static enum err takes_long_to_show(struct tx *tx, snowflake guild_id, bool *ret)
{
    struct rows row;
    bool found = false;
    enum err e =
        tx_one(tx, ROWS_TO_SHOW, BIND(v_id(guild_id), v_int(ROWS_AT_ONCE + 1)), &row, &found);

    if (!e)
        *ret = found && row_int(&row, 0) > ROWS_AT_ONCE;
    return e;
}

/* Emits GUILD_CREATE with the guild's id only: each session of the new member reads the guild
 * itself, without the writer. */
static void show_by_id(struct call *call, const struct member *m)
{
    struct gateway_guild *guild = arena_alloc(call->arena, sizeof *guild);
    struct str json =
        str_printf(call->arena, "{\"id\":\"%" PRIu64 "\",\"unavailable\":true}", m->guild_id);

    *guild = (struct gateway_guild){ .guild.id = m->guild_id };
    call_emit_made(call, EVENT_GUILD_CREATE, to_user(m->user_id), &gateway_guild_schema, guild,
                   json);
}

enum err gateway_show_newcomer(struct call *call, const struct member *m)
{
    struct gateway_guild *guild = arena_alloc(call->arena, sizeof *guild);
    bool is_long = false;
    enum err e = takes_long_to_show(call->tx, m->guild_id, &is_long);

    if (!e && is_long) {
        show_by_id(call, m);
        return OK;
    }
    if (!e)
        e = guild_for_gateway(call->tx, m->guild_id, m->user_id, guild);
    if (!e)
        call_emit(call, EVENT_GUILD_CREATE, to_user(m->user_id), &gateway_guild_schema, guild);
    return e;
}
