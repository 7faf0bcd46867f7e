/* add.c - PUT …/reactions/{emoji}/@me: adds a reaction. */
#include "platform/reactions/internal.h"

#include "model/relationship.h"
#include "platform/channels/channels.h"
#include "platform/emojis/emojis.h"

static bool everybody = true;

void reactions_set(bool everybody_is_premium)
{
    everybody = everybody_is_premium;
}

/* --- shared by the handlers ----------------------------------------------------------- */

enum err may_see_reactions(struct call *call)
{
    return call->target.rights & PERMISSION(READ_MESSAGE_HISTORY) ? OK : ERR_MISSING_PERMISSIONS;
}

enum err reaction_of_path(struct call *call, struct reaction_name *ret)
{
    return reaction_read(call->arena, call_text(call, "emoji"), ret) ? OK : ERR_NO_SUCH_EMOJI;
}

bool reaction_there(const struct call *call, struct str key, struct reaction_line *ret)
{
    struct str lines = reaction_text_lines(call->target.message->reactions.value);

    while (reaction_line_next(&lines, ret))
        if (str_eq(ret->key, key)) {
            ret->own |= reaction_line_names(ret, call->caller->id) ? OWN_NORMAL : 0;
            return true;
        }
    return false;
}

struct reaction_event reaction_event(const struct call *call)
{
    const struct channel *c = call->target.channel;
    struct reaction_event e = { .channel_id = c->id, .message_id = call->target.message->id };

    if (!channel_is_private(c->type))
        e.guild_id = given_id(c->guild_id.value);
    return e;
}

/* --- checks --------------------------------------------------------------------------- */

static enum err check_place(const struct call *call)
{
    const struct channel *c = call->target.channel;

    return c->thread_metadata && c->thread_metadata->archived ? ERR_THREAD_ARCHIVED : OK;
}

static enum err check_author(struct call *call)
{
    const struct message *m = call->target.message;
    bool blocked = false;
    enum err e = OK;

    if (m->webhook_id.given != GIVEN && m->author_id != call->caller->id)
        e = account_has_relationship(call->tx, m->author_id, call->caller->id, RELATIONSHIP_BLOCKED,
                                     &blocked);
    return e || !blocked ? e : ERR_REACTION_BLOCKED;
}

static enum err check_burst(struct call *call, bool burst)
{
    struct user user;

    if (!burst)
        return OK;
    if (call->caller->kind == CALLER_BOT)
        return ERR_NO_BURST_REACTIONS;
    enum err e = everybody ? OK : user_find(call->tx, call->caller->id, &user);
    return e || everybody || user.premium_type > 0 ? e : ERR_NO_BURST_REACTIONS;
}

/* Checks that the caller may use an emoji that the message does not have yet. */
static enum err find_emoji(struct call *call, const struct reaction_name *name,
                           struct reaction_emoji *ret)
{
    const struct channel *c = call->target.channel;
    struct emoji_user who = { .user_id = call->caller->id,
                              .application_id = call->caller->application_id,
                              .guild_id = channel_is_private(c->type) ? 0 : c->guild_id.value,
                              .rights = call->target.rights };
    struct emoji emoji;

    *ret = (struct reaction_emoji){ .id = { .given = GIVEN_NULL }, .name = name->text };
    if (!name->id)
        return OK;
    enum err e = emoji_use(call->tx, &who, name->id, &emoji);
    if (e)
        return e == ERR_UNKNOWN_EMOJI ? ERR_NO_SUCH_EMOJI : e;
    *ret = (struct reaction_emoji){ given_id(emoji.id), emoji.name, given_mark(emoji.animated) };
    return OK;
}

static enum err check_new_emoji(const struct call *call)
{
    if (!(call->target.rights & PERMISSION(ADD_REACTIONS)))
        return ERR_MISSING_PERMISSIONS;
    if (reaction_kinds(call->target.message->reactions.value) >= MOST_REACTIONS)
        return ERR_MAX_REACTIONS;
    return OK;
}

/* --- adding --------------------------------------------------------------------------- */

static enum err reaction_tell(struct call *call, const struct reaction_emoji *emoji, bool burst)
{
    const struct message *m = call->target.message;
    struct reaction_event event = reaction_event(call);
    struct user *user = arena_alloc(call->arena, sizeof *user);
    struct member member;
    enum err e = OK;

    event.user_id = given_id(call->caller->id);
    if (m->webhook_id.given != GIVEN)
        event.message_author_id = given_id(m->author_id);
    event.emoji = emoji;
    event.burst = burst;
    event.type = burst;
    event.burst_colors.given = burst ? GIVEN : ABSENT;
    if (call->target.standing) {
        e = user_find(call->tx, call->caller->id, user);
        member = *call->target.standing->member;
        member.user = user;
        event.member = &member;
    }
    if (!e)
        call_emit(call, EVENT_MESSAGE_REACTION_ADD, to_channel_viewers(call->target.channel),
                  &reaction_added_schema, &event);
    return e;
}

/* Adds the caller to the users of an existing reaction. */
static enum err reaction_join(struct call *call, const struct reaction_line *line, bool burst)
{
    const struct message *m = call->target.message;
    bool new = false;
    enum err e = reaction_add_user(call->tx, m, line->id, burst, call->caller->id, &new);

    if (e || !new)
        return e;
    e = reaction_count(call->tx, m, line->id, burst, call->caller->id, 1);
    return e ? e : reaction_tell(call, reaction_emoji_of(call->arena, line), burst);
}

static enum err reaction_begin(struct call *call, struct str key,
                               const struct reaction_emoji *emoji, bool burst)
{
    const struct message *m = call->target.message;
    struct reaction_line line = { .id = snowflake_new(),
                                  .burst = burst,
                                  .key = key,
                                  .emoji = reaction_emoji_text(call->arena, emoji) };
    bool new;
    enum err e = check_new_emoji(call);

    if (!burst)
        reaction_line_count(call->arena, &line, call->caller->id);
    if (!e)
        e = reaction_insert(call->tx, m, &line, emoji);
    if (!e)
        e = reaction_add_user(call->tx, m, line.id, burst, call->caller->id, &new);
    return e ? e : reaction_tell(call, emoji, burst);
}

enum err create_reaction(struct call *call)
{
    bool burst = ((const struct reaction_query *)call->query)->type == 1;
    struct reaction_name name;
    struct reaction_emoji emoji;
    struct reaction_line there;
    enum err e = check_place(call);

    if (!e)
        e = reaction_of_path(call, &name);
    bool joins = !e && reaction_there(call, name.key, &there);
    if (!e && !joins)
        e = find_emoji(call, &name, &emoji);
    if (!e)
        e = check_author(call);
    if (!e)
        e = check_burst(call, burst);
    if (e || (joins && there.own & (burst ? OWN_BURST : OWN_NORMAL)))
        return e;
    return joins ? reaction_join(call, &there, burst)
                 : reaction_begin(call, name.key, &emoji, burst);
}
