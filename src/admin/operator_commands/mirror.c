/* mirror.c - commands of copy-guild --follow, which updates the copy of a guild continuously.
 *
 * copy-guild imports new and changed objects as world files, which send no events; these commands
 * send the events then. They also delete what was deleted on the other server, and change
 * reactions. Each command may be repeated: what is already gone or already there is no error.
 *
 * The ids come from the other server, which may be hostile. So each command names the guild that is
 * copied, and an object of another guild counts as absent. */
#include "admin/operator_commands/internal.h"

#include "model/fields/ids.h"
#include "model/guild.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/messages/messages.h"
#include "platform/reactions/reactions.h"
#include "platform/threads/threads.h"

/* Writes the row of the reply. It is no error if the object does not exist on this server. */
static enum err reply_to_mirror_command(struct running_operator_command *o, enum err e)
{
    bool absent = e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_MESSAGE || e == ERR_UNKNOWN_ROLE ||
                  e == ERR_UNKNOWN_MEMBER || e == ERR_UNKNOWN_GUILD || e == ERR_UNKNOWN_USER ||
                  e == ERR_UNKNOWN_BAN;

    if (e && !absent)
        return e;
    OPERATOR_ROW(o, v_cstr(e ? "absent" : "done"));
    return OK;
}

static bool parse_message_ids_of_argument(const struct running_operator_command *o, int count,
                                          snowflake *ret)
{
    for (int i = 0; i < count; i++)
        if (!snowflake_parse(o->words[i], &ret[i]))
            return false;
    return true;
}

static enum err refuse_operator_command_arguments(struct running_operator_command *o)
{
    return operator_command_set_error_sentence(o, ERR_BAD_REQUEST, "an argument is no id");
}

/* Finds the channel with the id ids[1] in the guild ids[0]. */
static enum err find_guild_channel(struct call *call, const snowflake *ids, struct channel *ret)
{
    enum err e = channel_find(call->tx, ids[1], ret);

    if (e)
        return e;
    return !channel_is_private(ret->type) && ret->guild_id.value == ids[0] ? OK
                                                                           : ERR_UNKNOWN_CHANNEL;
}

enum err operator_apply_mirrored_message_change(struct call *call,
                                                struct running_operator_command *o)
{
    bool created = str_is(o->words[3], "created");
    struct channel c;
    struct message m;
    snowflake ids[3];

    if (!parse_message_ids_of_argument(o, 3, ids))
        return refuse_operator_command_arguments(o);
    enum err e = find_guild_channel(call, ids, &c);
    if (!e)
        e = message_find(call, c.id, ids[2], &m);
    if (!e && str_is(o->words[3], "unpinned"))
        e = m.pinned ? message_unpin_and_emit(call, &c, &m) : OK;
    else if (!e)
        e = message_emit_imported(call, &c, m.id, created);
    return reply_to_mirror_command(o, e);
}

/* The ids are separated by commas. */
enum err operator_delete_mirrored_messages(struct call *call, struct running_operator_command *o)
{
    struct str rest = o->words[2];
    struct list ids = { 0 };
    struct channel c;
    struct message m;
    snowflake parents[2], id = 0; /* guild and channel */

    if (!parse_message_ids_of_argument(o, 2, parents))
        return refuse_operator_command_arguments(o);
    enum err e = find_guild_channel(call, parents, &c);
    while (rest.n) {
        if (!snowflake_parse(str_cut(&rest, ','), &id))
            return refuse_operator_command_arguments(o);
        id_list_add(call->arena, &ids, id);
    }
    if (!e && ids.count == 1) {
        e = message_find(call, c.id, id, &m);
        if (!e)
            e = message_delete(call, &c, &m);
    } else if (!e) {
        e = messages_delete_bulk(call, &c, &ids);
    }
    return reply_to_mirror_command(o, e);
}

/* USER 0 stands for all users, EMOJI "-" for all emoji; both only if the change is "removed". */
enum err operator_apply_mirrored_reaction_change(struct call *call,
                                                 struct running_operator_command *o)
{
    struct str emoji = str_is(o->words[4], "-") ? STR("") : o->words[4];
    uint64_t user;
    struct channel c;
    struct message m;
    snowflake ids[3];

    if (!parse_message_ids_of_argument(o, 3, ids) || !str_to_u64(o->words[3], &user))
        return refuse_operator_command_arguments(o);
    enum err e = find_guild_channel(call, ids, &c);
    if (!e)
        e = message_find(call, c.id, ids[2], &m);
    if (!e)
        e = str_is(o->words[5], "added") ? mirrored_reaction_add(call, &c, &m, user, emoji)
                                         : mirrored_reaction_remove(call, &c, &m, user, emoji);
    return reply_to_mirror_command(o, e);
}

enum err operator_apply_mirrored_channel_change(struct call *call,
                                                struct running_operator_command *o)
{
    struct channel c;
    snowflake ids[2];

    if (!parse_message_ids_of_argument(o, 2, ids))
        return refuse_operator_command_arguments(o);
    enum err e = find_guild_channel(call, ids, &c);
    if (e)
        return reply_to_mirror_command(o, e);
    if (!str_is(o->words[2], "deleted"))
        e = channel_emit_imported(call, c.id, str_is(o->words[2], "created"));
    else
        e = channel_is_thread(c.type) ? thread_delete_and_emit(call, &c)
                                      : guild_channel_delete(call, &c);
    return reply_to_mirror_command(o, e);
}

enum err operator_apply_mirrored_role_change(struct call *call, struct running_operator_command *o)
{
    struct role *role = arena_alloc(call->arena, sizeof *role);
    snowflake ids[2];

    if (!parse_message_ids_of_argument(o, 2, ids))
        return refuse_operator_command_arguments(o);
    if (!str_is(o->words[2], "deleted"))
        return reply_to_mirror_command(
            o, role_emit_imported(call, ids[0], ids[1], str_is(o->words[2], "created")));
    enum err e = ids[0] == ids[1] ? ERR_UNKNOWN_ROLE : role_find(call->tx, ids[0], ids[1], role);
    return reply_to_mirror_command(o, e ? e : role_delete_and_emit(call, role));
}

static const char IS_PLACEHOLDER[] = "select 1 from placeholder_accounts where user_id = $1";

/* Removes the member if the account is a placeholder. A person who has claimed the account stays a
 * member when they leave the guild on the other server. */
static enum err remove_placeholder_member(struct call *call, snowflake guild_id, snowflake user_id)
{
    struct member m;
    bool is_placeholder;
    enum err e = tx_exists(call->tx, IS_PLACEHOLDER, BIND(v_id(user_id)), &is_placeholder);

    if (e || !is_placeholder)
        return e;
    e = member_find(call->tx, guild_id, user_id, &m);
    return e ? e : member_remove_from_guild(call, guild_id, user_id);
}

enum err operator_apply_mirrored_member_change(struct call *call,
                                               struct running_operator_command *o)
{
    struct user user;
    snowflake ids[2];
    enum err e;

    if (!parse_message_ids_of_argument(o, 2, ids))
        return refuse_operator_command_arguments(o);
    if (str_is(o->words[2], "deleted")) {
        e = remove_placeholder_member(call, ids[0], ids[1]);
    } else if (str_is(o->words[2], "unbanned")) {
        e = user_find(call->tx, ids[1], &user);
        if (!e)
            e = guild_ban_remove_and_emit(call, ids[0], &user);
    } else {
        e = member_emit_imported(call, ids[0], ids[1], str_is(o->words[2], "created"));
    }
    return reply_to_mirror_command(o, e);
}

enum err operator_apply_mirrored_guild_change(struct call *call, struct running_operator_command *o)
{
    snowflake id;

    if (!parse_message_ids_of_argument(o, 1, &id))
        return refuse_operator_command_arguments(o);
    return reply_to_mirror_command(o, guild_emit_update(call, id));
}
