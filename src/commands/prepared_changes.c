/* prepared_changes.c - prepares command changes before the write transaction. A definition may have
 * a mebibyte. Decoding, checking and encoding it takes tens of milliseconds, which is too long for
 * a write transaction. The thread pool builds long definitions from rows that a read transaction
 * returned; the write transaction only checks that those rows are unchanged. */
#include "commands/internal.h"

#include "net/http/server.h"
#include "platform/applications/applications.h"

/* Maximum size in bytes of definitions that are processed inside the write transaction, in less
 * than a millisecond. */
enum { SHORT_DRAFTS = 32 * 1024 };

unsigned application_get_install_types(const struct application *a)
{
    unsigned bits = 0;

    for (int t = INSTALL_GUILD; t <= INSTALL_USER; t++)
        if (application_can_be_installed(a, (enum integration_type)t))
            bits |= 1u << t;
    return bits;
}

static bool command_drafts_are_large(const struct call *call, const struct list *rows)
{
    const struct command_row *row = rows->items;
    size_t bytes = call->exchange->body.n;

    for (size_t i = 0; i < rows->count; i++)
        bytes += row[i].definition.n;
    return bytes > SHORT_DRAFTS;
}

/* --- before the transaction ----------------------------------------------------------- */

static enum err compute_command_drafts(struct call *call)
{
    struct prepared_command_change *d = call_get_stage_data(call, "prepared_command_change");

    d->made = true;
    return d->change->make(call, d);
}

static enum err read_rows_for_command_drafts(struct call *call)
{
    struct prepared_command_change *d = call_get_stage_data(call, "prepared_command_change");
    enum err e = d->change->find(call, true, &d->rows);

    d->made = false;
    d->installs = application_get_install_types(call->target.application);
    call->compute = command_drafts_are_large(call, &d->rows) ? compute_command_drafts : NULL;
    return e;
}

void prepare_command_change(struct call *call, const struct command_change_callbacks *change,
                            bool read_first)
{
    struct prepared_command_change *d =
        call_store_stage_data(call, "prepared_command_change", sizeof *d);

    d->change = change;
    if (read_first || command_drafts_are_large(call, &d->rows))
        call->read = read_rows_for_command_drafts;
}

/* --- in the transaction --------------------------------------------------------------- */

static bool command_row_versions_are_equal(const struct list *one, const struct list *two)
{
    const struct command_row *a = one->items, *b = two->items;

    if (one->count != two->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (a[i].id != b[i].id || a[i].version != b[i].version)
            return false;
    return true;
}

/* Checks that the rows are unchanged by comparing their versions. Every change of a command gives
 * it a new version. */
static enum err verify_command_draft_rows(struct call *call, struct prepared_command_change *d)
{
    struct list now;
    enum err e = d->change->find(call, false, &now);

    if (e)
        return e;
    if (command_row_versions_are_equal(&now, &d->rows) &&
        d->installs == application_get_install_types(call->target.application))
        return OK;
    return call_restart_at_read_stage(call);
}

enum err finish_preparing_command_change(struct call *call, struct prepared_command_change **ret)
{
    struct prepared_command_change *d = call_get_stage_data(call, "prepared_command_change");

    *ret = d;
    if (d->made)
        return verify_command_draft_rows(call, d);
    enum err e = d->change->find(call, true, &d->rows);
    if (e)
        return e;
    /* Since the READ stage, another call may have made the stored commands too long for here. */
    if (call->read && command_drafts_are_large(call, &d->rows))
        return call_restart_at_read_stage(call);
    return d->change->make(call, d);
}

enum err prepared_command_set_id_and_encode(struct call *call, struct prepared_command *d,
                                            const struct json_path *here)
{
    struct command *k = &d->command;

    if (d->old) {
        k->id = d->old->id;
        k->version = d->old->version;
        if (command_equals_row(call->arena, k, d->old)) {
            d->changed = false;
            d->texts = encoded_command_from_row(k, d->old);
            return OK;
        }
        k->version = snowflake_new();
    } else {
        k->id = k->version = snowflake_new();
    }
    d->changed = true;
    return encode_command(call->arena, k, &call->form, here, &d->texts);
}
