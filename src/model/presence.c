/* presence.c - JSON schema of presences in responses. */
#include "model/presence.h"

static const struct field presence_fields[] = {
    { FIELD(struct presence, user), .type = &type_partial_user },
    { FIELD(struct presence, status), .type = &type_text },
    { FIELD(struct presence, activities), .type = &type_always_empty_list },
    { FIELD(struct presence, client_status), .type = &type_raw },
    { 0 },
};
const struct schema presence_schema = {
    .name = "Presence",
    .size = sizeof(struct presence),
    .fields = presence_fields,
    .doc = "The online status of a user.",
};
