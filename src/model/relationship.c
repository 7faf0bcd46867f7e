/* relationship.c - the interface's relationship object, row by row. */
#include "model/relationship.h"

static const struct field relationship_fields[] = {
    { FIELD(struct relationship, id), .type = &type_id },
    { FIELD(struct relationship, type), .type = &type_count },
    { FIELD(struct relationship, user), .type = &type_partial_user },
    { FIELD(struct relationship, nickname), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct relationship, is_spam_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct relationship, stranger_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct relationship, is_stranger_request), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct relationship, user_ignored), .type = &type_bool },
    { FIELD(struct relationship, origin_application_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct relationship, since), .type = &type_time, .flags = OPTIONAL },
    { FIELD(struct relationship, should_notify), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
const struct schema relationship_schema = {
    .name = "Relationship",
    .size = sizeof(struct relationship),
    .fields = relationship_fields,
    .doc = "What somebody is to the caller.",
};
