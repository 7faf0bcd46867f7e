/* mirror.c - reactions that were added or removed on another server, from which a guild is copied.
 */
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "platform/reactions/internal.h"

/* Sets the call's caller to the user and its target to the message, as in a request of the user. */
static enum err set_caller_and_target_of_reaction(struct call *call, struct channel *c,
                                                  struct message *m, snowflake user_id)
{
    struct caller *caller = arena_alloc(call->arena, sizeof *caller);
    struct member_access *access = arena_alloc(call->arena, sizeof *access);

    *caller = (struct caller){ .id = user_id, .kind = CALLER_USER };
    call->caller = caller;
    call->target = (struct call_path_objects){ .channel = c, .message = m, .permissions = ~0ULL };
    enum err e = member_access_find(call->tx, c->guild_id.value, user_id, access);
    if (!e)
        call->target.member_access = access;
    return e == ERR_MISSING_ACCESS ? OK : e;
}

enum err mirrored_reaction_add(struct call *call, struct channel *c, struct message *m,
                               snowflake user_id, struct str emoji)
{
    struct reaction_emoji_name name;
    enum err e = set_caller_and_target_of_reaction(call, c, m, user_id);

    if (!e && !emoji_name_parse(call->arena, emoji, &name))
        e = ERR_NO_SUCH_EMOJI;
    return e ? e : reaction_add_caller_and_emit(call, &name, false);
}

enum err mirrored_reaction_remove(struct call *call, struct channel *c, struct message *m,
                                  snowflake user_id, struct str emoji)
{
    struct reaction_emoji_name name = { 0 };
    enum err e = set_caller_and_target_of_reaction(call, c, m, user_id);

    if (!e && emoji.n && !emoji_name_parse(call->arena, emoji, &name))
        e = ERR_NO_SUCH_EMOJI;
    if (e)
        return e;
    if (!emoji.n)
        return delete_all_reactions(call);
    return user_id ? reaction_remove_user_and_emit(call, &name, user_id, false)
                   : reaction_remove_emoji_and_emit(call, &name);
}
