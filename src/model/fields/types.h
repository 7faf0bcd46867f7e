/* types.h - rules that many objects share. */
#ifndef MODEL_TYPES_H
#define MODEL_TYPES_H

#include "json/schema.h"

extern const struct type type_id, type_bool, type_text, type_count, type_int, type_time, type_raw;
extern const struct type type_ids, type_texts, type_permissions, type_color, type_locale;
/* A language tag as we write it; p == NULL: it is none of ours. */
struct str locale_known(struct str tag);
extern const struct type type_asset_hash; /* of a picture that is kept */
extern const struct type type_picture;    /* a picture that is sent: PICTURE_MAX */
extern const struct type type_nothing;    /* what we do not have: always null, or empty */
extern const struct type type_none;       /* a list that is always empty */
extern const struct rule rule_name;       /* names: nothing that cannot be seen */
extern const struct type type_url;        /* http or https, at most 512 characters */
extern const struct type type_long_url;   /* the same, at most 2048 */

/* What a JSON body may have that brings pictures: their base64, in which some writers escape
 * slashes, and a body's usual megabyte for all its other fields. */
#define PICTURE_MAX               (10 * 1024 * 1024)
#define PICTURE_TEXT_MAX          ((PICTURE_MAX + 2) / 3 * 4 / 64 * 65)
#define BODY_WITH_PICTURES(count) ((count)*PICTURE_TEXT_MAX + 1024 * 1024)

/* Members of structs. */
static inline struct opt_str given_str(struct str s)
{
    return (struct opt_str){ s.p ? GIVEN : GIVEN_NULL, s };
}
static inline struct opt_int given_int(int64_t v)
{
    return (struct opt_int){ GIVEN, v };
}
static inline struct opt_bool given_bool(bool v)
{
    return (struct opt_bool){ GIVEN, v };
}
/* 0 is null. */
static inline struct opt_id given_id(snowflake id)
{
    return (struct opt_id){ id ? GIVEN : GIVEN_NULL, id };
}
/* Shown only when true. */
static inline struct opt_bool given_mark(bool v)
{
    return (struct opt_bool){ v ? GIVEN : ABSENT, v };
}

#endif
