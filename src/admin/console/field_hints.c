/* field_hints.c - explains an invalid field of a request: cause and fix, with the value that was
 * sent. */
#include "admin/console/traffic_records.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/form.h"
#include "json/read.h"

/* Moves the JSON reader to the value at a path such as "data.embeds.0.title". */
static bool move_reader_to_json_path(struct json_reader *r, struct str path)
{
    while (path.n) {
        struct str key = str_cut(&path, '.'), found;
        enum json_value_kind kind = json_peek_kind(r);
        uint64_t index = 0;
        bool there = false;

        if (kind != JSON_OBJECT && (kind != JSON_ARRAY || !str_to_u64(key, &index)))
            return false;
        json_enter_container(r);
        while (!there && (kind == JSON_OBJECT ? json_next_member(r, &found) : json_next_item(r))) {
            there = kind == JSON_OBJECT ? str_eq(found, key) : index-- == 0;
            if (!there && !json_skip_value(r, NULL))
                return false;
        }
        if (!there)
            return false;
    }
    return json_reader_has_no_error(r);
}

/* Returns the path in a description of a problem: "data.content" in "data.content: Must be …". */
static struct str json_path_of_problem(struct str problem)
{
    const char *colon = memmem(problem.p, problem.n, ": ", 2);

    return colon ? str_slice(problem.p, (size_t)(colon - problem.p)) : STR("");
}

/* Returns "; the value …" with the value to which the first problem of the body refers. Returns ""
 * if the recorded body does not contain that value. Secrets in `body` are already redacted. */
static struct str describe_sent_value(struct str body, struct str problem, struct arena *arena)
{
    struct json_reader r;
    struct str text;

    if (!body.n)
        return STR("");
    json_reader_init(&r, body, arena);
    if (!move_reader_to_json_path(&r, json_path_of_problem(problem)))
        return STR("");
    if (json_peek_kind(&r) == JSON_STRING) {
        if (!json_read_string(&r, &text) || str_is(text, "***"))
            return STR("");
        size_t length = utf8_length(text);
        struct str shown = form_shorten_quoted_value(text);

        return str_printf(arena, "; the value has %zu characters: \"%.*s%s\"", length,
                          STR_ARGS(shown), shown.n < text.n ? "…" : "");
    }
    if (!json_skip_value(&r, &text))
        return STR("");
    struct str shown = form_shorten_quoted_value(text);
    return str_printf(arena, "; the value is %.*s%s", STR_ARGS(shown), shown.n < text.n ? "…" : "");
}

/* --- what to write instead -------------------------------------------------------------- */

static bool form_problem_contains_text(struct str problem, const char *part)
{
    return memmem(problem.p, problem.n, part, strlen(part)) != NULL;
}

/* Returns the text between the first two quotes in a description of a problem: undefined in "Value
 * "undefined" …". */
static struct str quoted_value_of_problem(struct str problem)
{
    const char *open = memchr(problem.p, '"', problem.n);
    struct str rest = open ? str_skip_bytes(problem, (size_t)(open - problem.p) + 1) : STR("");

    return str_cut(&rest, '"');
}

/* Returns advice about a value that was sent where an id is expected. */
static const char *find_advice_for_invalid_id(struct str value)
{
    static const char *const unset[] = {
        "", "undefined", "null", "None", "NaN", "[object Object]", "%5Bobject%20Object%5D", "nil"
    };

    for (size_t i = 0; i < COUNT_OF(unset); i++)
        if (str_is(value, unset[i]))
            return "; the variable with the id is not set, or is an object instead of its id";
    if (value.p[0] == '{' || value.p[0] == '<' || value.p[0] == ':')
        return "; replace the placeholder or mention by the id alone";
    if (memchr(value.p, '.', value.n) || memchr(value.p, '+', value.n))
        return "; the id was calculated as a floating-point number; keep ids as strings";
    return "; write the id, a number of 17 to 20 digits, not a name";
}

static bool is_component_type(struct str path)
{
    return str_starts_with(path, STR("components.")) ||
           memmem(path.p, path.n, ".components.", sizeof ".components." - 1);
}

/* Returns advice what to send instead, beginning with "; ". Returns "" if the description of the
 * problem already says this. */
static const char *find_advice_for_form_problem(struct str problem, struct str path)
{
    if (form_problem_contains_text(problem, "is not snowflake"))
        return find_advice_for_invalid_id(quoted_value_of_problem(problem));
    if (form_problem_contains_text(problem, "Not a well formed URL"))
        return "; write a complete URL with https://, or attachment://NAME for a file of the message";
    if (form_problem_contains_text(problem, "Value \"#") &&
        form_problem_contains_text(problem, "is not int"))
        return "; write a colour as a number, such as 0xFF0000 (16711680)";
    if (form_problem_contains_text(problem, "as string"))
        return "; convert it to a string";
    if (form_problem_contains_text(problem, "Value must be one of (1,") && is_component_type(path))
        return "; put buttons and menus into an action row (type 1)";
    if (form_problem_contains_text(problem, "Should be ISO8601"))
        return "; write a time such as 2026-01-31T12:00:00Z (toISOString, isoformat)";
    return "";
}

struct str find_hint_for_invalid_form_field(struct str body, struct str problem,
                                            struct arena *arena)
{
    struct str path = json_path_of_problem(problem);

    if (!path.n)
        return STR("correct the body or its Content-Type");
    if (form_problem_contains_text(problem, "This field is required"))
        return STR_CONCAT(arena, STR("add the field "), path);
    return STR_CONCAT(arena, STR("correct the field "), path,
                      describe_sent_value(body, problem, arena),
                      str_of(find_advice_for_form_problem(problem, path)));
}
