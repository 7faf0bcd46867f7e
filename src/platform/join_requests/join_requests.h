/* join_requests.h - membership screening: forms for new members, and join requests. While a guild's
 * form is enabled (feature MEMBER_VERIFICATION_GATE_ENABLED), new members are pending: they see the
 * guild but may not act in it. If the form consists of rules only, accepting the rules admits the
 * member. Other responses wait until a member with KICK_MEMBERS reviews them. The folder owns the
 * tables of forms and join requests; members/ owns the pending flag. The folder may use invites/
 * and the folders below it. Start with form.c. */
#ifndef PLATFORM_JOIN_REQUESTS_JOIN_REQUESTS_H
#define PLATFORM_JOIN_REQUESTS_JOIN_REQUESTS_H

#include "api/route.h"
#include "base/snowflake.h"

#define SCREENING_FEATURE "MEMBER_VERIFICATION_GATE_ENABLED"

/* A field of a form and, in a join request, the user's response. */
struct member_form_field {
    struct str field_type, label;
    struct opt_list values;  /* list of struct str: rules; only for the field type TERMS */
    struct opt_list choices; /* struct str */
    struct opt_str description, placeholder;
    bool required;
    struct opt_str response; /* JSON: true, a string, or a choice index */
};
struct member_form {
    snowflake guild_id;
    bool enabled;
    int64_t version;
    struct opt_str description;
    struct list form_fields; /* struct member_form_field */
};
extern const struct type type_form_fields;

/* Validates the fields of a form; reports form errors below the path `list`. */
void member_form_fields_validate(struct form *form, const struct json_path *list,
                                 const struct list *fields);
/* Finds a guild's membership form. Returns ERR_UNKNOWN_MEMBER_FORM if the guild has none. */
enum err member_form_find(struct tx *tx, snowflake guild_id, struct member_form *ret);
enum err member_form_write(struct tx *tx, const struct member_form *f);

enum join_request_status { JOIN_SUBMITTED = 1, JOIN_REJECTED = 2, JOIN_APPROVED = 3 };

/* Returns the enum join_request_status value of a status. Returns 0 for an unknown status and for
 * "STARTED", because requests with this status are not stored. */
int64_t join_status_parse(struct str word);
struct str join_request_status_name(int64_t status);

extern const struct domain join_requests_domain;
extern const struct world_file_fields join_requests_world;

#endif
