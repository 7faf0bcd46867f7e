/* fuzz_commands.c - fuzzes the parser of application commands. Input: a body. An accepted
 * command is still valid after normalization, is read back as it was stored, and is valid JSON
 * in every form and locale. */
#include "fuzz.h"

#include "commands/internal.h"
#include "json/read.h"
#include "model/fields/rows.h"

static void check_shown(struct arena *a, const struct command *k, struct str kept)
{
    static const struct type *const forms[] = { &type_command, &type_command_plain };
    static const char *const locales[] = { "de", "en-US", "es-419", "" };

    for (size_t i = 0; i < 2; i++)
        FUZZ_CHECK(json_valid(column_encode(a, forms[i], k)));
    for (size_t i = 0; i < 8; i++) {
        struct command *one = (struct command *)column_decode(a, &type_command_kept, kept);

        FUZZ_CHECK(one);
        command_localize(one, str_of(locales[i / 2]), i % 2 ? COMMAND_LISTED : COMMAND_INDEXED);
        FUZZ_CHECK(json_valid(column_encode(a, &type_command, one)));
        if (!(command_locales(k) & locale_reach(str_of(locales[i / 2]))))
            FUZZ_CHECK(str_eq(column_encode(a, &type_command, one),
                              column_encode(a, &type_command_plain, k)));
    }
}

static void check_command(struct arena *a, const struct command_patch *in, snowflake guild_id)
{
    static int64_t in_guilds = INSTALL_GUILD;
    struct command k = command_blank(guild_id);
    struct form form = { .arena = a };

    command_apply(a, &k, in);
    command_tidy(a, &k);
    command_check(&form, NULL, &k);
    FUZZ_CHECK(!form_failed(&form));
    if (!guild_id && k.integration_types.given != GIVEN)
        k.integration_types = (struct opt_list){ GIVEN, { &in_guilds, 1 } };

    struct str kept = column_encode(a, &type_command_kept, &k);
    struct command *read = (struct command *)column_decode(a, &type_command_kept, kept);
    FUZZ_CHECK(read);
    command_tidy(a, read);
    FUZZ_CHECK(str_eq(column_encode(a, &type_command_kept, read), kept));
    check_shown(a, &k, kept);
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
            check_command(a, (const struct command_patch *)list->items + i, guild_id);
    }
    arena_free(a);
}

static void try_change(struct str text)
{
    struct arena *a = arena_new();
    struct form form = { .arena = a };
    struct command k = command_blank(0);
    void *body;

    k.name = k.description = STR("a");
    if (schema_decode(&command_patch_body, text, &form, &body) == OK) {
        command_apply(a, &k, body);
        command_check(&form, NULL, &k);
        if (!form_failed(&form))
            command_tidy(a, &k);
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
