/* schema.c - JSON schemas of request and response bodies. */
#include "platform/relationships/internal.h"

#include "base/mem.h"
#include "base/utf8.h"

/* --- types shared by several bodies --------------------------------------------------- */

static const struct type type_name = {
    .kind = KIND_STRING, .flags = TYPE_TRIM | TYPE_LOWER, .min = 1, .doc = "Name of an account"
};
static const struct type type_note = { .kind = KIND_STRING,
                                       .doc = "At most 120 characters; line breaks become spaces" };
static const struct type type_filter = {
    .kind = KIND_INT,
    .choices =
        (const struct enum_choice[]){
            { REMOVE_SPAM, NULL, "SPAM", "Requests that look like spam" },
            { REMOVE_IGNORED, NULL, "IGNORED", "Requests of ignored users" },
            { 0 },
        },
};
static const struct type type_filters = {
    .kind = KIND_ARRAY, .of = &type_filter, .max = 10, .doc = "A request must match all filters"
};

/* Checks the length that the note has after collapse_line_breaks_of_note. */
static void check_friend_request_note(struct form *form, const struct json_path *here,
                                      const struct opt_str *note)
{
    struct json_path at = json_path_key(here, STR("note"));

    if (note->given != GIVEN || form_has_error_at_path(form, &at))
        return;
    if (utf8_length(collapse_line_breaks_of_note(form->arena, note->value)) > NOTE_LENGTH)
        form_add_error(form, &at, FORM_MAX_LENGTH, (long long)NOTE_LENGTH);
}

/* --- POST /users/@me/relationships ---------------------------------------------------- */

static struct str strip_json_quotes(struct str json)
{
    return json.p[0] == '"' ? str_slice(json.p + 1, json.n - 2) : json;
}

static void check_friend_request(struct form *form, const struct json_path *here,
                                 const void *object)
{
    const struct friend_request_body *in = object;
    struct json_path at = json_path_key(here, STR("discriminator"));
    struct user_tag tag;

    check_friend_request_note(form, here, &in->note);
    if (!form_has_error_at_path(form, &at) &&
        !user_tag_parse(in->username, in->discriminator, &tag))
        form_add_error(form, &at, FORM_NOT_INT,
                       STR_ARGS(form_shorten_quoted_value(strip_json_quotes(in->discriminator))));
}

static const struct field request_fields[] = {
    { FIELD(struct friend_request_body, username), .type = &type_name },
    { FIELD(struct friend_request_body, discriminator), .type = &type_raw,
      .flags = OPTIONAL | NULLABLE,
      .doc = "Discriminator of a legacy username; null, 0 or absent: none" },
    { FIELD(struct friend_request_body, note), .type = &type_note, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema request_schema = {
    .name = "FriendRequest",
    .size = sizeof(struct friend_request_body),
    .fields = request_fields,
    .check = check_friend_request,
    .doc = "Whom to ask.",
};
const struct type request_body = { .kind = KIND_OBJECT, .schema = &request_schema };

/* --- PUT /users/@me/relationships/{user.id} ------------------------------------------- */

static const struct enum_choice type_choices[] = {
    { -1, NULL, "ASK", "Accept a request, or make one" },
    { RELATIONSHIP_FRIEND, NULL, "FRIEND", "Accept a request" },
    { RELATIONSHIP_BLOCKED, NULL, "BLOCKED", "Block" },
    { 0 },
};
static const struct type type_wanted = { .kind = KIND_INT, .choices = type_choices };

/* If the type is BLOCKED, ignores errors in fields that only friend requests have. */
static void check_relationship_body(struct form *form, const struct json_path *here,
                                    const void *object)
{
    static const char *const others[] = { "from_friend_suggestion", "confirm_stranger_request",
                                          "note" };
    const struct relationship_body *in = object;

    if (in->type != RELATIONSHIP_BLOCKED) {
        check_friend_request_note(form, here, &in->note);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct json_path at = json_path_key(here, str_of(others[i]));

        form_remove_errors_at_path(form, &at);
    }
}

static const struct field relationship_fields[] = {
    { FIELD(struct relationship_body, type), .type = &type_wanted, .flags = OPTIONAL,
      .fallback = -1 },
    { FIELD(struct relationship_body, from_friend_suggestion), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct relationship_body, confirm_stranger_request), .type = &type_bool,
      .flags = OPTIONAL, .doc = "Required to accept a request of an unknown user" },
    { FIELD(struct relationship_body, note), .type = &type_note, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema relationship_body_schema = {
    .name = "RelationshipWanted",
    .size = sizeof(struct relationship_body),
    .fields = relationship_fields,
    .check = check_relationship_body,
    .doc = "The relationship to create.",
};
const struct type relationship_body = { .kind = KIND_OBJECT, .schema = &relationship_body_schema };

/* --- PATCH /users/@me/relationships/{user.id} ----------------------------------------- */

static const struct type type_nickname = {
    .kind = KIND_STRING, .flags = TYPE_TRIM, .min = 1, .max = NICKNAME_LENGTH, .doc = "null: none"
};

static const struct field nickname_fields[] = {
    { FIELD(struct nickname_body, nickname), .type = &type_nickname, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema nickname_schema = {
    .name = "RelationshipPatch",
    .size = sizeof(struct nickname_body),
    .fields = nickname_fields,
    .doc = "The nickname of a friend.",
};
const struct type nickname_body = { .kind = KIND_OBJECT, .schema = &nickname_schema };

/* --- DELETE /users/@me/relationships -------------------------------------------------- */

static const struct type type_incoming = {
    .kind = KIND_INT,
    .choices =
        (const struct enum_choice[]){
            { RELATIONSHIP_INCOMING, NULL, "INCOMING_REQUEST", "Requests to the caller" },
            { 0 },
        },
};

static const struct field removal_query_fields[] = {
    { FIELD(struct friend_request_removal_query, relationship_type), .type = &type_incoming,
      .flags = OPTIONAL, .fallback = RELATIONSHIP_INCOMING },
    { FIELD(struct friend_request_removal_query, only_spam), .type = &type_bool,
      .flags = OPTIONAL | DEPRECATED, .doc = "The filter SPAM" },
    { FIELD(struct friend_request_removal_query, filters), .type = &type_filters, .flags = OPTIONAL,
      .doc = "For clients that send no body with DELETE" },
    { 0 },
};
const struct schema removal_query_schema = {
    .name = "RelationshipRemovalQuery",
    .size = sizeof(struct friend_request_removal_query),
    .fields = removal_query_fields,
    .doc = "What to remove.",
};

static const struct field removal_fields[] = {
    { FIELD(struct friend_request_removal_body, filters), .type = &type_filters,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema removal_schema = {
    .name = "RelationshipRemoval",
    .size = sizeof(struct friend_request_removal_body),
    .fields = removal_fields,
    .doc = "What to remove.",
};
const struct type removal_body = { .kind = KIND_OBJECT, .schema = &removal_schema };

/* --- POST /users/@me/relationships/bulk ----------------------------------------------- */

static const struct type type_bulk_ids = {
    .kind = KIND_ARRAY, .of = &type_id, .min = 1, .max = 1000
};

static const struct field bulk_fields[] = {
    { FIELD(struct bulk_friend_request_body, user_ids), .type = &type_bulk_ids },
    { FIELD(struct bulk_friend_request_body, token), .type = &type_text,
      .doc = "The bulk_add_token of a contact upload" },
    { 0 },
};
static const struct schema bulk_schema = {
    .name = "BulkFriendRequest",
    .size = sizeof(struct bulk_friend_request_body),
    .fields = bulk_fields,
    .doc = "Suggested users to send friend requests to.",
};
const struct type bulk_body = { .kind = KIND_OBJECT, .schema = &bulk_schema };

static const struct field bulk_reply_fields[] = {
    { FIELD(struct bulk_friend_request_reply, failed_requests), .type = &type_ids },
    { FIELD(struct bulk_friend_request_reply, successful_requests), .type = &type_ids },
    { 0 },
};
static const struct schema bulk_reply_schema = {
    .name = "BulkFriendRequestResult",
    .size = sizeof(struct bulk_friend_request_reply),
    .fields = bulk_reply_fields,
    .doc = "Users for whom the request succeeded or failed.",
};
const struct type bulk_reply = { .kind = KIND_OBJECT, .schema = &bulk_reply_schema };

/* --- game relationships --------------------------------------------------------------- */

static const struct field game_request_fields[] = {
    { FIELD(struct game_friend_request_body, username), .type = &type_name },
    { 0 },
};
static const struct schema game_request_schema = {
    .name = "GameFriendRequest",
    .size = sizeof(struct game_friend_request_body),
    .fields = game_request_fields,
    .doc = "Whom to ask.",
};
const struct type game_request_body = { .kind = KIND_OBJECT, .schema = &game_request_schema };

static const struct type type_game_wanted = {
    .kind = KIND_INT,
    .choices =
        (const struct enum_choice[]){
            { -1, NULL, "ASK", "Accept a request, or make one" },
            { RELATIONSHIP_FRIEND, NULL, "FRIEND", "Accept a request" },
            { 0 },
        },
};
static const struct field game_fields[] = {
    { FIELD(struct game_relationship_body, type), .type = &type_game_wanted, .flags = OPTIONAL,
      .fallback = -1 },
    { 0 },
};
static const struct schema game_schema = {
    .name = "GameRelationshipWanted",
    .size = sizeof(struct game_relationship_body),
    .fields = game_fields,
    .doc = "The game relationship to create.",
};
const struct type game_body = { .kind = KIND_OBJECT, .schema = &game_schema };

static const struct type type_game_accepted = {
    .kind = KIND_INT,
    .choices =
        (const struct enum_choice[]){
            { RELATIONSHIP_FRIEND, NULL, "FRIEND", "Accept a request" },
            { 0 },
        },
};
static const struct field game_accept_fields[] = {
    { FIELD(struct game_relationship_body, type), .type = &type_game_accepted, .flags = OPTIONAL,
      .fallback = RELATIONSHIP_FRIEND },
    { 0 },
};
static const struct schema game_accept_schema = {
    .name = "GameRelationshipAccepted",
    .size = sizeof(struct game_relationship_body),
    .fields = game_accept_fields,
    .doc = "The game relationship to accept.",
};
const struct type game_accept_body = { .kind = KIND_OBJECT, .schema = &game_accept_schema };
