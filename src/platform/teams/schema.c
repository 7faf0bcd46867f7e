/* schema.c - JSON schemas of team bodies. */
#include "platform/teams/internal.h"

static const struct field team_body_fields[] = {
    { FIELD(struct team_request_body, name), .type = &type_team_name },
    { FIELD(struct team_request_body, icon), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema team_body_schema = {
    .name = "NewTeam",
    .size = sizeof(struct team_request_body),
    .fields = team_body_fields,
    .doc = "A new team.",
};

static const struct field team_patch_fields[] = {
    { FIELD(struct team_request_body, name), .type = &type_team_name, .flags = OPTIONAL },
    { FIELD(struct team_request_body, icon), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct team_request_body, owner_user_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "The new owner, a member; only the owner can transfer a team" },
    { 0 },
};
static const struct schema team_patch_schema = {
    .name = "TeamPatch",
    .size = sizeof(struct team_request_body),
    .fields = team_patch_fields,
    .doc = "Fields of a team to change.",
};

static const struct type type_invitee = { .kind = KIND_STRING,
                                          .flags = TYPE_TRIM | TYPE_LOWER,
                                          .min = 1,
                                          .max = 32,
                                          .doc = "Username of a friend" };

static const struct field team_invitation_fields[] = {
    { FIELD(struct team_invitation_body, username), .type = &type_invitee },
    { FIELD(struct team_invitation_body, role), .type = &type_team_role, .flags = OPTIONAL,
      .fallback_text = "admin" },
    { 0 },
};
static const struct schema team_invitation_schema = {
    .name = "TeamInvitation",
    .size = sizeof(struct team_invitation_body),
    .fields = team_invitation_fields,
    .doc = "A user to invite.",
};

static const struct field team_member_patch_fields[] = {
    { FIELD(struct team_member_patch, role), .type = &type_team_role },
    { 0 },
};
static const struct schema team_member_patch_schema = {
    .name = "TeamMemberPatch",
    .size = sizeof(struct team_member_patch),
    .fields = team_member_patch_fields,
    .doc = "Fields of a team member to change.",
};

static const struct type type_invite_token = { .kind = KIND_STRING,
                                               .max = 100,
                                               .doc = "Shown once, to the inviter; only the "
                                                      "invited account can use it" };

static const struct field team_acceptance_fields[] = {
    { FIELD(struct team_acceptance_body, token), .type = &type_invite_token },
    { 0 },
};
static const struct schema team_acceptance_schema = {
    .name = "TeamAcceptance",
    .size = sizeof(struct team_acceptance_body),
    .fields = team_acceptance_fields,
    .doc = "An invitation to accept.",
};

static const struct field invited_member_fields[] = {
    { FIELD_AS(struct invited_team_member, member.user, "user"), .type = &type_partial_user },
    { FIELD_AS(struct invited_team_member, member.team_id, "team_id"), .type = &type_id },
    { FIELD_AS(struct invited_team_member, member.membership_state, "membership_state"),
      .type = &type_int },
    { FIELD_AS(struct invited_team_member, member.role, "role"), .type = &type_team_role },
    { FIELD_AS(struct invited_team_member, member.permissions, "permissions"), .type = &type_texts,
      .flags = DEPRECATED },
    { FIELD(struct invited_team_member, invite_token), .type = &type_invite_token },
    { 0 },
};
static const struct schema invited_member_schema = {
    .name = "InvitedTeamMember",
    .size = sizeof(struct invited_team_member),
    .fields = invited_member_fields,
    .doc = "An invited user, and the token to accept the invitation.",
};

const struct type team_body = { .kind = KIND_OBJECT, .schema = &team_body_schema };
const struct type team_patch_body = { .kind = KIND_OBJECT, .schema = &team_patch_schema };
const struct type team_invitation_body = { .kind = KIND_OBJECT, .schema = &team_invitation_schema };
const struct type team_member_patch_body = { .kind = KIND_OBJECT,
                                             .schema = &team_member_patch_schema };
const struct type team_acceptance_body = { .kind = KIND_OBJECT, .schema = &team_acceptance_schema };
const struct type invited_member_reply = { .kind = KIND_OBJECT, .schema = &invited_member_schema };
