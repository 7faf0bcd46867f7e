/* relationship_pairs.c - reads and writes the two rows of a relationship, and emits the events. */
#include "platform/relationships/relationship_pairs.h"

#include "base/clock.h"
#include "base/log.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/users.h"
#include "platform/relationships/notifications.h"
#include "platform/relationships/presence.h"
#include "platform/relationships/suggestions.h"

/* --- rows ----------------------------------------------------------------------------- */

static const char FIND_BOND[] =
    "select user_id, type, ignored, nickname, note, since, is_spam, is_stranger, "
    "origin_application_id from relationships where (user_id = $1 and target_id = $2) or "
    "(user_id = $2 and target_id = $1)";

static void relationship_row_from_columns(const struct rows *r, struct relationship_row *ret)
{
    *ret = (struct relationship_row){
        .type = row_int(r, 1),
        .ignored = row_bool(r, 2),
        .nickname = row_optional_text(r, 3),
        .note = row_optional_text(r, 4),
        .since = row_optional_int(r, 5),
        .is_spam = row_bool(r, 6),
        .is_stranger = row_bool(r, 7),
        .origin_application_id = row_id(r, 8),
    };
}

/* Returns the type that the other user's row must have if this row has `type`; -1 if the other row
 * may have any type. */
static int64_t counterpart_relationship_type(int64_t type)
{
    switch (type) {
    case RELATIONSHIP_FRIEND:
        return RELATIONSHIP_FRIEND;
    case RELATIONSHIP_INCOMING:
        return RELATIONSHIP_OUTGOING;
    case RELATIONSHIP_OUTGOING:
        return RELATIONSHIP_INCOMING;
    default:
        return -1;
    }
}

static bool relationship_is_one_sided(const struct relationship_row *s,
                                      const struct relationship_row *other)
{
    int64_t wanted = counterpart_relationship_type(s->type);

    return wanted >= 0 && other->type != wanted;
}

static const char DELETE_SIDE[] = "delete from relationships where user_id = $1 and target_id = $2";
static const char SAVE_SIDE[] =
    "insert into relationships (user_id, target_id, type, ignored, nickname, note, since, is_spam, "
    "is_stranger, origin_application_id) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
    "on conflict (user_id, target_id) do update set type = excluded.type, "
    "ignored = excluded.ignored, nickname = excluded.nickname, note = excluded.note, "
    "since = excluded.since, is_spam = excluded.is_spam, is_stranger = excluded.is_stranger, "
    "origin_application_id = excluded.origin_application_id";

enum err relationship_row_save(struct tx *tx, snowflake owner, snowflake other,
                               const struct relationship_row *s)
{
    if (s->type == RELATIONSHIP_NONE && !s->ignored)
        return tx_exec(tx, DELETE_SIDE, BIND(v_id(owner), v_id(other)), NULL);
    return tx_exec(tx, SAVE_SIDE,
                   BIND(v_id(owner), v_id(other), v_int(s->type), v_int(s->ignored),
                        sql_value_of_optional_text(s->nickname),
                        sql_value_of_optional_text(s->note), sql_value_of_optional_int(s->since),
                        v_int(s->is_spam), v_int(s->is_stranger),
                        s->origin_application_id ? v_id(s->origin_application_id) : v_null()),
                   NULL);
}

/* Deletes a relationship that only one of the two rows has, which is an inconsistency. */
static enum err remove_one_sided_relationship(struct tx *tx, snowflake owner, snowflake other,
                                              struct relationship_row *s)
{
    log_warn(
        "relationships: removed a relationship that account %llu has with account %llu, but not "
        "the other way round",
        (unsigned long long)owner, (unsigned long long)other);
    s->type = RELATIONSHIP_NONE;
    return relationship_row_save(tx, owner, other, s);
}

enum err relationship_pair_read(struct tx *tx, snowflake my_id, snowflake their_id,
                                struct relationship_pair *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, FIND_BOND, BIND(v_id(my_id), v_id(their_id)), &rows);

    *ret = (struct relationship_pair){ .my_id = my_id, .their_id = their_id };
    if (e)
        return e;
    while (rows_next(&rows))
        relationship_row_from_columns(&rows, row_id(&rows, 0) == my_id ? &ret->mine : &ret->theirs);
    e = rows_end(&rows);
    bool half = relationship_is_one_sided(&ret->mine, &ret->theirs),
         other = relationship_is_one_sided(&ret->theirs, &ret->mine);
    if (!e && half)
        e = remove_one_sided_relationship(tx, my_id, their_id, &ret->mine);
    if (!e && other)
        e = remove_one_sided_relationship(tx, their_id, my_id, &ret->theirs);
    return e;
}

/* --- schema values -------------------------------------------------------------------- */

/* Builds the API object of a relationship. The type determines which fields are present. */
static void relationship_object_from_row(const struct relationship_row *s, snowflake id,
                                         const struct user *user, struct relationship *ret)
{
    bool friend = s->type == RELATIONSHIP_FRIEND, incoming = s->type == RELATIONSHIP_INCOMING;
    bool pending = incoming || s->type == RELATIONSHIP_OUTGOING;

    *ret = (struct relationship){
        .id = id,
        .type = s->type,
        .user = user,
        .nickname = { .given = GIVEN_NULL },
        .user_ignored = s->ignored,
    };
    if (s->since.given == GIVEN)
        ret->since = s->since;
    if (friend)
        ret->nickname = s->nickname;
    if (friend || incoming)
        ret->is_spam_request = opt_bool_present(incoming && s->is_spam);
    if (friend || pending) {
        ret->stranger_request = opt_bool_present(incoming && s->is_stranger);
        ret->origin_application_id = opt_id_or_null(s->origin_application_id);
    }
    if (pending && s->note.given == GIVEN)
        ret->note = s->note;
}

static enum err emit_relationship_event(struct call *call, enum event event, snowflake owner,
                                        snowflake other, const struct relationship_row *s,
                                        bool notify)
{
    bool whole = event == EVENT_RELATIONSHIP_ADD;
    struct relationship r;
    struct user user = { 0 };
    enum err e = whole ? user_find(call->tx, other, &user) : OK;

    if (e)
        return e;
    relationship_object_from_row(s, other, &user, &r);
    r.is_stranger_request = r.stranger_request;
    r.should_notify = opt_true_or_absent(notify);
    call_emit_event(call, event, audience_of_user(owner),
                    whole ? &relationship_schema : &relationship_change_schema, &r);
    if (notify)
        emit_notification_center_item(call,
                                      s->type == RELATIONSHIP_FRIEND ? NOTIFICATION_FRIEND_ACCEPTED
                                                                     : NOTIFICATION_FRIEND_REQUEST,
                                      owner, &user);
    return OK;
}

/* --- changing ------------------------------------------------------------------------- */

static struct relationship_row compute_relationship_row_after_change(
    const struct relationship_row *before, const struct relationship_row_change *c,
    const struct friend_request *request)
{
    struct relationship_row after = *before;
    bool was_there = before->type || before->ignored;

    after.ignored = c->ignored;
    if (before->type == c->type && was_there)
        return after;
    after = (struct relationship_row){
        .type = c->type,
        .ignored = c->ignored,
        .nickname = { .given = GIVEN_NULL },
        .note = { .given = GIVEN_NULL },
        .since = opt_int_present(clock_us()),
    };
    if (c->type == RELATIONSHIP_FRIEND)
        after.origin_application_id = before->origin_application_id;
    if (!request || (c->type != RELATIONSHIP_INCOMING && c->type != RELATIONSHIP_OUTGOING))
        return after;
    after.note = request->note;
    after.origin_application_id = request->origin_application_id;
    after.is_spam = c->type == RELATIONSHIP_INCOMING && request->is_spam;
    after.is_stranger = c->type == RELATIONSHIP_INCOMING && request->is_stranger;
    return after;
}

/* Emits the event to the owner of a row. If the relationship ended but the owner still ignores the
 * other user, emits RELATIONSHIP_REMOVE, then RELATIONSHIP_ADD. */
static enum err emit_relationship_row_change(struct call *call, snowflake owner, snowflake other,
                                             const struct relationship_row *before,
                                             const struct relationship_row *after,
                                             const struct relationship_row_change *c)
{
    static const enum event events[] = {
        [SIDE_EVENT_ADD] = EVENT_RELATIONSHIP_ADD,
        [SIDE_EVENT_UPDATE] = EVENT_RELATIONSHIP_UPDATE,
        [SIDE_EVENT_REMOVE] = EVENT_RELATIONSHIP_REMOVE,
    };
    bool removed = c->event == SIDE_EVENT_REMOVE;
    enum err e;

    if (c->event == SIDE_EVENT_NONE)
        return OK;
    e = emit_relationship_event(call, events[c->event], owner, other, removed ? before : after,
                                c->notify);
    if (!e && removed && after->ignored)
        e = emit_relationship_event(call, EVENT_RELATIONSHIP_ADD, owner, other, after, false);
    return e;
}

static bool relationship_row_is_unchanged(const struct relationship_row *s,
                                          const struct relationship_row_change *c)
{
    return s->type == c->type && s->ignored == c->ignored;
}

static enum err call_hook_if_block_changed(struct call *call, const struct relationship_pair *b,
                                           const struct relationship_row *now)
{
    bool before = b->mine.type == RELATIONSHIP_BLOCKED, after = now->type == RELATIONSHIP_BLOCKED;
    struct user_block_change change = { b->my_id, b->their_id };

    return before != after ? hook_block_changed(call, &change) : OK;
}

enum err relationship_pair_apply_change(struct call *call, struct relationship_pair *b,
                                        const struct relationship_pair_change *c,
                                        const struct friend_request *request)
{
    struct relationship_row mine =
        compute_relationship_row_after_change(&b->mine, &c->mine, request);
    struct relationship_row theirs =
        compute_relationship_row_after_change(&b->theirs, &c->theirs, request);
    enum err e = OK;

    /* The row of the lower user id is written first. Otherwise two users who change their
     * relationship at the same time could deadlock. */
    for (int i = 0; !e && i < 2; i++) {
        bool own = (b->my_id < b->their_id) == (i == 0);

        if (own && !relationship_row_is_unchanged(&b->mine, &c->mine))
            e = relationship_row_save(call->tx, b->my_id, b->their_id, &mine);
        else if (!own && !relationship_row_is_unchanged(&b->theirs, &c->theirs))
            e = relationship_row_save(call->tx, b->their_id, b->my_id, &theirs);
    }
    if (!e)
        e = emit_relationship_row_change(call, b->my_id, b->their_id, &b->mine, &mine, &c->mine);
    if (!e)
        e = emit_relationship_row_change(call, b->their_id, b->my_id, &b->theirs, &theirs,
                                         &c->theirs);
    if (!e)
        e = call_hook_if_block_changed(call, b, &mine);
    b->mine = mine;
    b->theirs = theirs;
    return e;
}

/* Emits the current presence of `about` to `to` after the two users became friends. */
static enum err emit_presence_to_friend(struct call *call, snowflake to, snowflake about)
{
    struct user user;

    if (!presence_is_online(call, about))
        return OK;
    enum err e = user_find(call->tx, about, &user);
    if (!e)
        emit_presence_update(call, to, &user);
    return e;
}

enum err relationship_pair_make_friends(struct call *call, struct relationship_pair *b)
{
    struct relationship_pair_change c = {
        .mine = { RELATIONSHIP_FRIEND, b->mine.ignored, SIDE_EVENT_ADD, false },
        .theirs = { RELATIONSHIP_FRIEND, b->theirs.ignored, SIDE_EVENT_ADD, true },
    };
    enum err e = relationship_pair_apply_change(call, b, &c, NULL);

    if (!e)
        e = friend_suggestion_delete(call, b->my_id, b->their_id);
    if (!e)
        e = friend_suggestion_delete(call, b->their_id, b->my_id);
    if (!e)
        e = friend_suggestions_schedule_search(call, b->my_id);
    if (!e)
        e = friend_suggestions_schedule_search(call, b->their_id);
    if (!e)
        e = emit_presence_to_friend(call, b->my_id, b->their_id);
    return e ? e : emit_presence_to_friend(call, b->their_id, b->my_id);
}

enum err relationship_row_save_and_emit(struct call *call, const struct relationship_pair *b)
{
    enum err e = relationship_row_save(call->tx, b->my_id, b->their_id, &b->mine);

    return e ? e
             : emit_relationship_event(call, EVENT_RELATIONSHIP_UPDATE, b->my_id, b->their_id,
                                       &b->mine, false);
}

/* --- lists ---------------------------------------------------------------------------- */

/* SQL columns of a relationship in a list. Lists may be long, so they contain partial users instead
 * of complete ones. */
#define LIST_COLUMNS                                                                        \
    "r.user_id, r.type, r.ignored, r.nickname, r.note, r.since, r.is_spam, r.is_stranger, " \
    "r.origin_application_id, " PARTIAL_USER_COLUMNS
enum { PARTIAL_USER = 9, AFTER_USER = PARTIAL_USER + PARTIAL_USER_COLUMN_COUNT };

static struct relationship *add_relationship_from_row(struct tx *tx, const struct rows *r,
                                                      struct list *list)
{
    struct relationship *out = list_append(tx_arena(tx), list, sizeof *out);
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);
    struct relationship_row s;

    relationship_row_from_columns(r, &s);
    partial_user_from_row(r, PARTIAL_USER, user);
    relationship_object_from_row(&s, user->id, user, out);
    return out;
}

static const char LIST_RELATIONSHIPS[] =
    "select " LIST_COLUMNS ", u.disabled + u.deleting from relationships r "
    "join users u on u.id = r.target_id where r.user_id = $1 order by r.target_id";

enum err relationships_read(struct tx *tx, snowflake user_id, struct list *ret,
                            struct list *ret_all)
{
    struct rows rows;
    enum err e = tx_query(tx, LIST_RELATIONSHIPS, BIND(v_id(user_id)), &rows);

    *ret = *ret_all = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows)) {
        id_list_add(tx_arena(tx), ret_all, row_id(&rows, PARTIAL_USER));
        if (!row_bool(&rows, AFTER_USER))
            add_relationship_from_row(tx, &rows, ret);
    }
    return rows_end(&rows);
}

static const char LIST_FOR_APPLICATION[] =
    "select " LIST_COLUMNS ", a.id from relationships r join users u on u.id = r.target_id "
    "left join authorizations a on a.user_id = r.target_id and a.application_id = $2 "
    "where r.user_id = $1 and r.type = 1 and u.disabled = 0 and u.deleting = 0 "
    "order by r.target_id";

enum err friends_read_for_application(struct tx *tx, snowflake user_id, snowflake application_id,
                                      struct list *ret)
{
    struct rows rows;
    enum err e =
        tx_query(tx, LIST_FOR_APPLICATION, BIND(v_id(user_id), v_id(application_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        add_relationship_from_row(tx, &rows, ret)->has_played_game =
            opt_bool_present(!row_column_is_null(&rows, AFTER_USER));
    return rows_end(&rows);
}
