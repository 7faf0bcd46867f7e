/* file_rows.c - the rows of `files`, a page at a time. */
#include "store/file_rows.h"

#include "base/mem.h"

enum { PAGE = 256 };

struct file_page {
    snowflake after;
    size_t count;
    struct file_row rows[PAGE];
};

static const char FIND_FILES[] = "select id, name, size, created_at, gone from files where id > $1 "
                                 "order by id limit $2";

static enum err read_page(struct tx *tx, void *arg)
{
    struct file_page *p = arg;
    struct rows r;
    enum err e = tx_query(tx, FIND_FILES, BIND(v_id(p->after), v_int(PAGE)), &r);

    p->count = 0;
    if (e)
        return e;
    while (rows_next(&r))
        p->rows[p->count++] = (struct file_row){
            .id = row_id(&r, 0),
            .name = str_dupz(tx_arena(tx), row_text(&r, 1)),
            .size = row_int(&r, 2),
            .created_at = row_int(&r, 3),
            .gone = row_bool(&r, 4),
        };
    return rows_end(&r);
}

enum err file_rows_each(struct store *s, enum err (*found)(void *arg, const struct file_row *row),
                        void *arg)
{
    struct file_page *p = mem_new(sizeof *p);
    struct arena *arena = arena_new();
    enum err e = OK;

    do {
        arena_reset(arena);
        e = store_run(s, STORE_READ, arena, read_page, p);
        for (size_t i = 0; !e && i < p->count; i++)
            e = found(arg, &p->rows[i]);
        if (p->count)
            p->after = p->rows[p->count - 1].id;
    } while (!e && p->count == PAGE);
    arena_free(arena);
    mem_free(p);
    return e;
}
