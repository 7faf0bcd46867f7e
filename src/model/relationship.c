/* relationship.c - JSON schemas of relationships, game relationships and friend suggestions. */
#include "model/relationship.h"

static const struct enum_choice types[] = {
    { RELATIONSHIP_NONE, NULL, "NONE", "No relationship; the user is ignored" },
    { RELATIONSHIP_FRIEND, NULL, "FRIEND", "A friend" },
    { RELATIONSHIP_BLOCKED, NULL, "BLOCKED", "Blocked by the caller" },
    { RELATIONSHIP_INCOMING, NULL, "INCOMING_REQUEST", "Incoming friend request" },
    { RELATIONSHIP_OUTGOING, NULL, "OUTGOING_REQUEST", "Outgoing friend request" },
    { RELATIONSHIP_IMPLICIT, NULL, "IMPLICIT", "Never sent" },
    { 0 },
};
static const struct type type_relationship_type = { .kind = KIND_INT, .choices = types };

static const struct field relationship_fields[] = {
    { FIELD(struct relationship, id), .type = &type_id },
    { FIELD(struct relationship, type), .type = &type_relationship_type },
    { FIELD(struct relationship, user), .type = &type_partial_user },
    { FIELD(struct relationship, nickname), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct relationship, is_spam_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct relationship, stranger_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct relationship, is_stranger_request), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only in events" },
    { FIELD(struct relationship, user_ignored), .type = &type_bool },
    { FIELD(struct relationship, origin_application_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "The app with which the request was sent" },
    { FIELD(struct relationship, since), .type = &type_time, .flags = OPTIONAL },
    { FIELD(struct relationship, has_played_game), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only for apps: whether the friend uses the same app" },
    { FIELD(struct relationship, note), .type = &type_text, .flags = OPTIONAL,
      .doc = "Text that was sent with the request" },
    { FIELD(struct relationship, should_notify), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only in events" },
    { 0 },
};
const struct schema relationship_schema = {
    .name = "Relationship",
    .size = sizeof(struct relationship),
    .fields = relationship_fields,
    .doc = "The caller's relationship to another user.",
};
static const struct type type_relationship = { .kind = KIND_OBJECT,
                                               .schema = &relationship_schema };
const struct type type_relationships = { .kind = KIND_ARRAY, .of = &type_relationship };

static const struct field change_fields[] = {
    { FIELD(struct relationship, id), .type = &type_id },
    { FIELD(struct relationship, type), .type = &type_relationship_type },
    { FIELD(struct relationship, nickname), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct relationship, since), .type = &type_time, .flags = OPTIONAL },
    { FIELD(struct relationship, stranger_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct relationship, is_stranger_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct relationship, user_ignored), .type = &type_bool },
    { 0 },
};
const struct schema relationship_change_schema = {
    .name = "RelationshipChange",
    .size = sizeof(struct relationship),
    .fields = change_fields,
    .doc = "A relationship that ended, or whose fields changed.",
};

static const struct enum_choice dm_access_choices[] = {
    { DM_ANYWHERE, NULL, "ANYWHERE", "In the game and outside of it" },
    { DM_IN_GAME_ONLY, NULL, "IN_GAME_ONLY", "Only in the game" },
    { DM_NOWHERE, NULL, "NONE", "Nowhere" },
    { 0 },
};
static const struct type type_access = { .kind = KIND_INT, .choices = dm_access_choices };

static const struct field game_fields[] = {
    { FIELD(struct game_relationship, id), .type = &type_id },
    { FIELD(struct game_relationship, application_id), .type = &type_id },
    { FIELD(struct game_relationship, type), .type = &type_relationship_type },
    { FIELD(struct game_relationship, user), .type = &type_partial_user, .flags = OPTIONAL,
      .doc = "Not in responses to apps" },
    { FIELD(struct game_relationship, since), .type = &type_time },
    { FIELD(struct game_relationship, dm_access_type), .type = &type_access },
    { FIELD(struct game_relationship, user_id), .type = &type_id },
    { 0 },
};
const struct schema game_relationship_schema = {
    .name = "GameRelationship",
    .size = sizeof(struct game_relationship),
    .fields = game_fields,
    .doc = "The caller's relationship to another user in one game.",
};
static const struct type type_game_relationship = { .kind = KIND_OBJECT,
                                                    .schema = &game_relationship_schema };
const struct type type_game_relationships = { .kind = KIND_ARRAY, .of = &type_game_relationship };

static const struct field game_relationship_delete_fields[] = {
    { FIELD(struct game_relationship, id), .type = &type_id },
    { FIELD(struct game_relationship, application_id), .type = &type_id },
    { FIELD(struct game_relationship, type), .type = &type_relationship_type },
    { FIELD(struct game_relationship, since), .type = &type_time },
    { FIELD(struct game_relationship, dm_access_type), .type = &type_access },
    { FIELD(struct game_relationship, user_id), .type = &type_id },
    { 0 },
};
const struct schema game_relationship_delete_schema = {
    .name = "GameRelationshipGone",
    .size = sizeof(struct game_relationship),
    .fields = game_relationship_delete_fields,
    .doc = "A game relationship that ended.",
};

static const struct enum_choice reason_types[] = {
    { SUGGESTION_EXTERNAL_FRIEND, NULL, "EXTERNAL_FRIEND", "Contact from another platform" },
    { 0 },
};
static const struct type type_reason_type = { .kind = KIND_INT, .choices = reason_types };

static const struct field reason_fields[] = {
    { FIELD(struct friend_suggestion_reason, type), .type = &type_reason_type },
    { FIELD(struct friend_suggestion_reason, platform), .type = &type_text },
    { FIELD(struct friend_suggestion_reason, platform_type), .type = &type_text },
    { FIELD(struct friend_suggestion_reason, name), .type = &type_text },
    { 0 },
};
static const struct schema reason_schema = {
    .name = "FriendSuggestionReason",
    .size = sizeof(struct friend_suggestion_reason),
    .fields = reason_fields,
    .doc = "The platform on which the caller may know the user.",
};
static const struct type type_reason = { .kind = KIND_OBJECT, .schema = &reason_schema };
static const struct type type_reasons = { .kind = KIND_ARRAY, .of = &type_reason };

static const struct field suggestion_fields[] = {
    { FIELD(struct friend_suggestion, suggested_user), .type = &type_partial_user },
    { FIELD(struct friend_suggestion, reasons), .type = &type_reasons },
    { FIELD(struct friend_suggestion, from_suggested_user_contacts), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct friend_suggestion, mutual_friends_count), .type = &type_count,
      .flags = OPTIONAL },
    { FIELD(struct friend_suggestion, contact_names), .type = &type_texts, .flags = OPTIONAL },
    { 0 },
};
const struct schema friend_suggestion_schema = {
    .name = "FriendSuggestion",
    .size = sizeof(struct friend_suggestion),
    .fields = suggestion_fields,
    .doc = "A user whom the caller may know.",
};
static const struct type type_friend_suggestion = { .kind = KIND_OBJECT,
                                                    .schema = &friend_suggestion_schema };
const struct type type_friend_suggestions = { .kind = KIND_ARRAY, .of = &type_friend_suggestion };

static const struct field friend_suggestion_delete_fields[] = {
    { FIELD(struct friend_suggestion_delete_event, suggested_user_id), .type = &type_id },
    { 0 },
};
const struct schema friend_suggestion_delete_schema = {
    .name = "FriendSuggestionGone",
    .size = sizeof(struct friend_suggestion_delete_event),
    .fields = friend_suggestion_delete_fields,
    .doc = "A friend suggestion that was removed.",
};
