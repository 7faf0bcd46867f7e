/* archive_import.c - commands of the control socket with which copy-guild imports an archive into a
 * running server. */
#include "server/guildhall_internal.h"

#include <stdio.h>

#include "platform/accounts/placeholders.h"
#include "platform/worlds/import_export.h"

static void write_archive_import_result(enum err e, const struct world_file_import_report *report,
                                        struct buf *out)
{
    if (!e)
        buf_printf(out, "imported %lld\n", (long long)report->transaction_us);
    else if (e == ERR_INVALID_FORM_BODY || e == ERR_INVALID_JSON || e == ERR_STORE_CONFLICT)
        buf_printf(out, "refused\n%.*s", STR_ARGS(report->problems));
    else
        buf_printf(out, "failed\nerror %d of the store\n", (int)e);
}

void control_import_guild_archive_and_reply(void *arg, unsigned uid, struct str folder,
                                            struct buf *out)
{
    const struct guildhall *g = arg;
    struct arena *arena = arena_new();
    const char *path = str_dup_cstring(arena, folder);
    struct world_file_import_options options = {
        .domains = g->hooks.domains ? g->hooks.domains : guildhall_domains,
        .auth = g->auth,
        .password_cost = config_get_password_cost(g->config),
        .files = path,
    };
    struct world_file_import_report report;
    struct str text;
    char name[4200];

    (void)uid;
    snprintf(name, sizeof name, "%s/import.json", path);
    if (map_world_file_into_memory(name, &text)) {
        enum err e = world_file_import(g->store, &options, text, arena, &report);

        write_archive_import_result(e, &report, out);
        unmap_world_file(text);
    } else {
        buf_printf(out, "failed\nthe server may not read '%s'\n", name);
    }
    arena_free(arena);
}

struct requested_claim_code {
    snowflake user_id;
    struct str code;
};

static enum err create_claim_code(struct tx *tx, void *arg)
{
    struct requested_claim_code *r = arg;

    return placeholder_account_create_claim_code(tx, r->user_id, &r->code);
}

/* Writes a new claim code of a placeholder account, or nothing if the account cannot be claimed. */
void control_create_claim_code_and_reply(void *arg, unsigned uid, struct str id, struct buf *out)
{
    const struct guildhall *g = arg;
    struct requested_claim_code r = { 0 };
    struct arena *arena = arena_new();

    (void)uid;
    if (snowflake_parse(id, &r.user_id) &&
        store_run_transaction_and_wait(g->store, STORE_WRITE, arena, create_claim_code, &r) == OK)
        buf_add_str(out, r.code);
    arena_free(arena);
}
