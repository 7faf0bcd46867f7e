/* announcements.c - the operator's announcement to everybody: SQL and route. */
#include "platform/instance/internal.h"

#include "base/clock.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"

static const char READ_ANNOUNCEMENT[] = "select id, content, expires_at from announcements "
                                        "where expires_at > $1 order by id desc limit 1";

enum err operator_announcement_read(struct tx *tx, struct operator_announcement *ret)
{
    struct rows row;
    enum err e = tx_one_or(tx, READ_ANNOUNCEMENT, BIND(v_int(clock_us())), ERR_NOT_FOUND, &row);

    if (!e)
        *ret =
            (struct operator_announcement){ row_id(&row, 0), row_text(&row, 1), row_int(&row, 2) };
    return e;
}

enum err operator_announcement_delete(struct tx *tx)
{
    return tx_exec(tx, "delete from announcements", NO_BIND, NULL);
}

static const char INSERT_ANNOUNCEMENT[] =
    "insert into announcements (id, content, expires_at) values ($1, $2, $3)";

enum err operator_announcement_replace(struct tx *tx, const struct operator_announcement *a)
{
    enum err e = operator_announcement_delete(tx);

    return e ? e
             : tx_exec(tx, INSERT_ANNOUNCEMENT,
                       BIND(v_id(a->id), v_text(a->content), v_int(a->expires_at)), NULL);
}

/* --- route ---------------------------------------------------------------------------- */

static const struct field announcement_fields[] = {
    { FIELD(struct operator_announcement, id), .type = &type_id },
    { FIELD(struct operator_announcement, content), .type = &type_text },
    { FIELD(struct operator_announcement, expires_at), .type = &type_time },
    { 0 },
};
static const struct schema announcement_schema = { .name = "Announcement",
                                                   .size = sizeof(struct operator_announcement),
                                                   .fields = announcement_fields };
static const struct type type_announcement = { .kind = KIND_OBJECT,
                                               .schema = &announcement_schema };

struct current_announcement {
    const struct operator_announcement *announcement;
};
static const struct field current_fields[] = {
    { FIELD(struct current_announcement, announcement), .type = &type_announcement,
      .flags = NULLABLE, .doc = "null if there is none" },
    { 0 },
};
static const struct schema current_schema = { .name = "CurrentAnnouncement",
                                              .size = sizeof(struct current_announcement),
                                              .fields = current_fields };
const struct type current_announcement_type = { .kind = KIND_OBJECT, .schema = &current_schema };

enum err get_announcement(struct call *call)
{
    struct operator_announcement a;
    enum err e = operator_announcement_read(call->tx, &a);

    if (e && e != ERR_NOT_FOUND)
        return e;
    return call_reply_with_object(call, &(struct current_announcement){ e ? NULL : &a });
}
