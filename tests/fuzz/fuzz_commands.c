/* fuzz_commands.c - fuzzes the parser of application commands. Input: a body. An accepted
 * command is still valid after normalization, is read back as it was stored, and is valid JSON
 * in every form and locale. */
#include "fuzz.h"

#include "commands/internal.h"
#include "json/read.h"
#include "model/fields/rows.h"

static void check_localized_command_json_is_valid(struct arena *a, const struct command *k,
                                                  struct str retained)
{
    static const struct type *const forms[] = { &type_command, &type_command_unlocalized };
    static const char *const locales[] = { "de", "en-US", "es-419", "" };

    for (size_t i = 0; i < 2; i++)
        FUZZ_CHECK(json_is_valid(json_column_encode(a, forms[i], k)));
    for (size_t i = 0; i < 8; i++) {
        struct command *one =
            (struct command *)json_column_decode(a, &type_command_stored, retained);

        FUZZ_CHECK(one);
        command_localize(one, str_of(locales[i / 2]),
                         i % 2 ? COMMAND_FORM_LIST : COMMAND_FORM_INDEX);
        FUZZ_CHECK(json_is_valid(json_column_encode(a, &type_command, one)));
        if (!(command_locale_bits(k) & locale_fallback_bits(str_of(locales[i / 2]))))
            FUZZ_CHECK(str_eq(json_column_encode(a, &type_command, one),
                              json_column_encode(a, &type_command_unlocalized, k)));
    }
}

static void check_command_built_from_patch(struct arena *a, const struct command_patch *in,
                                           snowflake guild_id)
{
    static int64_t in_guilds = INSTALL_GUILD;
    struct command k = new_empty_command(guild_id);
    struct form form = { .arena = a };

    apply_command_patch(a, &k, in);
    normalize_command(a, &k);
    validate_command(&form, NULL, &k);
    FUZZ_CHECK(!form_has_errors(&form));
    if (!guild_id && k.integration_types.given != GIVEN)
        k.integration_types = (struct opt_list){ GIVEN, { &in_guilds, 1 } };

    struct str retained = json_column_encode(a, &type_command_stored, &k);
    struct command *read = (struct command *)json_column_decode(a, &type_command_stored, retained);
    FUZZ_CHECK(read);
    normalize_command(a, read);
    FUZZ_CHECK(str_eq(json_column_encode(a, &type_command_stored, read), retained));
    check_localized_command_json_is_valid(a, &k, retained);
}

static void try_body(const struct type *type, struct str text, snowflake guild_id)
{
    struct arena *a = arena_new();
    struct form form = { .arena = a };
    void *body;

    if (schema_decode(type, text, &form, &body) == OK) {
        const struct list *list = body, one = { body, 1 };

        if (type->kind != KIND_ARRAY)
            list = &one;
        for (size_t i = 0; i < list->count; i++)
            check_command_built_from_patch(a, (const struct command_patch *)list->items + i,
                                           guild_id);
    }
    arena_free(a);
}

static void try_change(struct str text)
{
    struct arena *a = arena_new();
    struct form form = { .arena = a };
    struct command k = new_empty_command(0);
    void *body;

    k.name = k.description = STR("a");
    if (schema_decode(&command_patch_body, text, &form, &body) == OK) {
        apply_command_patch(a, &k, body);
        validate_command(&form, NULL, &k);
        if (!form_has_errors(&form))
            normalize_command(a, &k);
    }
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_slice((const char *)data, size);

    try_body(&command_body, text, 0);
    try_body(&guild_command_body, text, 5);
    try_body(&commands_body, text, 0);
    try_body(&guild_commands_body, text, 5);
    try_change(text);
    return 0;
}
