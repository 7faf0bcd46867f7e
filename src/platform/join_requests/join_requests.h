/* join_requests.h - what newcomers of a guild are asked, and who lets them in.
 *
 * While a guild's form is on (feature MEMBER_VERIFICATION_GATE_ENABLED), people who join are
 * pending: they see the guild and may do nothing in it. Who accepts rules is in at once; other
 * answers wait for somebody who may kick. This folder owns forms and requests; that members are
 * pending belongs to members/, what they may not do to model/permissions/rights.c. Begin with
 * form.c. */
#ifndef PLATFORM_JOIN_REQUESTS_JOIN_REQUESTS_H
#define PLATFORM_JOIN_REQUESTS_JOIN_REQUESTS_H

#include "api/route.h"
#include "base/snowflake.h"

#define SCREENING_FEATURE "MEMBER_VERIFICATION_GATE_ENABLED"

/* A question of a form; with an answer, where somebody gave one. */
struct form_field {
    struct str field_type, label;
    struct opt_list values;  /* struct str: the rules */
    struct opt_list choices; /* struct str */
    struct opt_str description, placeholder;
    bool required;
    struct opt_str response; /* JSON: true, a text, or the index of a choice */
};
struct member_form {
    snowflake guild_id;
    bool enabled;
    int64_t version;
    struct opt_str description;
    struct list form_fields; /* struct form_field */
};
extern const struct type type_form_fields;

/* Notes what is wrong with a form's questions, a list at that place. */
void form_fields_check(struct form *form, const struct place *list, const struct list *fields);
/* ERR_UNKNOWN_MEMBER_FORM. */
enum err member_form_find(struct tx *tx, snowflake guild_id, struct member_form *ret);
enum err member_form_save(struct tx *tx, const struct member_form *f);

enum join_status { JOIN_SUBMITTED = 1, JOIN_REJECTED = 2, JOIN_APPROVED = 3 };

/* 0: no such word, or one that is never kept ("STARTED"). */
int64_t join_status_of(struct str word);
struct str join_status_word(int64_t status);

extern const struct domain join_requests_domain;

#endif
