/* schema.c - JSON schemas of invite bodies and queries. */
#include "platform/invites/internal.h"

enum { A_DAY = 86400, A_WEEK = 604800, LONGEST_AGE = 60 * A_DAY, FRIEND_USES = 5 };

static const struct type type_age = {
    .kind = KIND_INT, .min = 0, .max = LONGEST_AGE, .doc = "Seconds; 0: never expires"
};
static const struct type type_friend_age = {
    .kind = KIND_INT, .min = 0, .max = A_WEEK, .doc = "Seconds; 0: never expires"
};
static const struct type type_uses = {
    .kind = KIND_INT, .min = 0, .max = 100, .doc = "0: unlimited"
};
static const struct enum_choice targets[] = {
    { INVITE_TO_STREAM, NULL, "STREAM", "The stream of a user" },
    { INVITE_TO_ACTIVITY, NULL, "ACTIVITY", "The activity of an application" },
    { 0 },
};
static const struct type type_target = { .kind = KIND_INT, .choices = targets };

static const struct type type_invite_role_ids = { .kind = KIND_ARRAY, .of = &type_id, .max = 250 };
static const struct enum_choice invite_flags[] = {
    { 0, NULL, "NONE", "Nothing" },
    { INVITE_GUEST, NULL, "GUEST", "Temporary guest of a voice channel" },
    { INVITE_BYPASSES_VERIFICATION_FORM, NULL, "BYPASSES_APPLICATION",
      "Without a membership form" },
    { INVITE_GUEST | INVITE_BYPASSES_VERIFICATION_FORM, NULL, "BOTH", "Both" },
    { 0 },
};
static const struct type type_invite_flags = { .kind = KIND_INT, .choices = invite_flags };
static const struct field draft_fields[] = {
    { FIELD(struct invite_create_request, max_age), .type = &type_age, .flags = OPTIONAL,
      .fallback = A_DAY },
    { FIELD(struct invite_create_request, max_uses), .type = &type_uses, .flags = OPTIONAL },
    { FIELD(struct invite_create_request, temporary), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Temporary membership: members leave again unless they get a role" },
    { FIELD(struct invite_create_request, unique), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Never reuse an equivalent invite" },
    { FIELD(struct invite_create_request, target_type), .type = &type_target,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct invite_create_request, target_user_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "The user whose stream is meant" },
    { FIELD(struct invite_create_request, target_application_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "The application whose activity is meant" },
    { FIELD(struct invite_create_request, role_ids), .type = &type_invite_role_ids,
      .flags = OPTIONAL | NULLABLE, .doc = "Roles that new members get; needs MANAGE_ROLES" },
    { FIELD(struct invite_create_request, flags), .type = &type_invite_flags,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};

/* Adds a form error if the body has a target type but not the id of the target user or
 * application. */
static void validate_invite_target(struct form *form, const struct json_path *here,
                                   const void *object)
{
    const struct invite_create_request *in = object;
    struct json_path user = json_path_key(here, STR("target_user_id"));
    struct json_path app = json_path_key(here, STR("target_application_id"));

    if (in->target_type.given != GIVEN)
        return;
    if (in->target_type.value == INVITE_TO_STREAM && in->target_user_id.given != GIVEN &&
        !form_has_error_at_path(form, &user))
        form_add_error(form, &user, FORM_REQUIRED);
    if (in->target_type.value == INVITE_TO_ACTIVITY && in->target_application_id.given != GIVEN &&
        !form_has_error_at_path(form, &app))
        form_add_error(form, &app, FORM_REQUIRED);
}

static const struct schema draft_schema = {
    .name = "InviteDraft",
    .size = sizeof(struct invite_create_request),
    .fields = draft_fields,
    .check = validate_invite_target,
    .doc = "Lifetime, limits and target of an invite.",
};
const struct type invite_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field friend_draft_fields[] = {
    { FIELD(struct friend_invite_create_request, max_age), .type = &type_friend_age,
      .flags = OPTIONAL, .fallback = A_WEEK },
    { FIELD(struct friend_invite_create_request, max_uses), .type = &type_uses, .flags = OPTIONAL,
      .fallback = FRIEND_USES },
    { 0 },
};
static const struct schema friend_draft_schema = {
    .name = "FriendInviteDraft",
    .size = sizeof(struct friend_invite_create_request),
    .fields = friend_draft_fields,
    .doc = "Lifetime and limit of a friend invite.",
};
const struct type friend_invite_body = { .kind = KIND_OBJECT, .schema = &friend_draft_schema };

static const struct field query_fields[] = {
    { FIELD(struct invite_query, with_counts), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct invite_query, guild_scheduled_event_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
const struct schema invite_query_schema = {
    .name = "InviteQuery",
    .size = sizeof(struct invite_query),
    .fields = query_fields,
    .doc = "Options for reading an invite.",
};
