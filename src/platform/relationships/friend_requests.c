/* friend_requests.c - sends and accepts friend requests. The checks run in Discord's order, so that
 * a request that violates several rules fails with the same error as on Discord: target account,
 * caller, current relationship, the target's settings, limits, confirmation of requests from
 * unknown users. */
#include "platform/relationships/internal.h"

/* --- the two accounts ----------------------------------------------------------------- */

static enum err check_friend_request_target(const struct call *call, const struct user *user)
{
    if (user->disabled || user->deleting)
        return ERR_NO_SUCH_TAG;
    if (user->id == call->caller->id)
        return ERR_SELF_FRIEND;
    return user->bot.value || user->system.value ? ERR_BOT_FRIEND : OK;
}

static enum err check_requesting_account(const struct user *me)
{
    if (!me->verified)
        return ERR_UNVERIFIED;
    return me->flags & USER_QUARANTINED ? ERR_FRIEND_REQUESTS_LIMITED : OK;
}

/* --- sending a request ---------------------------------------------------------------- */

static enum err check_target_accepts_requests(struct call *call,
                                              const struct friend_request_attempt *in,
                                              const struct user_acquaintance *known)
{
    struct user_settings settings;
    bool suggested = false;
    enum err e = user_settings_find(call->tx, in->user->id, &settings);

    if (!e && in->suggested)
        e = friend_suggestion_exists(call->tx, call->caller->id, in->user->id, &suggested);
    if (e)
        return e;
    return friend_sources_allow_request(user_settings_friend_sources(&settings), known,
                                        suggested || in->server_verified)
               ? OK
               : ERR_FRIEND_REQUESTS_DISABLED;
}

static enum err check_friend_limits_of_caller(struct call *call)
{
    int64_t pending;
    enum err e = check_friend_limit(call->tx, call->caller->id);

    if (!e)
        e = count_relationships_of_type(call->tx, call->caller->id, RELATIONSHIP_OUTGOING,
                                        &pending);
    if (e)
        return e;
    return pending >= MOST_PENDING ? ERR_MAX_FRIENDS : OK;
}

/* If a user has the maximum number of incoming requests, declines the oldest spam request. Returns
 * an error if there is no spam request. */
static enum err free_incoming_request_slot(struct call *call, snowflake user_id)
{
    snowflake spammer;
    int64_t pending;
    enum err e = count_relationships_of_type(call->tx, user_id, RELATIONSHIP_INCOMING, &pending);

    if (e || pending < MOST_PENDING)
        return e;
    e = find_oldest_spam_friend_request(call->tx, user_id, &spammer);
    if (e)
        return e;
    return spammer ? relationship_apply_operation(call, OPERATION_END, user_id, spammer)
                   : ERR_FRIEND_REQUESTS_DISABLED;
}

static enum err send_friend_request(struct call *call, const struct friend_request_attempt *in,
                                    const struct user *me, struct relationship_pair *bond,
                                    struct relationship_pair_change *change)
{
    struct friend_request request = { .origin_application_id = call->caller->kind == CALLER_BEARER
                                                                   ? call->caller->application_id
                                                                   : 0 };
    struct user_acquaintance known;
    struct friend_request_statistics record;

    enum err e = read_acquaintance_of_users(call->tx, me->id, in->user->id, &known);
    if (!e)
        e = check_target_accepts_requests(call, in, &known);
    if (!e)
        e = check_friend_limits_of_caller(call);
    if (!e)
        e = free_incoming_request_slot(call, in->user->id);
    if (!e)
        e = friend_request_statistics_read(call->tx, me, &record);
    if (e)
        return e;

    request.note = opt_str_or_null(in->note.given == GIVEN
                                       ? collapse_line_breaks_of_note(call->arena, in->note.value)
                                       : (struct str){ 0 });
    request.is_stranger = users_have_no_acquaintance(&known) && !in->server_verified;
    request.is_spam = friend_request_is_spam(&record, request.is_stranger);
    if (request.is_spam)
        change->theirs.notify = false;

    e = relationship_pair_apply_change(call, bond, change, &request);
    if (!e)
        e = friend_request_record_sent(call->tx, me->id, in->user->id);
    return e ? e : friend_suggestion_delete(call, me->id, in->user->id);
}

/* --- accepting ------------------------------------------------------------------------ */

/* Checks in the transaction whether the request still needs the caller's confirmation. It needs
 * none if the users now have a guild or friend in common. */
static enum err check_request_is_confirmed(struct call *call,
                                           const struct friend_request_attempt *in,
                                           const struct relationship_pair *bond)
{
    struct user_acquaintance known;

    if (!bond->mine.is_stranger || in->confirmed || in->server_verified)
        return OK;
    enum err e = read_acquaintance_of_users(call->tx, bond->my_id, bond->their_id, &known);
    if (e)
        return e;
    return users_have_no_acquaintance(&known) ? ERR_CONFIRM_STRANGER : OK;
}

static enum err accept_friend_request(struct call *call, const struct friend_request_attempt *in,
                                      struct relationship_pair *bond)
{
    enum err e = check_friend_limit(call->tx, bond->my_id);

    if (!e)
        e = check_friend_limit(call->tx, bond->their_id);
    if (!e)
        e = check_request_is_confirmed(call, in, bond);
    if (!e)
        e = relationship_pair_make_friends(call, bond);
    return e ? e : friend_request_record_accepted(call->tx, bond->their_id, bond->my_id);
}

enum err friend_request_send_or_accept(struct call *call, const struct friend_request_attempt *in)
{
    struct relationship_pair_change change;
    struct relationship_pair bond;
    struct user me;

    enum err e = check_friend_request_target(call, in->user);
    if (!e)
        e = user_find(call->tx, call->caller->id, &me);
    if (!e)
        e = check_requesting_account(&me);
    if (!e)
        e = relationship_pair_read(call->tx, me.id, in->user->id, &bond);
    if (!e)
        e = relationship_compute_change(in->op, &bond, &change);
    if (e || relationship_change_has_no_effect(&bond, &change))
        return e;
    return change.mine.type == RELATIONSHIP_FRIEND
               ? accept_friend_request(call, in, &bond)
               : send_friend_request(call, in, &me, &bond, &change);
}

enum err relationship_apply_operation(struct call *call, enum relationship_operation op,
                                      snowflake my_id, snowflake their_id)
{
    struct relationship_pair_change change;
    struct relationship_pair bond;

    enum err e = relationship_pair_read(call->tx, my_id, their_id, &bond);
    if (!e)
        e = relationship_compute_change(op, &bond, &change);
    if (e || relationship_change_has_no_effect(&bond, &change))
        return e;
    return relationship_pair_apply_change(call, &bond, &change, NULL);
}
