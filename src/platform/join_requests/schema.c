/* schema.c - JSON schemas of membership forms, join requests and their events. */
#include "platform/join_requests/internal.h"

#include "model/fields/types.h"

enum { MOST_FORM_FIELDS = 5, MOST_RULES = 16, MOST_CHOICES = 8 };

/* --- membership forms ---------------------------------------------------------------- */

static const struct enum_choice field_types[] = {
    { 0, "TERMS", "TERMS", "Rules to accept" },
    { 0, "TEXT_INPUT", "TEXT_INPUT", "A line of text" },
    { 0, "PARAGRAPH", "PARAGRAPH", "Several lines of text" },
    { 0, "MULTIPLE_CHOICE", "MULTIPLE_CHOICE", "One of several choices" },
    { 0 },
};
static const struct type type_field_type = { .kind = KIND_STRING, .choices = field_types };
static const struct type type_label = { .kind = KIND_STRING, .min = 1, .max = 300 };
static const struct type type_rule = { .kind = KIND_STRING, .min = 1, .max = 300 };
static const struct type type_rules = { .kind = KIND_ARRAY, .max = MOST_RULES, .of = &type_rule };
static const struct type type_choice = { .kind = KIND_STRING, .min = 1, .max = 150 };
static const struct type type_choices = { .kind = KIND_ARRAY,
                                          .max = MOST_CHOICES,
                                          .of = &type_choice };
static const struct type type_note = { .kind = KIND_STRING, .max = 300 };

#define MAYBE (OPTIONAL | NULLABLE)
static const struct field form_field_fields[] = {
    { FIELD(struct member_form_field, field_type), .type = &type_field_type },
    { FIELD(struct member_form_field, label), .type = &type_label },
    { FIELD(struct member_form_field, values), .type = &type_rules, .flags = OPTIONAL,
      .doc = "The rules" },
    { FIELD(struct member_form_field, choices), .type = &type_choices, .flags = OPTIONAL },
    { FIELD(struct member_form_field, description), .type = &type_note, .flags = MAYBE },
    { FIELD(struct member_form_field, placeholder), .type = &type_note, .flags = MAYBE },
    { FIELD(struct member_form_field, required), .type = &type_bool, .flags = OPTIONAL,
      .fallback = 1 },
    { FIELD(struct member_form_field, response), .type = &type_raw, .flags = OPTIONAL,
      .doc = "true, a text, or the index of a choice" },
    { 0 },
};
static const struct schema form_field_schema = {
    .name = "MemberFormField",
    .size = sizeof(struct member_form_field),
    .fields = form_field_fields,
    .doc = "A field of a membership form.",
};
static const struct type type_form_field = { .kind = KIND_OBJECT, .schema = &form_field_schema };
const struct type type_form_fields = { .kind = KIND_ARRAY,
                                       .max = MOST_FORM_FIELDS,
                                       .of = &type_form_field };

static const struct field form_fields[] = {
    { FIELD(struct member_form, version), .type = &type_time },
    { FIELD(struct member_form, form_fields), .type = &type_form_fields },
    { FIELD(struct member_form, description), .type = &type_note, .flags = NULLABLE },
    { 0 },
};
static const struct schema form_schema = {
    .name = "MemberForm",
    .size = sizeof(struct member_form),
    .fields = form_fields,
    .doc = "The membership form of a guild.",
};
const struct type member_form_reply = { .kind = KIND_OBJECT, .schema = &form_schema };

static const struct field form_patch_fields[] = {
    { FIELD(struct member_form_patch, enabled), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct member_form_patch, form_fields), .type = &type_raw, .flags = OPTIONAL,
      .doc = "array[MemberFormField], or its JSON as text" },
    { FIELD(struct member_form_patch, description), .type = &type_note, .flags = MAYBE },
    { 0 },
};
static const struct schema form_patch_schema = {
    .name = "MemberFormPatch",
    .size = sizeof(struct member_form_patch),
    .fields = form_patch_fields,
    .doc = "Changes of a form.",
};
const struct type member_form_patch_body = { .kind = KIND_OBJECT, .schema = &form_patch_schema };

static const struct type type_code = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct field form_query_fields[] = {
    { FIELD(struct member_form_query, invite_code), .type = &type_code, .flags = OPTIONAL,
      .doc = "Gives access to users who are not members" },
    { FIELD(struct member_form_query, with_guild), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Accepted, without effect" },
    { 0 },
};
const struct schema member_form_query_schema = {
    .name = "MemberFormQuery",
    .size = sizeof(struct member_form_query),
    .fields = form_query_fields,
    .doc = "Options for reading a form.",
};

/* --- join requests ------------------------------------------------------------------- */

static const struct enum_choice statuses[] = {
    { 0, "STARTED", "STARTED", "Not submitted" },
    { 0, "SUBMITTED", "SUBMITTED", "Waits for review" },
    { 0, "REJECTED", "REJECTED", "Rejected" },
    { 0, "APPROVED", "APPROVED", "Approved" },
    { 0 },
};
static const struct type type_status = { .kind = KIND_STRING, .choices = statuses };
static const struct enum_choice actions[] = {
    { 0, "APPROVED", "APPROVED", "Approved" },
    { 0, "REJECTED", "REJECTED", "Rejected" },
    { 0 },
};
static const struct type type_action = { .kind = KIND_STRING, .choices = actions };
static const struct type type_reason = { .kind = KIND_STRING, .max = 160 };

static const struct field request_fields[] = {
    { FIELD(struct join_request, id), .type = &type_id },
    { FIELD(struct join_request, created_at), .type = &type_time },
    { FIELD(struct join_request, reviewed_at), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct join_request, application_status), .type = &type_status, .flags = NULLABLE },
    { FIELD(struct join_request, rejection_reason), .type = &type_reason, .flags = NULLABLE },
    { FIELD(struct join_request, guild_id), .type = &type_id },
    { FIELD(struct join_request, user_id), .type = &type_id },
    { FIELD(struct join_request, user), .type = &type_partial_user, .flags = OPTIONAL },
    { FIELD(struct join_request, form_responses), .type = &type_form_fields },
    { FIELD(struct join_request, actioned_by_user), .type = &type_partial_user, .flags = OPTIONAL },
    { 0 },
};
static const struct schema request_schema = {
    .name = "JoinRequest",
    .size = sizeof(struct join_request),
    .fields = request_fields,
    .doc = "A submitted form of a user.",
};
const struct type join_request_reply = { .kind = KIND_OBJECT, .schema = &request_schema };
static const struct type type_requests = { .kind = KIND_ARRAY, .of = &join_request_reply };

static const struct field draft_fields[] = {
    { FIELD(struct join_request_submission, version), .type = &type_time },
    { FIELD(struct join_request_submission, form_fields), .type = &type_form_fields },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "JoinRequestDraft",
    .size = sizeof(struct join_request_submission),
    .fields = draft_fields,
    .doc = "A form with responses.",
};
const struct type join_request_submission_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field review_fields[] = {
    { FIELD(struct join_request_review, action), .type = &type_action },
    { FIELD(struct join_request_review, rejection_reason), .type = &type_reason, .flags = MAYBE },
    { 0 },
};
static const struct schema review_schema = {
    .name = "JoinRequestReview",
    .size = sizeof(struct join_request_review),
    .fields = review_fields,
    .doc = "The decision on a join request.",
};
const struct type join_request_review_body = { .kind = KIND_OBJECT, .schema = &review_schema };

static const struct type type_page = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field query_fields[] = {
    { FIELD(struct join_requests_query, status), .type = &type_status, .flags = OPTIONAL },
    { FIELD(struct join_requests_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct join_requests_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct join_requests_query, limit), .type = &type_page, .flags = OPTIONAL,
      .fallback = 100 },
    { 0 },
};
const struct schema join_requests_query_schema = {
    .name = "JoinRequestsQuery",
    .size = sizeof(struct join_requests_query),
    .fields = query_fields,
    .doc = "Selects join requests.",
};
static const struct field requests_fields[] = {
    { FIELD(struct join_requests, guild_join_requests), .type = &type_requests },
    { FIELD(struct join_requests, total), .type = &type_count },
    { 0 },
};
static const struct schema requests_schema = {
    .name = "JoinRequests",
    .size = sizeof(struct join_requests),
    .fields = requests_fields,
    .doc = "A page of join requests.",
};
const struct type join_requests_reply = { .kind = KIND_OBJECT, .schema = &requests_schema };

/* --- payloads of events --------------------------------------------------------------- */

static const struct field event_fields[] = {
    { FIELD(struct join_request_event, guild_id), .type = &type_id },
    { FIELD(struct join_request_event, status), .type = &type_status },
    { FIELD(struct join_request_event, request), .type = &join_request_reply },
    { 0 },
};
const struct schema join_request_event_schema = {
    .name = "JoinRequestTold",
    .size = sizeof(struct join_request_event),
    .fields = event_fields,
    .doc = "A created or reviewed join request.",
};
static const struct field deleted_fields[] = {
    { FIELD(struct join_request_delete_event, id), .type = &type_id },
    { FIELD(struct join_request_delete_event, guild_id), .type = &type_id },
    { FIELD(struct join_request_delete_event, user_id), .type = &type_id },
    { 0 },
};
const struct schema join_request_deleted_schema = {
    .name = "JoinRequestGone",
    .size = sizeof(struct join_request_delete_event),
    .fields = deleted_fields,
    .doc = "A deleted join request.",
};
