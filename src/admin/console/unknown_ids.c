/* unknown_ids.c - explains an unknown id in the path of a refused call: it is the id of an object
 * of another type, or was rounded by a program that treats ids as floating-point numbers. */
#include "admin/console/traffic_records.h"
#include "base/mem.h"
#include "model/fields/rows.h"

enum { MIN_ID_DIGITS = 17, ROUNDED_ZEROS = 2 };

/* Error codes of unknown objects, and the path parameter that contains the id of the object. */
static const struct {
    int code;
    const char *parameter, *object;
} unknown_objects[] = {
    { 10002, "{application.id}", "an application" },
    { 10003, "{channel.id}", "a channel" },
    { 10004, "{guild.id}", "a guild" },
    { 10004, "{app_guild.id}", "a guild" },
    { 10007, "{member.id}", "a user" },
    { 10008, "{message.id}", "a message" },
    { 10011, "{role.id}", "a role" },
    { 10013, "{user.id}", "a user" },
};

static const char FIND_OBJECT[] =
    "select 'a guild', name from guilds where id = $1 and removed = 0 "
    "union all select 'a channel', name from channels where id = $1 and type >= 0 "
    "union all select 'a role', name from roles where id = $1 and position >= 0 "
    "union all select 'an application', name from applications where id = $1 and removed = 0 "
    "union all select 'a user', username from users where id = $1 limit 1";

static size_t count_path_segments_of_route(struct str path)
{
    size_t n = 0;

    for (size_t i = 0; i < path.n; i++)
        n += path.p[i] == '/';
    return n;
}

/* Returns the segment of the path that corresponds to a parameter of the route's pattern. Returns
 * "" if the pattern does not have the parameter. The path may have more segments at its beginning,
 * such as /api/v10. */
static struct str path_segment_of_parameter(struct str path, struct str pattern, const char *name)
{
    if (path.n && path.p[path.n - 1] == '/')
        path.n--;
    size_t here = count_path_segments_of_route(path),
           wanted = count_path_segments_of_route(pattern);

    for (str_cut(&path, '/'); here > wanted; here--)
        str_cut(&path, '/');
    for (str_cut(&pattern, '/'); pattern.n && path.n;) {
        struct str key = str_cut(&pattern, '/'), value = str_cut(&path, '/');

        if (str_is(key, name))
            return value;
    }
    return STR("");
}

static bool id_was_probably_rounded_by_javascript(struct str id)
{
    size_t zeros = 0;

    while (zeros < id.n && id.p[id.n - 1 - zeros] == '0')
        zeros++;
    return id.n >= MIN_ID_DIGITS && zeros >= ROUNDED_ZEROS;
}

/* Sets the hint of a record with an unknown id. `object`: type of object that the route expects. */
static enum err explain_unknown_id(struct tx *tx, struct displayed_traffic_record *s,
                                   struct str text, const char *object)
{
    struct rows row;
    snowflake id;
    bool found;

    if (!snowflake_parse(text, &id))
        return OK;
    enum err e = tx_one(tx, FIND_OBJECT, BIND(v_id(id)), &row, &found);
    if (e)
        return e;
    if (found && !str_is(row_text(&row, 0), object)) {
        struct str name = row_text(&row, 1);

        s->hint =
            str_printf(tx_arena(tx), "%.*s is the id of %.*s%s%.*s%s, not of %s; use the id of %s",
                       STR_ARGS(text), STR_ARGS(row_text(&row, 0)), name.n ? " (" : "",
                       STR_ARGS(name), name.n ? ")" : "", object, object);
    } else if (!found && id_was_probably_rounded_by_javascript(text)) {
        s->hint = str_printf(tx_arena(tx),
                             "%.*s is not the id of %s; it ends in zeros, so it may have been "
                             "rounded: keep ids as strings, because numbers of JavaScript are "
                             "exact up to 53 bits only",
                             STR_ARGS(text), object);
    }
    return OK;
}

enum err find_hint_for_unknown_id(struct tx *tx, struct displayed_traffic_record *s)
{
    struct str path = s->target;

    if (s->r.kind != TRAFFIC_CALL || s->r.status != 404 || !s->r.path_pattern ||
        s->r.lengths[TRAFFIC_CAUSE])
        return OK;
    path = str_cut(&path, '?');
    for (size_t i = 0; i < COUNT_OF(unknown_objects); i++) {
        if (s->r.code != unknown_objects[i].code)
            continue;
        struct str id = path_segment_of_parameter(path, str_of(s->r.path_pattern),
                                                  unknown_objects[i].parameter);
        if (id.n)
            return explain_unknown_id(tx, s, id, unknown_objects[i].object);
    }
    return OK;
}
