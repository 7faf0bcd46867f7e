/* contacts.c - routes that find users by an uploaded address book.
 *
 * The store contains only keyed digests of other people's phone numbers. Only accounts that enabled
 * discovery by phone number can be found and suggested as friends. */
#include "model/fields/ids.h"
#include "api/deletion.h"
#include "platform/contacts/internal.h"

static const struct rate_limit limit_contacts = { .name = "contacts",
                                                  .count = 10,
                                                  .window_s = 600 };

/* Returns an error if the caller has no phone number, because only such callers may search by phone
 * number. *ret is the number. */
static enum err require_caller_phone(struct call *call, struct str *ret)
{
    struct user me;
    enum err e = user_find(call->tx, call->caller->id, &me);

    if (e)
        return e;
    if (me.phone.given != GIVEN)
        return ERR_PHONE_REQUIRED;
    *ret = me.phone.value;
    return OK;
}

static void emit_contacts_connection_update(struct call *call)
{
    struct connections_changed_event changed = { call->caller->id };

    call_emit_event(call, EVENT_USER_CONNECTIONS_UPDATE, audience_of_user(call->caller->id),
                    &connections_changed_schema, &changed);
}

/* --- suggestions of the caller to other users ---------------------------------------- */

/* *ret is true if the caller may still be suggested to the owner of this phone number. If reverse
 * is false, the caller's address book must allow suggestions to everybody, or contain the number.
 * If reverse is true (the other user's address book contains the caller's number), both conditions
 * and friend_sync are required. */
static enum err suggestion_is_still_allowed(struct call *call, const struct address_book *mine,
                                            bool reverse, struct opt_str phone, bool *ret)
{
    bool all = mine->allowed_in_suggestions == SUGGEST_TO_EVERYBODY;

    *ret = all && !reverse;
    if (*ret || (reverse && !(all && mine->friend_sync)) || phone.given != GIVEN)
        return OK;
    return address_book_contains_phone_number(
        call->tx, call->caller->id,
        compute_phone_number_digest(api_get_options(call->api)->auth, call->arena, phone.value),
        ret);
}

/* Deletes suggestions of the caller to other users that the caller's address book settings no
 * longer allow. */
static enum err withdraw_some_friend_suggestions(struct call *call, const struct address_book *mine,
                                                 struct str source)
{
    snowflake me = call->caller->id;
    bool reverse = str_is(source, SOURCE_REVERSE);
    struct list owners;
    enum err e = friend_suggestion_read_recipients(call->tx, me, source, &owners);

    for (size_t i = 0; !e && i < owners.count; i++) {
        snowflake owner = ((const snowflake *)owners.items)[i];
        bool allowed = false;
        struct user user;

        e = user_find(call->tx, owner, &user);
        if (!e)
            e = suggestion_is_still_allowed(call, mine, reverse, user.phone, &allowed);
        if (!e && !allowed)
            e = friend_suggestions_delete_of_source(call, owner, me, source);
    }
    return e;
}

static enum err withdraw_all_friend_suggestions(struct call *call, const struct address_book *mine)
{
    enum err e = withdraw_some_friend_suggestions(call, mine, STR(SOURCE_CONTACTS));

    return e ? e : withdraw_some_friend_suggestions(call, mine, STR(SOURCE_REVERSE));
}

/* --- PUT /users/@me/connections/contacts/@me ------------------------------------------ */

/* Deletes the address book and all suggestions that were made from it. */
static enum err delete_address_book(struct call *call)
{
    struct list none = { 0 };
    snowflake me = call->caller->id;
    enum err e = address_book_replace_contacts(call->tx, me, &none);

    if (!e)
        e = friend_suggestions_replace_of_source(call, me, STR(SOURCE_CONTACTS), &none);
    return e ? e : friend_suggestions_replace_of_source(call, me, STR(SOURCE_REVERSE), &none);
}

static enum err put_contact_account(struct call *call)
{
    const struct contact_account_body *in = call->body;
    struct address_book list;
    struct str phone;

    enum err e = require_caller_phone(call, &phone);
    if (!e)
        e = address_book_find(call->tx, call->caller->id, &list);
    if (e)
        return e;
    list.name = opt_str_or_null(in->name);
    if (in->friend_sync.given == GIVEN)
        list.friend_sync = in->friend_sync.value;
    e = address_book_write(call->tx, call->caller->id, &list);
    if (!e && !list.friend_sync)
        e = delete_address_book(call);
    if (!e)
        e = withdraw_all_friend_suggestions(call, &list);
    if (e)
        return e;

    emit_contacts_connection_update(call);
    struct contact_connection out = {
        .id = STR("@me"),
        .type = STR("contacts"),
        .name = in->name,
        .verified = true,
        .friend_sync = list.friend_sync,
    };
    return call_reply_with_object(call, &out);
}

/* --- PUT …/external-friend-list-entries ----------------------------------------------- */

/* Runs on the thread pool, because computing thousands of digests takes long. */
static enum err compute_contact_digests(struct call *call)
{
    const struct contacts_body *in = call->body;
    const struct auth *auth = api_get_options(call->api)->auth;
    struct list *out = call_store_stage_data(call, "list", sizeof *out);

    for (size_t i = 0; i < in->friend_list_entries.count; i++) {
        const struct contact_entry *entry =
            (const struct contact_entry *)in->friend_list_entries.items + i;
        struct address_book_contact *c = list_append(call->arena, out, sizeof *c);

        c->digest = compute_phone_number_digest(auth, call->arena, entry->friend_id);
        c->name = entry->name;
    }
    return OK;
}

static enum err schedule_contact_digest_computation(struct call *call)
{
    call->compute = compute_contact_digests;
    return OK;
}

static enum err can_be_found_by_phone(struct tx *tx, snowflake id, bool *ret)
{
    struct user_settings settings;
    enum err e = user_settings_find(tx, id, &settings);

    *ret = !e && settings.friend_discovery_flags.value & FOUND_BY_PHONE;
    return e;
}

/* *ret is true if the other account can be found by phone number. If it allows suggestions only to
 * mutual contacts, its address book must also contain the caller's number. */
static enum err account_allows_suggestion(struct call *call, snowflake other, struct str my_digest,
                                          const struct address_book *theirs, bool *ret)
{
    enum err e = can_be_found_by_phone(call->tx, other, ret);

    if (!e && *ret && theirs->name.given == GIVEN &&
        theirs->allowed_in_suggestions == SUGGEST_TO_MUTUAL_CONTACTS)
        e = address_book_contains_phone_number(call->tx, other, my_digest, ret);
    return e;
}

static enum err add_friend_suggestion_offer(struct call *call, snowflake other,
                                            struct opt_str contact_name, int64_t score,
                                            struct list *offers)
{
    const struct contacts_body *in = call->body;
    struct address_book theirs;
    struct list mutual = { 0 };

    enum err e = address_book_find(call->tx, other, &theirs);
    if (!e && in->include_mutual_friends_count)
        e = mutual_friends(call->tx, call->caller->id, other, &mutual);
    if (e)
        return e;
    struct suggested_user *o = list_append(call->arena, offers, sizeof *o);
    *o = (struct suggested_user){
        .user_id = other,
        .name = theirs.name.given == GIVEN ? theirs.name.value : (struct str){ 0 },
        .contact_name = contact_name,
        .score = score,
    };
    if (in->include_mutual_friends_count)
        o->mutual_friends = opt_int_present((int64_t)mutual.count);
    return OK;
}

static bool is_already_suggested(const struct list *offers, snowflake id)
{
    for (size_t i = 0; i < offers->count; i++)
        if (((const struct suggested_user *)offers->items)[i].user_id == id)
            return true;
    return false;
}

/* Returns the name of the first uploaded contact with this phone number. */
static struct opt_str find_contact_name(const struct contacts_body *in, struct str phone)
{
    const struct contact_entry *all = in->friend_list_entries.items;
    size_t i = 0;

    while (!str_eq(all[i].friend_id, phone))
        i++;
    return all[i].name;
}

/* Suggests accounts whose number is in the caller's address book. */
static enum err suggest_contacts_of_caller(struct call *call, struct str my_digest,
                                           struct list *offers)
{
    const struct contacts_body *in = call->body;
    struct list owners;
    enum err e = users_find_by_phone(call->tx, &in->friend_list_entries, &owners);

    for (size_t i = 0; !e && i < owners.count; i++) {
        const struct account_of_phone_number *other =
            (const struct account_of_phone_number *)owners.items + i;
        struct address_book theirs;
        bool allowed = false;

        if (is_already_suggested(offers, other->id))
            continue;
        e = address_book_find(call->tx, other->id, &theirs);
        if (!e)
            e = account_allows_suggestion(call, other->id, my_digest, &theirs, &allowed);
        if (!e && allowed)
            e = add_friend_suggestion_offer(call, other->id, find_contact_name(in, other->phone),
                                            SCORE_CONTACT, offers);
    }
    return e;
}

/* Suggests accounts whose address book contains the caller's number. */
static enum err suggest_users_with_caller_number(struct call *call, struct str my_digest,
                                                 struct list *offers)
{
    const struct contacts_body *in = call->body;
    struct list owners = { 0 };
    enum err e = OK;

    if (in->add_reverse_friend_suggestions)
        e = list_address_book_owners_with_phone(call->tx, my_digest, &owners);
    for (size_t i = 0; !e && i < owners.count; i++) {
        snowflake other = ((const snowflake *)owners.items)[i];
        bool found;

        e = can_be_found_by_phone(call->tx, other, &found);
        if (!e && found)
            e = add_friend_suggestion_offer(call, other, (struct opt_str){ 0 }, SCORE_REVERSE,
                                            offers);
    }
    return e;
}

static enum err write_address_book(struct call *call)
{
    const struct contacts_body *in = call->body;
    struct address_book list;
    struct user me;

    enum err e = address_book_find(call->tx, call->caller->id, &list);
    if (!e && !list.friend_sync)
        e = ERR_CONTACT_SYNC_DISABLED;
    if (!e)
        e = user_find(call->tx, call->caller->id, &me);
    if (e)
        return e;
    if (list.name.given != GIVEN)
        list.name = opt_str_or_null(me.username);
    list.allowed_in_suggestions = in->allowed_in_suggestions;
    e = address_book_write(call->tx, me.id, &list);
    if (!e)
        e = address_book_replace_contacts(call->tx, me.id, call_get_stage_data(call, "list"));
    return e ? e : withdraw_all_friend_suggestions(call, &list);
}

static bool suggestion_is_from_contacts(const struct friend_suggestion *s)
{
    for (size_t i = 0; i < s->reasons.count; i++)
        if (str_is(((const struct friend_suggestion_reason *)s->reasons.items)[i].platform,
                   SOURCE_CONTACTS))
            return true;
    return false;
}

/* Replies with the suggested users, and with a token that the client uses to send friend requests
 * to all of them. */
static enum err reply_with_contact_suggestions(struct call *call)
{
    struct contacts_reply out = { .bulk_add_token = { .given = GIVEN_NULL } };
    struct list all, ids = { 0 };

    enum err e = friend_suggestions_read(call->tx, call->caller->id, &all);
    for (size_t i = 0; !e && i < all.count; i++) {
        const struct friend_suggestion *s = (const struct friend_suggestion *)all.items + i;

        if (!suggestion_is_from_contacts(s))
            continue;
        *(struct friend_suggestion *)list_append(call->arena, &out.friend_suggestions, sizeof *s) =
            *s;
        id_list_add(call->arena, &ids, s->suggested_user->id);
    }
    if (!e)
        e = bulk_friend_request_token_issue(call, &ids, &out.bulk_add_token.value);
    out.bulk_add_token.given = GIVEN;
    return e ? e : call_reply_with_object(call, &out);
}

static enum err put_contacts(struct call *call)
{
    const struct contacts_body *in = call->body;
    const struct contacts_reply nothing = { .bulk_add_token = { .given = GIVEN_NULL } };
    struct list forward = { 0 }, reverse = { 0 };
    snowflake me = call->caller->id;
    struct str phone, digest;

    enum err e = require_caller_phone(call, &phone);
    if (!e)
        e = write_address_book(call);
    if (e)
        return e;
    digest = compute_phone_number_digest(api_get_options(call->api)->auth, call->arena, phone);
    e = suggest_contacts_of_caller(call, digest, &forward);
    if (!e)
        e = suggest_users_with_caller_number(call, digest, &reverse);
    if (!e)
        e = friend_suggestions_replace_of_source(call, me, STR(SOURCE_CONTACTS), &forward);
    if (!e)
        e = friend_suggestions_replace_of_source(call, me, STR(SOURCE_REVERSE), &reverse);
    if (e)
        return e;
    return in->background ? call_reply_with_object(call, &nothing)
                          : reply_with_contact_suggestions(call);
}

static enum err get_contact_settings(struct call *call)
{
    struct address_book list;
    enum err e = address_book_find(call->tx, call->caller->id, &list);
    struct contact_settings out = { list.allowed_in_suggestions };

    return e ? e : call_reply_with_object(call, &out);
}

#define CONTACTS "/users/@me/connections/contacts/@me"

static const struct route routes[] = {
    {
        .method = PUT,
        .path = CONTACTS,
        .name = "put_contact_account",
        .doc = "Enable or disable the caller's address book. Needs a phone number.",
        .auth = AUTH_USER,
        .body = &contact_account_body,
        .reply = &contact_account_reply,
        .fires = (const enum event[]){ EVENT_USER_CONNECTIONS_UPDATE,
                                       EVENT_FRIEND_SUGGESTION_DELETE, EVENT_NONE },
        .handle = put_contact_account,
    },
    {
        .method = PUT,
        .path = CONTACTS "/external-friend-list-entries",
        .name = "put_contacts",
        .doc = "Upload the whole address book and get friend suggestions.",
        .auth = AUTH_USER,
        .body = &contacts_body,
        .max_body = 2 * 1024 * 1024,
        .reply = &contacts_reply,
        .fires = (const enum event[]){ SUGGESTION_EVENTS, EVENT_NONE },
        .limit = &limit_contacts,
        .prepare = schedule_contact_digest_computation,
        .handle = put_contacts,
    },
    {
        .method = GET,
        .path = CONTACTS "/external-friend-list-entries/settings",
        .name = "get_contact_settings",
        .doc = "The users to whom the caller may be suggested.",
        .auth = AUTH_USER,
        .reply = &contact_settings_reply,
        .handle = get_contact_settings,
    },
    { 0 },
};

const struct domain contacts_domain = {
    .name = "Contacts",
    .doc = "Friend suggestions from an address book.",
    .routes = routes,
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_OF(WITH_ACCOUNT, "contacts", "user_id", "digest") },
            { DELETE_FEW(WITH_ACCOUNT, "contact_lists", "user_id") },
            { 0 } },
};
