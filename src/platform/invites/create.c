/* create.c - making invites. */
#include "platform/invites/internal.h"

#include "base/clock.h"
#include "platform/guilds/guilds.h"

enum { A_DAY = 86400, A_WEEK = 604800, FRIEND_USES = 5 };

static const struct type type_age = {
    .kind = KIND_INT, .min = 0, .max = A_WEEK, .doc = "Seconds; 0 for ever"
};
static const struct type type_uses = {
    .kind = KIND_INT, .min = 0, .max = 100, .doc = "0: as often as people like"
};
static const struct choice targets[] = {
    { INVITE_TO_STREAM, NULL, "STREAM", "Somebody's stream" },
    { INVITE_TO_ACTIVITY, NULL, "ACTIVITY", "An app's activity" },
    { 0 },
};
static const struct type type_target = { .kind = KIND_INT, .choices = targets };

static const struct field draft_fields[] = {
    { FIELD(struct invite_draft, max_age), .type = &type_age, .flags = OPTIONAL,
      .fallback = A_DAY },
    { FIELD(struct invite_draft, max_uses), .type = &type_uses, .flags = OPTIONAL },
    { FIELD(struct invite_draft, temporary), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Those who come leave again unless they get a role" },
    { FIELD(struct invite_draft, unique), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Never give an old one that is the same" },
    { FIELD(struct invite_draft, target_type), .type = &type_target, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct invite_draft, target_user_id), .type = &type_id, .flags = OPTIONAL | NULLABLE,
      .doc = "Whose stream" },
    { FIELD(struct invite_draft, target_application_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "Whose activity" },
    { 0 },
};

/* A target that is named needs its id. */
static void check_target(struct form *form, const struct place *here, const void *object)
{
    const struct invite_draft *in = object;
    struct place user = place_key(here, STR("target_user_id"));
    struct place app = place_key(here, STR("target_application_id"));

    if (in->target_type.given != GIVEN)
        return;
    if (in->target_type.value == INVITE_TO_STREAM && in->target_user_id.given != GIVEN &&
        !form_failed_at(form, &user))
        form_fail(form, &user, FORM_REQUIRED);
    if (in->target_type.value == INVITE_TO_ACTIVITY && in->target_application_id.given != GIVEN &&
        !form_failed_at(form, &app))
        form_fail(form, &app, FORM_REQUIRED);
}

static const struct schema draft_schema = {
    .name = "InviteDraft",
    .size = sizeof(struct invite_draft),
    .fields = draft_fields,
    .check = check_target,
    .doc = "How long an invite lasts and what it is for.",
};
const struct type invite_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field friend_draft_fields[] = {
    { FIELD(struct friend_invite_draft, max_age), .type = &type_age, .flags = OPTIONAL,
      .fallback = A_WEEK },
    { FIELD(struct friend_invite_draft, max_uses), .type = &type_uses, .flags = OPTIONAL,
      .fallback = FRIEND_USES },
    { 0 },
};
static const struct schema friend_draft_schema = {
    .name = "FriendInviteDraft",
    .size = sizeof(struct friend_invite_draft),
    .fields = friend_draft_fields,
    .doc = "How long a friend invite lasts.",
};
const struct type friend_invite_body = { .kind = KIND_OBJECT, .schema = &friend_draft_schema };

/* In guilds it takes a right, in a group its owner. */
enum err admit_invite_creation(struct call *call)
{
    const struct channel *c = call->target.channel;

    if (c->type == CHANNEL_DM)
        return ERR_DM_CHANNEL;
    if (c->type == CHANNEL_GROUP)
        return c->owner_id.value == call->caller->id ? OK : ERR_MISSING_PERMISSIONS;
    return call->target.rights & PERMISSION(CREATE_INSTANT_INVITE) ? OK : ERR_MISSING_PERMISSIONS;
}

static void invite_begin(struct call *call, enum invite_type type, int64_t max_age,
                         int64_t max_uses, struct invite *ret)
{
    int64_t now = clock_us();

    *ret = (struct invite){
        .type = type,
        .inviter_id = call->caller->id,
        .created_at = now,
        .expires_at = { max_age ? GIVEN : GIVEN_NULL, now + max_age * 1000000 },
        .max_age = max_age,
        .max_uses = max_uses,
    };
}

static void draft_channel_invite(struct call *call, struct invite *ret)
{
    const struct invite_draft *in = call->body;
    const struct channel *c = call->target.channel;

    invite_begin(call, c->type == CHANNEL_GROUP ? INVITE_GROUP : INVITE_GUILD, in->max_age,
                 in->max_uses, ret);
    ret->channel_id = given_id(c->id);
    if (c->guild_id.value)
        ret->guild_id = given_id(c->guild_id.value);
    ret->temporary = in->temporary;
    if (in->target_type.given != GIVEN)
        return;
    ret->target_type = in->target_type;
    if (in->target_type.value == INVITE_TO_STREAM)
        ret->target_user_id = in->target_user_id.value;
    else
        ret->target_application_id = in->target_application_id.value;
}

static enum err check_target_user(struct call *call, const struct invite *i)
{
    struct user user;

    return i->target_user_id ? user_find(call->tx, i->target_user_id, &user) : OK;
}

/* POST /channels/{channel.id}/invites */
enum err create_channel_invite(struct call *call)
{
    const struct invite_draft *in = call->body;
    const struct channel *c = call->target.channel;
    struct invite invite;
    bool found = false;

    if (c->type == CHANNEL_CATEGORY || channel_is_thread(c->type))
        return ERR_CHANNEL_TYPE;
    draft_channel_invite(call, &invite);
    enum err e = check_target_user(call, &invite);
    if (!e && !in->unique)
        e = invite_find_same(call->tx, &invite, &invite, &found);
    if (e || found)
        return e ? e : call_reply(call, &invite);
    e = invite_insert(call->tx, &invite);
    if (!e)
        e = invite_load(call->tx, &invite);
    if (!e && invite.type == INVITE_GUILD)
        e = invite_audit(call, AUDIT_INVITE_CREATE, &invite);
    if (e)
        return e;
    invite_announce(call, EVENT_INVITE_CREATE, &invite_create_schema, &invite);
    return call_reply(call, &invite);
}

/* POST /users/@me/invites */
enum err create_friend_invite(struct call *call)
{
    const struct friend_invite_draft *in = call->body;
    struct invite invite;

    invite_begin(call, INVITE_FRIEND, in->max_age, in->max_uses, &invite);
    enum err e = invite_insert(call->tx, &invite);
    if (!e)
        e = invite_load(call->tx, &invite);
    return e ? e : call_reply(call, &invite);
}
