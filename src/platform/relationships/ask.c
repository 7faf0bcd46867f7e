/* ask.c - sends and accepts friend requests. Checks run in Discord's order, so that the same error
 * wins: target account, caller, current relationship, the target's settings, limits, confirmation
 * of requests from unknown users. */
#include "platform/relationships/internal.h"

/* --- the two accounts ----------------------------------------------------------------- */

static enum err check_target(const struct call *call, const struct user *user)
{
    if (user->disabled || user->deleting)
        return ERR_NO_SUCH_TAG;
    if (user->id == call->caller->id)
        return ERR_SELF_FRIEND;
    return user->bot.value || user->system.value ? ERR_BOT_FRIEND : OK;
}

static enum err check_asker(const struct user *me)
{
    if (!me->verified)
        return ERR_UNVERIFIED;
    return me->flags & USER_QUARANTINED ? ERR_FRIEND_REQUESTS_LIMITED : OK;
}

/* --- sending a request ---------------------------------------------------------------- */

static enum err check_welcome(struct call *call, const struct friend_asking *in,
                              const struct acquaintance *known)
{
    struct user_settings settings;
    bool suggested = false;
    enum err e = settings_find(call->tx, in->user->id, &settings);

    if (!e && in->suggested)
        e = suggestion_exists(call->tx, call->caller->id, in->user->id, &suggested);
    if (e)
        return e;
    return may_ask(settings_friend_sources(&settings), known, suggested || in->vouched)
               ? OK
               : ERR_FRIEND_REQUESTS_DISABLED;
}

static enum err check_own_room(struct call *call)
{
    int64_t pending;
    enum err e = friends_have_room(call->tx, call->caller->id);

    if (!e)
        e = count_type(call->tx, call->caller->id, RELATIONSHIP_OUTGOING, &pending);
    if (e)
        return e;
    return pending >= MOST_PENDING ? ERR_MAX_FRIENDS : OK;
}

/* If the recipient has too many requests, declines the oldest spam request, or else refuses. */
static enum err make_room(struct call *call, snowflake user_id)
{
    snowflake spammer;
    int64_t pending;
    enum err e = count_type(call->tx, user_id, RELATIONSHIP_INCOMING, &pending);

    if (e || pending < MOST_PENDING)
        return e;
    e = oldest_spam(call->tx, user_id, &spammer);
    if (e)
        return e;
    return spammer ? relationship_do(call, OPERATION_END, user_id, spammer)
                   : ERR_FRIEND_REQUESTS_DISABLED;
}

static enum err friend_ask(struct call *call, const struct friend_asking *in, const struct user *me,
                           struct bond *bond, struct bond_change *change)
{
    struct friend_request request = { .origin_application_id = call->caller->kind == CALLER_BEARER
                                                                   ? call->caller->application_id
                                                                   : 0 };
    struct acquaintance known;
    struct asking_record record;

    enum err e = acquaintance_find(call->tx, me->id, in->user->id, &known);
    if (!e)
        e = check_welcome(call, in, &known);
    if (!e)
        e = check_own_room(call);
    if (!e)
        e = make_room(call, in->user->id);
    if (!e)
        e = asking_record_find(call->tx, me, &record);
    if (e)
        return e;

    request.note = given_str(in->note.given == GIVEN ? note_collapse(call->arena, in->note.value)
                                                     : (struct str){ 0 });
    request.is_stranger = is_stranger(&known) && !in->vouched;
    request.is_spam = is_spam(&record, request.is_stranger);
    if (request.is_spam)
        change->theirs.notify = false;

    e = bond_change(call, bond, change, &request);
    if (!e)
        e = asking_record_add(call->tx, me->id, in->user->id);
    return e ? e : suggestion_drop(call, me->id, in->user->id);
}

/* --- accepting ------------------------------------------------------------------------ */

/* Checks again whether the two are strangers, because they may share a guild or a friend by now. */
static enum err check_confirmed(struct call *call, const struct friend_asking *in,
                                const struct bond *bond)
{
    struct acquaintance known;

    if (!bond->mine.is_stranger || in->confirmed || in->vouched)
        return OK;
    enum err e = acquaintance_find(call->tx, bond->my_id, bond->their_id, &known);
    if (e)
        return e;
    return is_stranger(&known) ? ERR_CONFIRM_STRANGER : OK;
}

static enum err say_yes(struct call *call, const struct friend_asking *in, struct bond *bond)
{
    enum err e = friends_have_room(call->tx, bond->my_id);

    if (!e)
        e = friends_have_room(call->tx, bond->their_id);
    if (!e)
        e = check_confirmed(call, in, bond);
    if (!e)
        e = bond_become_friends(call, bond);
    return e ? e : asking_record_accept(call->tx, bond->their_id, bond->my_id);
}

enum err relationship_ask(struct call *call, const struct friend_asking *in)
{
    struct bond_change change;
    struct bond bond;
    struct user me;

    enum err e = check_target(call, in->user);
    if (!e)
        e = user_find(call->tx, call->caller->id, &me);
    if (!e)
        e = check_asker(&me);
    if (!e)
        e = bond_find(call->tx, me.id, in->user->id, &bond);
    if (!e)
        e = relationship_decide(in->op, &bond, &change);
    if (e || change_is_none(&bond, &change))
        return e;
    return change.mine.type == RELATIONSHIP_FRIEND ? say_yes(call, in, &bond)
                                                   : friend_ask(call, in, &me, &bond, &change);
}

enum err relationship_do(struct call *call, enum operation op, snowflake my_id, snowflake their_id)
{
    struct bond_change change;
    struct bond bond;

    enum err e = bond_find(call->tx, my_id, their_id, &bond);
    if (!e)
        e = relationship_decide(op, &bond, &change);
    if (e || change_is_none(&bond, &change))
        return e;
    return bond_change(call, &bond, &change, NULL);
}
