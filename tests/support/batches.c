/* batches.c - sends several reads in one loop iteration. */
#include "support/batches.h"

#include "base/mem.h"

const struct sql counter_questions[] = {
    SQL_TEXT("select n + 0 from counter where id = 1"),
    SQL_TEXT("select n + 1 from counter where id = 1"),
    SQL_TEXT("select n + 2 from counter where id = 1"),
    SQL_TEXT("select n + 3 from counter where id = 1"),
};

static struct loops *serve_counter(struct fixture *f, bool shared)
{
    counter_make(f);
    store_close(f->store);
    f->options.readers = 1;
    f->options.serves = true;
    f->options.shared = shared;
    no_error(store_open(&f->options, &f->store));
    return loops_start(1, NULL, NULL);
}

struct loops *batch_serve(struct fixture *f)
{
    return serve_counter(f, true);
}

struct loops *batch_serve_alone(struct fixture *f)
{
    return serve_counter(f, false);
}

enum err ask_some(struct work_item *w, struct tx *tx)
{
    struct asked *a = container_of(w, struct asked, one.work);
    enum err e = OK;

    a->runs++;
    a->on_loop = loop_get_current();
    for (int i = 0; !e && i < a->questions; i++) {
        struct rows r;
        bool found;

        e = tx_one(tx, counter_questions[i], NO_BIND, &r, &found);
        if (!e)
            a->seen[i] = row_int(&r, 0);
    }
    return e;
}

void batch_submit(struct loop *l, void *arg)
{
    struct batch *b = arg;

    for (int i = 0; i < b->count; i++) {
        b->reads[i].one.work.loop = l;
        store_submit_work_item(b->f->store, &b->reads[i].one.work);
    }
}

void batch_ask(struct batch *b, struct loops *loops, int count)
{
    sem_init(&b->finished, 0, 0);
    b->count = count;
    for (int i = 0; i < count; i++)
        b->reads[i] = (struct asked){
            .one = { .work = { .mode = STORE_READ,
                               .is_idempotent = true,
                               .measured = b->measured,
                               .name = b->name,
                               .run = b->run ? b->run : ask_some,
                               .done = note_done,
                               .arena = arena_new() },
                     .finished = &b->finished,
                     .result = ERR_INTERNAL },
            .batch = b,
            .questions = b->questions,
        };
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), batch_submit, b);
    for (int i = 0; i < count; i++)
        wait_for(&b->finished);
    for (int i = 0; i < count; i++)
        arena_free(b->reads[i].one.work.arena);
    sem_destroy(&b->finished);
}

bool batch_was_on_loop(const struct batch *b)
{
    for (int i = 0; i < b->count; i++)
        if (!b->reads[i].on_loop)
            return false;
    return true;
}

void batch_ask_on_loop(struct batch *b, struct loops *loops, int count)
{
    do {
        batch_ask(b, loops, count);
        for (int i = 0; i < count; i++)
            assert_int_equal(b->reads[i].one.result, OK);
    } while (!batch_was_on_loop(b));
}
