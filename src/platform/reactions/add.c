/* add.c - PUT …/reactions/{emoji}/@me: adds a reaction. */
#include "platform/reactions/internal.h"

#include "model/relationship.h"
#include "platform/channels/channels.h"
#include "platform/emojis/emojis.h"

static bool burst_allowed_for_all = true;

void burst_reactions_set_allowed_for_all(bool everybody_is_premium)
{
    burst_allowed_for_all = everybody_is_premium;
}

/* --- shared by the handlers ----------------------------------------------------------- */

enum err parse_emoji_of_path(struct call *call, struct reaction_emoji_name *ret)
{
    return emoji_name_parse(call->arena, call_get_path_text(call, "emoji"), ret)
               ? OK
               : ERR_NO_SUCH_EMOJI;
}

bool find_reaction_by_emoji_key(const struct call *call, struct str key, struct reaction_line *ret)
{
    struct str lines = reaction_text_skip_reader_line(call->target.message->reactions.value);

    while (reaction_line_parse_next(&lines, ret))
        if (str_eq(ret->key, key)) {
            ret->reader_bits |=
                reaction_line_contains_user(ret, call->caller->id) ? READER_REACTED_NORMAL : 0;
            return true;
        }
    return false;
}

struct reaction_event reaction_event_of_message(const struct call *call)
{
    const struct channel *c = call->target.channel;
    struct reaction_event e = { .channel_id = c->id, .message_id = call->target.message->id };

    if (!channel_is_private(c->type))
        e.guild_id = opt_id_or_null(c->guild_id.value);
    return e;
}

/* --- checks --------------------------------------------------------------------------- */

static enum err check_thread_not_archived(const struct call *call)
{
    const struct channel *c = call->target.channel;

    return c->thread_metadata && c->thread_metadata->archived ? ERR_THREAD_ARCHIVED : OK;
}

static enum err check_not_blocked_by_author(struct call *call)
{
    const struct message *m = call->target.message;
    bool blocked = false;
    enum err e = OK;

    if (m->webhook_id.given != GIVEN && m->author_id != call->caller->id)
        e = account_has_relationship(call->tx, m->author_id, call->caller->id, RELATIONSHIP_BLOCKED,
                                     &blocked);
    return e || !blocked ? e : ERR_REACTION_BLOCKED;
}

static enum err check_burst_reaction_permission(struct call *call, bool burst)
{
    struct user user;

    if (!burst)
        return OK;
    if (call->caller->kind == CALLER_BOT)
        return ERR_NO_BURST_REACTIONS;
    enum err e = burst_allowed_for_all ? OK : user_find(call->tx, call->caller->id, &user);
    return e || burst_allowed_for_all || user.premium_type > 0 ? e : ERR_NO_BURST_REACTIONS;
}

/* Parses an emoji that the message does not have yet, and checks that the caller may use it. */
static enum err resolve_new_reaction_emoji(struct call *call,
                                           const struct reaction_emoji_name *name,
                                           struct reaction_emoji *ret)
{
    const struct channel *c = call->target.channel;
    struct emoji_use_context who = { .user_id = call->caller->id,
                                     .application_id = call->caller->application_id,
                                     .guild_id =
                                         channel_is_private(c->type) ? 0 : c->guild_id.value,
                                     .permissions = call->target.permissions };
    struct emoji emoji;

    *ret = (struct reaction_emoji){ .id = { .given = GIVEN_NULL }, .name = name->text };
    if (!name->id)
        return OK;
    enum err e = emoji_find_usable(call->tx, &who, name->id, &emoji);
    if (e)
        return e == ERR_UNKNOWN_EMOJI ? ERR_NO_SUCH_EMOJI : e;
    *ret = (struct reaction_emoji){ opt_id_or_null(emoji.id), emoji.name,
                                    opt_true_or_absent(emoji.animated) };
    return OK;
}

static enum err check_new_reaction_allowed(const struct call *call)
{
    if (!(call->target.permissions & PERMISSION(ADD_REACTIONS)))
        return call_get_missing_permissions_error(call, PERMISSION(ADD_REACTIONS));
    if (count_distinct_emoji(call->target.message->reactions.value) >= MOST_REACTIONS)
        return ERR_MAX_REACTIONS;
    return OK;
}

/* --- adding --------------------------------------------------------------------------- */

static enum err emit_reaction_add(struct call *call, const struct reaction_emoji *emoji, bool burst)
{
    const struct message *m = call->target.message;
    struct reaction_event event = reaction_event_of_message(call);
    struct user *user = arena_alloc(call->arena, sizeof *user);
    struct member member;
    enum err e = OK;

    event.user_id = opt_id_or_null(call->caller->id);
    if (m->webhook_id.given != GIVEN)
        event.message_author_id = opt_id_or_null(m->author_id);
    event.emoji = emoji;
    event.burst = burst;
    event.type = burst;
    event.burst_colors.given = burst ? GIVEN : ABSENT;
    if (call->target.member_access) {
        e = user_find(call->tx, call->caller->id, user);
        member = *call->target.member_access->member;
        member.user = user;
        event.member = &member;
    }
    if (!e)
        call_emit_event(call, EVENT_MESSAGE_REACTION_ADD, audience_of_channel(call->target.channel),
                        &reaction_added_schema, &event);
    return e;
}

static enum err add_caller_to_reaction(struct call *call, const struct reaction_line *line,
                                       bool burst)
{
    const struct message *m = call->target.message;
    bool new = false;
    enum err e = reaction_add_user(call->tx, m, line->id, burst, call->caller->id, &new);

    if (e || !new)
        return e;
    e = reaction_update_count(call->tx, m, line->id, burst, call->caller->id, 1);
    return e ? e : emit_reaction_add(call, reaction_emoji_decode(call->arena, line), burst);
}

static enum err add_new_reaction(struct call *call, struct str key,
                                 const struct reaction_emoji *emoji, bool burst)
{
    const struct message *m = call->target.message;
    struct reaction_line line = { .id = snowflake_new(),
                                  .burst = burst,
                                  .key = key,
                                  .emoji = reaction_emoji_encode(call->arena, emoji) };
    bool new;
    enum err e = check_new_reaction_allowed(call);

    if (!burst)
        reaction_line_add_user(call->arena, &line, call->caller->id);
    if (!e)
        e = message_add_new_reaction_emoji(call->tx, m, &line, emoji);
    if (!e)
        e = reaction_add_user(call->tx, m, line.id, burst, call->caller->id, &new);
    return e ? e : emit_reaction_add(call, emoji, burst);
}

enum err reaction_add_caller_and_emit(struct call *call, const struct reaction_emoji_name *name,
                                      bool burst)
{
    struct reaction_emoji emoji;
    struct reaction_line there;
    bool joins = find_reaction_by_emoji_key(call, name->key, &there);
    enum err e = joins ? OK : resolve_new_reaction_emoji(call, name, &emoji);

    if (!e)
        e = check_not_blocked_by_author(call);
    if (!e)
        e = check_burst_reaction_permission(call, burst);
    if (e || (joins && there.reader_bits & (burst ? READER_REACTED_BURST : READER_REACTED_NORMAL)))
        return e;
    return joins ? add_caller_to_reaction(call, &there, burst)
                 : add_new_reaction(call, name->key, &emoji, burst);
}

enum err create_reaction(struct call *call)
{
    bool burst = ((const struct reaction_query *)call->query)->type == 1;
    struct reaction_emoji_name name;
    enum err e = check_thread_not_archived(call);

    if (!e)
        e = parse_emoji_of_path(call, &name);
    return e ? e : reaction_add_caller_and_emit(call, &name, burst);
}
