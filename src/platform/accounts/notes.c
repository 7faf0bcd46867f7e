/* notes.c - private notes that a user writes about other users. */
#include "platform/accounts/internal.h"

#include "base/utf8.h"

struct note {
    snowflake user_id, note_user_id;
    struct str note;
};
struct note_change {
    struct opt_str note;
};
struct note_event {
    snowflake id;
    struct str note;
};

enum { LONGEST_NOTE = 256 };

static const struct type type_note = { .kind = KIND_STRING, .max = LONGEST_NOTE };
/* The schema accepts any length, because a note that is too long has its own error code. */
static const struct type type_new_note = { .kind = KIND_STRING,
                                           .max = INT32_MAX,
                                           .doc = "At most 256 characters" };

static const struct field note_fields[] = {
    { FIELD(struct note, user_id), .type = &type_id },
    { FIELD(struct note, note_user_id), .type = &type_id },
    { FIELD(struct note, note), .type = &type_note },
    { 0 },
};
static const struct schema note_schema = {
    .name = "Note",
    .size = sizeof(struct note),
    .fields = note_fields,
    .doc = "The caller's note about a user.",
};
const struct type note_reply = { .kind = KIND_OBJECT, .schema = &note_schema };

static const struct field note_change_fields[] = {
    { FIELD(struct note_change, note), .type = &type_new_note, .flags = OPTIONAL | NULLABLE,
      .doc = "Empty or null removes the note" },
    { 0 },
};
static const struct schema note_change_schema = {
    .name = "NoteChange",
    .size = sizeof(struct note_change),
    .fields = note_change_fields,
    .doc = "The new text of a note.",
};
const struct type note_body = { .kind = KIND_OBJECT, .schema = &note_change_schema };

static const struct field note_event_fields[] = {
    { FIELD(struct note_event, id), .type = &type_id },
    { FIELD(struct note_event, note), .type = &type_note },
    { 0 },
};
static const struct schema note_event_schema = {
    .name = "NoteChanged",
    .size = sizeof(struct note_event),
    .fields = note_event_fields,
    .doc = "A note that changed.",
};

static const char FIND_NOTE[] = "select note from notes where user_id = $1 and target_id = $2";
static const char PUT_NOTE[] = "insert into notes (user_id, target_id, note) values ($1, $2, $3) "
                               "on conflict (user_id, target_id) do update set note = $3";
static const char DELETE_NOTE[] = "delete from notes where user_id = $1 and target_id = $2";

static enum err read_note_text(struct call *call, struct str *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_NOTE,
                        BIND(v_id(call->caller->id), v_id(call->target.user->id)), &row, &found);

    *ret = !e && found ? row_text(&row, 0) : STR("");
    return e;
}

enum err get_note(struct call *call)
{
    struct note out = { .user_id = call->caller->id, .note_user_id = call->target.user->id };
    enum err e = read_note_text(call, &out.note);

    if (e)
        return e;
    return out.note.n ? call_reply_with_object(call, &out) : ERR_UNKNOWN_USER;
}

enum err put_note(struct call *call)
{
    const struct note_change *in = call->body;
    struct note_event event = { call->target.user->id, in->note.value };
    snowflake id = call->caller->id;
    struct str before;

    if (utf8_length(event.note) > LONGEST_NOTE)
        return ERR_NOTE_TOO_LONG;
    enum err e = read_note_text(call, &before);
    if (e || str_eq(before, event.note))
        return e;
    if (event.note.n)
        e = tx_exec(call->tx, PUT_NOTE, BIND(v_id(id), v_id(event.id), v_text(event.note)), NULL);
    else
        e = tx_exec(call->tx, DELETE_NOTE, BIND(v_id(id), v_id(event.id)), NULL);
    if (e)
        return e;
    if (!event.note.p)
        event.note = STR("");
    call_emit_event(call, EVENT_USER_NOTE_UPDATE, audience_of_user(id), &note_event_schema, &event);
    return OK;
}
