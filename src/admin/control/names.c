/* names.c - lines about accounts, with the names that people know them by. */
#include "admin/control/names.h"

#include "json/write.h"

static const char BEGINNING[] = "{\"user_id\":\"";

struct account_naming {
    struct str lines;
    struct buf *out;
};

static enum err find_name(struct tx *tx, struct str id, struct str *ret)
{
    struct rows row;
    snowflake user;
    bool found = false;
    enum err e = snowflake_parse(id, &user) ? tx_one(tx, "select username from users where id = $1",
                                                     BIND(v_id(user)), &row, &found)
                                            : OK;

    *ret = !e && found ? row_text(&row, 0) : STR("");
    return e;
}

static enum err name_lines(struct tx *tx, void *arg)
{
    struct account_naming *n = arg;
    enum err e = OK;

    buf_reset(n->out);
    for (struct str lines = n->lines; lines.n && !e;) {
        struct str line = str_cut(&lines, '\n'), name, id;

        line = str_from(line, sizeof BEGINNING - 1);
        id = str_cut(&line, '"');
        e = find_name(tx, id, &name);
        buf_printf(n->out, "%s%.*s\",\"name\":", BEGINNING, STR_FMT(id));
        struct json j = json_to(n->out);
        json_text(&j, name);
        buf_printf(n->out, "%.*s\n", STR_FMT(line));
    }
    return e;
}

enum err control_name_accounts(struct store *store, struct str lines, struct buf *out)
{
    struct account_naming n = { lines, out };

    return store_run(store, STORE_READ, NULL, name_lines, &n);
}
