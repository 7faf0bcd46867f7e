/* changes.c - PATCH and DELETE /channels/{channel.id} for threads. The creator may change a thread
 * that is not locked; MANAGE_THREADS allows all changes. */
#include "platform/threads/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/deletion.h"

/* --- the audit log -------------------------------------------------------------------- */

static struct str int_text(struct call *call, int64_t v)
{
    return str_printf(call->arena, "%lld", (long long)v);
}

static struct str bool_text(bool v)
{
    return v ? STR("true") : STR("false");
}

struct list thread_changes(struct call *call, const struct channel *before,
                           const struct channel *now)
{
    const struct thread_metadata *t = now->thread_metadata,
                                 *o = before ? before->thread_metadata : NULL;
    struct list out = { 0 };
    struct str none = { 0 };
#define WAS(text) (before ? (text) : none)
    audit_add_change(call, &out, "name",
                     WAS(column_encode(call->arena, &type_text, &before->name.value)),
                     column_encode(call->arena, &type_text, &now->name.value));
    audit_add_change(call, &out, "type", WAS(int_text(call, before->type)),
                     int_text(call, now->type));
    audit_add_change(call, &out, "archived", WAS(bool_text(o->archived)), bool_text(t->archived));
    audit_add_change(call, &out, "locked", WAS(bool_text(o->locked)), bool_text(t->locked));
    if (now->type == CHANNEL_PRIVATE_THREAD)
        audit_add_change(call, &out, "invitable", WAS(bool_text(o->invitable.value)),
                         bool_text(t->invitable.value));
    audit_add_change(call, &out, "auto_archive_duration",
                     WAS(int_text(call, o->auto_archive_duration)),
                     int_text(call, t->auto_archive_duration));
    audit_add_change(call, &out, "rate_limit_per_user",
                     WAS(int_text(call, before->rate_limit_per_user.value)),
                     int_text(call, now->rate_limit_per_user.value));
    audit_add_change(call, &out, "flags", WAS(int_text(call, before->flags)),
                     int_text(call, now->flags));
    if (now->applied_tags.value.count || (before && before->applied_tags.value.count))
        audit_add_change(call, &out, "applied_tags",
                         WAS(column_encode(call->arena, &type_ids, &before->applied_tags.value)),
                         column_encode(call->arena, &type_ids, &now->applied_tags.value));
#undef WAS
    return out;
}

/* --- permissions ---------------------------------------------------------------------- */

static bool may_manage(const struct call *call)
{
    return call->target.rights & PERMISSION(MANAGE_THREADS);
}

static bool may_wake(const struct call *call, const struct channel *c)
{
    const struct thread_metadata *t = c->thread_metadata;

    return t->archived && !t->locked && call->target.rights & PERMISSION(SEND_MESSAGES);
}

static bool is_own(const struct call *call, const struct channel *c)
{
    return c->owner_id.value == call->caller->id && !c->thread_metadata->locked;
}

enum err admit_modify_thread(struct call *call, const struct channel *c)
{
    return may_manage(call) || is_own(call, c) || may_wake(call, c)
               ? OK
               : call_lacks(call, PERMISSION(MANAGE_THREADS));
}

/* Checks the permission for each field of the body. */
static enum err allow_fields(const struct call *call, const struct channel *c,
                             const struct channel_edit *in)
{
    bool wakes = in->archived.given == GIVEN && !in->archived.value;
    bool other = in->name.given != ABSENT || in->auto_archive_duration.given != ABSENT ||
                 in->invitable.given != ABSENT || in->applied_tags.given != ABSENT ||
                 (in->archived.given == GIVEN && in->archived.value);

    if (may_manage(call))
        return OK;
    if (in->locked.given != ABSENT || in->rate_limit_per_user.given != ABSENT ||
        (in->flags.given == GIVEN && (in->flags.value ^ c->flags) & CHANNEL_PINNED))
        return call_lacks(call, PERMISSION(MANAGE_THREADS));
    if (other && !is_own(call, c))
        return call_lacks(call, PERMISSION(MANAGE_THREADS));
    return wakes && c->thread_metadata->archived && !may_wake(call, c)
               ? call_lacks(call, PERMISSION(MANAGE_THREADS))
               : OK;
}

/* Refuses changes of an archived thread, except of its lock. */
static enum err check_state(const struct channel *c, const struct channel_edit *in)
{
    bool stays =
        c->thread_metadata->archived && !(in->archived.given == GIVEN && !in->archived.value);
    bool other = in->name.given != ABSENT || in->auto_archive_duration.given != ABSENT ||
                 in->invitable.given != ABSENT || in->applied_tags.given != ABSENT ||
                 in->rate_limit_per_user.given != ABSENT || in->flags.given != ABSENT;

    return stays && other ? ERR_THREAD_ARCHIVED : OK;
}

/* --- applying the change -------------------------------------------------------------- */

static const char OTHER_PINNED[] =
    "select 1 from channels where guild_id = $1 and thread_archived = 0 and +parent_id = $2 and "
    "id <> $3 and flags % 4 >= 2 limit 1";

/* A forum has at most one pinned post. */
static enum err set_pinned(struct call *call, const struct channel_edit *in, struct channel *c,
                           const struct channel *parent)
{
    bool pin = in->flags.value & CHANNEL_PINNED;
    struct rows row;
    bool found = false;
    enum err e = OK;

    if (in->flags.given != GIVEN || !channel_holds_posts(parent->type) ||
        pin == !!(c->flags & CHANNEL_PINNED))
        return OK;
    if (pin)
        e = tx_one(call->tx, OTHER_PINNED,
                   BIND(v_id(c->guild_id.value), v_id(parent->id), v_id(c->id)), &row, &found);
    if (!e && found)
        e = ERR_MAX_PINNED_POSTS;
    c->flags = pin ? c->flags | CHANNEL_PINNED : c->flags & ~(int64_t)CHANNEL_PINNED;
    return e;
}

static enum err set_tags(struct call *call, const struct channel_edit *in, struct channel *c,
                         const struct channel *parent)
{
    if (in->applied_tags.given == ABSENT || !channel_holds_posts(parent->type))
        return OK;
    enum err e = tags_permit(call, parent, &in->applied_tags.value, &c->applied_tags.value,
                             call->target.rights);
    if (!e)
        e = tags_require(parent, &in->applied_tags.value, call->target.rights);
    c->applied_tags = (struct opt_list){ GIVEN, in->applied_tags.value };
    return e;
}

static enum err set_archived(struct call *call, const struct channel_edit *in, struct channel *c,
                             struct thread_metadata *t)
{
    bool longer = in->auto_archive_duration.given == GIVEN &&
                  in->auto_archive_duration.value != t->auto_archive_duration;

    if (in->auto_archive_duration.given == GIVEN)
        t->auto_archive_duration = in->auto_archive_duration.value;
    if (longer)
        t->archive_timestamp = clock_us();
    if (in->archived.given != GIVEN || in->archived.value == t->archived)
        return OK;
    t->archived = in->archived.value;
    t->archive_timestamp = clock_us();
    if (!t->archived)
        return thread_check_room(call->tx, c->guild_id.value);
    c->flags &= ~(int64_t)CHANNEL_PINNED;
    return OK;
}

static enum err apply_edit(struct call *call, const struct channel_edit *in, struct channel *c,
                           struct thread_metadata *t)
{
    struct channel parent;
    enum err e = channel_find(call->tx, c->parent_id.value, &parent);

    if (e)
        return e;
    if (in->name.given == GIVEN)
        c->name = in->name;
    if (in->rate_limit_per_user.given != ABSENT)
        c->rate_limit_per_user = in->rate_limit_per_user;
    if (in->locked.given == GIVEN)
        t->locked = in->locked.value;
    if (in->invitable.given == GIVEN && c->type == CHANNEL_PRIVATE_THREAD)
        t->invitable = in->invitable;
    e = set_pinned(call, in, c, &parent);
    if (!e)
        e = set_tags(call, in, c, &parent);
    return e ? e : set_archived(call, in, c, t);
}

/* Emits the events of an edit. */
static enum err tell_edit(struct call *call, const struct channel *before, const struct channel *c)
{
    bool woken = before->thread_metadata->archived && !c->thread_metadata->archived;
    enum err e = OK;

    call_emit(call, EVENT_THREAD_UPDATE, to_channel_viewers(c), &channel_schema, c);
    if (woken)
        e = tell_members(call, c);
    if (!e && !str_eq(before->name.value, c->name.value))
        e = message_system(call, c, MESSAGE_CHANNEL_NAME_CHANGE, call->caller->id, 0,
                           c->name.value);
    return e;
}

enum err modify_thread(struct call *call, const struct channel *thread)
{
    const struct channel_edit *in = call->body;
    struct channel c = *thread;
    struct thread_metadata t = *c.thread_metadata;

    if (in->name.given == GIVEN_NULL)
        return call_invalid(call, "name", FORM_REQUIRED);
    enum err e = allow_fields(call, thread, in);
    if (!e)
        e = check_state(thread, in);
    c.thread_metadata = &t;
    if (!e)
        e = apply_edit(call, in, &c, &t);
    if (!e)
        e = channel_save(call->tx, &c);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (!e && !t.archived)
        e = thread_watch(call, &c);
    if (!e)
        e = audit_with(call, c.guild_id.value, AUDIT_THREAD_UPDATE, c.id, NULL,
                       thread_changes(call, thread, &c));
    if (!e)
        e = tell_edit(call, thread, &c);
    if (!e)
        e = thread_load_own(call->tx, call->caller->id, &c);
    return e ? e : call_reply(call, &c);
}

/* Clears the thread flag of the message that the thread was started from. */
static enum err forget_in_message(struct call *call, const struct channel *c)
{
    struct channel parent;
    struct message m;
    enum err e = channel_find(call->tx, c->parent_id.value, &parent);

    if (!e)
        e = message_find(call, parent.id, c->id, &m);
    if (!e && m.flags & MESSAGE_HAS_THREAD)
        e = message_show_thread(call, &parent, &m, false);
    return e == ERR_UNKNOWN_MESSAGE || e == ERR_UNKNOWN_CHANNEL ? OK : e;
}

enum err delete_thread(struct call *call, const struct channel *c)
{
    if (!may_manage(call))
        return call_lacks(call, PERMISSION(MANAGE_THREADS));
    /* Emit before the deletion, which removes the thread members who receive the event. */
    emit_thread_gone(call, c);
    enum err e = channel_remove(call, c->id);
    if (!e)
        e = forget_in_message(call, c);
    if (!e)
        e = audit_with(call, c->guild_id.value, AUDIT_THREAD_DELETE, c->id, NULL,
                       thread_changes(call, NULL, c));
    return e ? e : call_reply(call, c);
}
