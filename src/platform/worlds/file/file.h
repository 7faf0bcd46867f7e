/* file.h - how a world file is written and read, whatever it is about: rows of its objects, names
 * and ids that refer to others, problems with their place. */
#ifndef PLATFORM_WORLDS_FILE_FILE_H
#define PLATFORM_WORLDS_FILE_FILE_H

#include <inttypes.h>

#include "json/read.h"
#include "json/schema.h"
#include "model/fields/rows.h"
#include "platform/worlds/worlds.h"

/* --- rows ----------------------------------------------------------------------------- */

enum { WORLD_MANY = 1000000 };

/* Most of a file may be left out. */
#define MAYBE(struct_, member_, type_)                                          \
    {                                                                           \
        FIELD(struct_, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE \
    }
#define MUST(struct_, member_, type_)             \
    {                                             \
        FIELD(struct_, member_), .type = &(type_) \
    }
/* NAME_rows and NAME_type, of a file's object, and world_NAME_list, a list of them. */
#define WORLD_OBJECT(name_, fields_, check_)                                                  \
    static const struct schema name_##_rows = { .size = sizeof(struct world_##name_),         \
                                                .fields = (fields_),                          \
                                                .check = (check_) };                          \
    static const struct type name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_rows }; \
    const struct type world_##name_##_list = { .kind = KIND_ARRAY,                            \
                                               .max = WORLD_MANY,                             \
                                               .of = &name_##_type }

/* The same for an object that there is one of: world_NAME_type. */
#define WORLD_SINGLE(name_, fields_, check_)                                          \
    static const struct schema name_##_rows = { .size = sizeof(struct world_##name_), \
                                                .fields = (fields_),                  \
                                                .check = (check_) };                  \
    const struct type world_##name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_rows }

/* schema.c: a name or an id, a list of them, and what else many objects have. */
extern const struct type type_world_ref, type_world_refs, type_world_rights, type_world_name,
    type_world_content;

/* What is kept as JSON must be of the kind that its readers expect. items: of a list. */
void world_check_json(struct form *form, const struct place *here, const char *name,
                      const struct opt_str *json, enum json_kind kind, enum json_kind items);
void world_check_texts(struct form *form, const struct place *here, const char *name,
                       const struct opt_str *json);
void world_check_rights(struct form *form, const struct place *here, const char *name,
                        const struct opt_str *rights);

/* --- rights.c: sets of rights, as people write them ----------------------------------- */

/* ["VIEW_CHANNEL", …], "ALL", "DEFAULT", or a number. False: *ret_wrong is what it is not. */
bool rights_read(struct str json, struct arena *arena, uint64_t *ret, struct str *ret_wrong);
struct opt_str rights_write(uint64_t rights, struct arena *arena);

/* --- layout.c: text for people -------------------------------------------------------- */

/* JSON with a line for each object that holds no others. */
void layout_json(struct str json, struct buf *out);
/* Valid JSON without the space between its words, as it is kept and sent. */
struct str layout_compact(struct arena *arena, struct str json);
/* "users.0.username: …" for each problem. */
struct str layout_problems(const struct form *form, struct arena *arena);

/* --- references.c: names and ids ------------------------------------------------------ */

struct importing {
    struct tx *tx;
    struct arena *arena;
    const struct world_options *options;
    struct world_report *report;
    struct form *form;
    struct list *pictures; /* struct world_picture: what is to be kept once all is committed */
};

/* A picture of the file, under the name that its row has. */
struct world_picture {
    char name[96];
    struct str bytes;
};

/* A kind of thing that is found by name. Queries give (least id, count). */
struct naming {
    const char *word;
    struct sql by_name; /* $1 name, $2 guild where `scoped` */
    struct sql by_id;   /* $1 id, $2 guild where `scoped` */
    struct sql any_id;  /* $1 id */
    bool scoped, unique;
};
extern const struct naming user_naming, application_naming, guild_naming, role_naming,
    channel_naming;

/* What a member of the file refers to. 0, and a problem is noted, when there is no
 * such thing or several of them. */
enum err refer(struct importing *im, const struct naming *n, snowflake guild, struct str to,
               const struct place *at, snowflake *ret);
/* The same where the member may be absent: 0. */
enum err refer_maybe(struct importing *im, const struct naming *n, snowflake guild,
                     const struct opt_str *to, const struct place *at, snowflake *ret);
/* Which thing an entry of the file is about: *ret is its id, 0 when it is new or,
 * with a problem noted, wrong. */
enum err settle(struct importing *im, const struct naming *n, snowflake guild, struct opt_id id,
                struct str name, const struct place *at, snowflake *ret);

/* JSON from the file, as columns keep it. */
static inline struct value v_opt_json(const struct importing *im, struct opt_str json)
{
    return json.given == GIVEN ? v_text(layout_compact(im->arena, json.value)) : v_null();
}
static inline struct value v_opt_bool(struct opt_bool b)
{
    return b.given == GIVEN ? v_int(b.value) : v_null();
}

enum counted {
    COUNT_USERS,
    COUNT_APPLICATIONS,
    COUNT_GUILDS,
    COUNT_ROLES,
    COUNT_CHANNELS,
    COUNT_MEMBERS,
    COUNT_RELATIONSHIPS,
    COUNT_MESSAGES,
    COUNT_COMMANDS,
};
void count(struct importing *im, enum counted what, bool made);

/* Runs a step for each entry of a list; step sees the entry and its place. */
typedef enum err import_step(struct importing *im, const void *entry, const struct place *at,
                             snowflake owner);
enum err import_each(struct importing *im, const struct opt_list *list, size_t size,
                     const char *name, const struct place *up, import_step *step, snowflake owner);

/* The id under which an entry is saved; 0: there was a problem. */
enum err world_place_of(struct importing *im, const struct naming *n, snowflake guild,
                        struct opt_id id, struct str name, const struct place *at, snowflake *ret);
/* What each of a list of names refers to; *ret: snowflakes. all: the place of the list. */
enum err refer_each(struct importing *im, const struct naming *n, snowflake guild,
                    const struct opt_list *names, const struct place *all, struct list *ret);

/* --- pictures.c ----------------------------------------------------------------------- */

/* A file that belongs to a thing of the world. */
struct world_file_note {
    snowflake id, owner;
    const char *area;
    struct str name, bytes;
    struct sql set_name; /* $1 the owner, $2 the name */
};
/* Its rows; its bytes are kept when all is committed. */
enum err world_note_file(struct importing *im, const struct world_file_note *note);
/* The rows of a picture; its bytes are kept when all is committed. */
enum err world_note_picture(struct importing *im, const struct image *image, const char *area,
                            snowflake id, struct sql set_image);

/* --- what an export shows ------------------------------------------------------------- */

/* Present unless it is what an import would take anyway. */
static inline struct opt_int shown_int(const struct rows *r, int column, int64_t usual)
{
    bool shown = !row_null(r, column) && row_int(r, column) != usual;

    return (struct opt_int){ shown ? GIVEN : ABSENT, row_int(r, column) };
}
static inline struct opt_bool shown_bool(const struct rows *r, int column, bool usual)
{
    return (struct opt_bool){ row_bool(r, column) != usual ? GIVEN : ABSENT, row_bool(r, column) };
}
static inline struct opt_str shown_text(const struct rows *r, int column, const char *usual)
{
    bool shown = !row_null(r, column) && !str_is(row_text(r, column), usual);

    return (struct opt_str){ shown ? GIVEN : ABSENT, row_text(r, column) };
}
static inline void *shown_item(struct tx *tx, struct opt_list *list, size_t size)
{
    list->given = GIVEN;
    return list_add(tx_arena(tx), &list->value, size);
}
/* Null and absent are the same in a file. */
static inline struct opt_int shown_opt_int(struct opt_int v)
{
    return (struct opt_int){ v.given == GIVEN ? GIVEN : ABSENT, v.value };
}
static inline struct opt_str shown_opt_text(struct opt_str v)
{
    return (struct opt_str){ v.given == GIVEN ? GIVEN : ABSENT, v.value };
}
/* Ids as a file has them. */
static inline struct str shown_id(struct tx *tx, snowflake id)
{
    return str_printf(tx_arena(tx), "%" PRIu64, id);
}
static inline struct opt_str shown_maybe_id(struct tx *tx, struct opt_id id)
{
    return id.given == GIVEN ? (struct opt_str){ GIVEN, shown_id(tx, id.value) }
                             : (struct opt_str){ 0 };
}
static inline struct opt_list shown_ids(struct tx *tx, const struct list *ids)
{
    struct opt_list out = { .given = ids->count ? GIVEN : ABSENT };

    for (size_t i = 0; i < ids->count; i++)
        *(struct str *)list_add(tx_arena(tx), &out.value, sizeof(struct str)) =
            shown_id(tx, ((const snowflake *)ids->items)[i]);
    return out;
}

#endif
