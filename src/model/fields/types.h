/* types.h - JSON types that many objects share: ids, times, names, URLs, locales.
 *
 * src/model defines the objects of the API: one struct per object, and the schema that encodes,
 * decodes and documents it. It uses base/, json/, store/ (rows only) and net/ (addresses only).
 * JSON fields that may be absent or null are opt_* members. Start reading with user.h.
 *
 *   <object>.h       the struct and its schemas; <object>.c: the table of its JSON fields
 *   events/          gateway events: names, intents, audience, and routing fields
 *   permissions/     permission bits, and the computation of a member's permissions
 *   fields/          shared JSON types, and conversion between rows and structs
 *   text/            text formats: reactions of a message, search words, localizations, API v6/v7
 *   configured/      regions and platforms from the configuration */
#ifndef MODEL_TYPES_H
#define MODEL_TYPES_H

#include "json/schema.h"

extern const struct type type_id, type_bool, type_text, type_count, type_int, type_time, type_raw;
extern const struct type type_ids, type_texts, type_permissions, type_color, type_locale;
/* Returns a language tag in the spelling of the supported locales; NULL pointer if it is not a
 * supported locale. */
struct str locale_find_supported(struct str tag);
extern const struct type type_asset_hash; /* hash of a stored image */
extern const struct type
    type_image_upload; /* uploaded image as a data URI, up to IMAGE_MAX_BYTES */
/* Type of a JSON field that is always null or empty in Guildhall. */
extern const struct type type_always_null;
extern const struct type type_always_empty_list;   /* a list that is always empty */
extern const struct string_rule rule_visible_name; /* rule for names: no invisible characters */
extern const struct type type_url;                 /* http or https URL of at most 512 characters */
extern const struct type type_long_url; /* http or https URL of at most 2048 characters */

/* Maximum length in bytes of a JSON body with images. Images are base64, and some encoders escape
 * the slashes in it. One more megabyte is for all other fields. */
#define IMAGE_MAX_BYTES             (10 * 1024 * 1024)
#define IMAGE_BASE64_MAX_BYTES      ((IMAGE_MAX_BYTES + 2) / 3 * 4 / 64 * 65)
#define BODY_MAX_WITH_IMAGES(count) ((count)*IMAGE_BASE64_MAX_BYTES + 1024 * 1024)

/* Convert values to optional struct members; a NULL pointer becomes null in JSON. */
static inline struct opt_str opt_str_or_null(struct str s)
{
    return (struct opt_str){ s.p ? GIVEN : GIVEN_NULL, s };
}
static inline struct opt_int opt_int_present(int64_t v)
{
    return (struct opt_int){ GIVEN, v };
}
static inline struct opt_bool opt_bool_present(bool v)
{
    return (struct opt_bool){ GIVEN, v };
}
/* Converts an id to an optional struct member; 0 becomes null in JSON. */
static inline struct opt_id opt_id_or_null(snowflake id)
{
    return (struct opt_id){ id ? GIVEN : GIVEN_NULL, id };
}
/* Converts a boolean to an optional struct member; false becomes absent in JSON. */
static inline struct opt_bool opt_true_or_absent(bool v)
{
    return (struct opt_bool){ v ? GIVEN : ABSENT, v };
}

#endif
