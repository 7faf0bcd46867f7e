/* schema.c - types that many objects of a world file share. */
#include "platform/worlds/import_export.h"

const struct type type_world_ref = {
    .kind = KIND_STRING, .flags = TYPE_EITHER, .min = 1, .max = 200, .doc = "A name, or an id"
};
const struct type type_world_refs = { .kind = KIND_ARRAY,
                                      .max = WORLD_MANY,
                                      .of = &type_world_ref };
const struct type type_world_permissions = {
    .kind = KIND_RAW, .doc = "Names of permissions, \"ALL\", \"DEFAULT\" or bits"
};
const struct type type_world_content = { .kind = KIND_STRING, .max = 4000 };
const struct type type_world_name = { .kind = KIND_STRING, .min = 1, .max = 100 };

void world_file_check_permissions(struct form *form, const struct json_path *here, const char *name,
                                  const struct opt_str *perms)
{
    struct json_path at = json_path_key(here, str_of(name));
    struct str wrong;
    uint64_t bits;

    if (perms->given == GIVEN && !permission_names_parse(perms->value, form->arena, &bits, &wrong))
        form_add_error(form, &at, "WORLD_NO_RIGHT", "'%.*s' is not a permission.",
                       STR_ARGS(form_shorten_quoted_value(wrong)));
}

void world_file_check_json_kind(struct form *form, const struct json_path *here, const char *name,
                                const struct opt_str *json, enum json_value_kind kind,
                                enum json_value_kind items)
{
    struct json_path at = json_path_key(here, str_of(name));
    struct json_reader r;
    bool fine;

    if (json->given != GIVEN)
        return;
    json_reader_init(&r, json->value, form->arena);
    fine = json_peek_kind(&r) == kind;
    if (fine && kind == JSON_ARRAY) {
        json_enter_container(&r);
        while (json_next_item(&r)) {
            fine &= json_peek_kind(&r) == items;
            json_skip_value(&r, NULL);
        }
    }
    if (!fine)
        form_add_error(form, &at, "WORLD_WRONG_KIND", "Must be %s.",
                       kind == JSON_OBJECT    ? "an object"
                       : items == JSON_OBJECT ? "a list of objects"
                       : items == JSON_NUMBER ? "a list of numbers"
                                              : "a list of strings");
}

void world_file_check_string_list(struct form *form, const struct json_path *here, const char *name,
                                  const struct opt_str *json)
{
    world_file_check_json_kind(form, here, name, json, JSON_ARRAY, JSON_STRING);
}
