/* drafts.c - prepares command changes before the write transaction.
 *
 * A definition may have a mebibyte, and decoding, checking and encoding it takes tens of
 * milliseconds: too long for the writer. Long definitions are built on the thread pool from rows
 * that a read transaction returned; the write transaction only checks that those rows are
 * unchanged. */
#include "commands/internal.h"

#include "net/http/server.h"
#include "platform/applications/applications.h"

/* Definitions up to this size in bytes are processed inside the transaction, in less than a
 * millisecond. */
enum { SHORT_DRAFTS = 32 * 1024 };

unsigned installs_of(const struct application *a)
{
    unsigned bits = 0;

    for (int t = INSTALL_GUILD; t <= INSTALL_USER; t++)
        if (application_installs(a, (enum integration_type)t))
            bits |= 1u << t;
    return bits;
}

static bool is_long(const struct call *call, const struct list *rows)
{
    const struct command_row *row = rows->items;
    size_t bytes = call->exchange->body.n;

    for (size_t i = 0; i < rows->count; i++)
        bytes += row[i].definition.n;
    return bytes > SHORT_DRAFTS;
}

/* --- before the transaction ----------------------------------------------------------- */

static enum err drafts_compute(struct call *call)
{
    struct command_drafts *d = call_passed(call, "command_drafts");

    d->made = true;
    return d->change->make(call, d);
}

static enum err drafts_look(struct call *call)
{
    struct command_drafts *d = call_passed(call, "command_drafts");
    enum err e = d->change->find(call, true, &d->rows);

    d->made = false;
    d->installs = installs_of(call->target.application);
    call->compute = is_long(call, &d->rows) ? drafts_compute : NULL;
    return e;
}

void drafts_prepare(struct call *call, const struct command_change *change, bool look)
{
    struct command_drafts *d = call_pass(call, "command_drafts", sizeof *d);

    d->change = change;
    if (look || is_long(call, &d->rows))
        call->look = drafts_look;
}

/* --- in the transaction --------------------------------------------------------------- */

static bool same_rows(const struct list *one, const struct list *two)
{
    const struct command_row *a = one->items, *b = two->items;

    if (one->count != two->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (a[i].id != b[i].id || a[i].version != b[i].version)
            return false;
    return true;
}

/* Checks that the rows are unchanged, by their versions: every change of a command gives it a new
 * one. */
static enum err drafts_verify(struct call *call, struct command_drafts *d)
{
    struct list now;
    enum err e = d->change->find(call, false, &now);

    if (e)
        return e;
    if (same_rows(&now, &d->rows) && d->installs == installs_of(call->target.application))
        return OK;
    return call_look_again(call);
}

enum err drafts_settle(struct call *call, struct command_drafts **ret)
{
    struct command_drafts *d = call_passed(call, "command_drafts");

    *ret = d;
    if (d->made)
        return drafts_verify(call, d);
    enum err e = d->change->find(call, true, &d->rows);
    if (e)
        return e;
    /* The commands have become too long for the transaction since the READ stage. */
    if (call->look && is_long(call, &d->rows))
        return call_look_again(call);
    return d->change->make(call, d);
}

enum err draft_finish(struct call *call, struct command_draft *d, const struct place *here)
{
    struct command *k = &d->command;

    if (d->old) {
        k->id = d->old->id;
        k->version = d->old->version;
        if (command_is_kept(call->arena, k, d->old)) {
            d->changed = false;
            d->texts = command_texts_kept(k, d->old);
            return OK;
        }
        k->version = snowflake_new();
    } else {
        k->id = k->version = snowflake_new();
    }
    d->changed = true;
    return command_encode(call->arena, k, &call->form, here, &d->texts);
}
