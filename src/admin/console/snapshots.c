/* snapshots.c - the world kept by name and brought back, by a click. */
#include "store/backup/snapshots.h"

#include "admin/console/internal.h"

/* Each of these calls reads or writes the whole world. */
static const struct limit limit_snapshots = {
    .name = "console snapshots", .count = 10, .window_s = 10, .by_address = true
};
static const struct type type_any = { .kind = KIND_RAW };
static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 64 };

struct snapshot_order {
    struct str name;
};
static const struct field order_fields[] = {
    { FIELD(struct snapshot_order, name), .type = &type_name,
      .doc = "Letters, digits, dashes, dots and underscores" },
    { 0 },
};
static const struct schema order_schema = { .name = "SnapshotOrder",
                                            .size = sizeof(struct snapshot_order),
                                            .fields = order_fields };
static const struct type type_order = { .kind = KIND_OBJECT, .schema = &order_schema };

/* What the pool found out for the handler. */
struct snapshot_answer {
    struct str words; /* "error: …": why not */
};

static struct str data_folder(const struct call *call)
{
    return str_of(api_options(call->api)->data);
}

static void write_snapshot(void *arg, const struct snapshot *s)
{
    struct json *j = arg;

    json_object(j);
    json_name(j, "name");
    json_text(j, s->name);
    json_name(j, "bytes");
    json_int(j, s->bytes);
    json_name(j, "made_at");
    json_time(j, s->made_at_us);
    json_object_end(j);
}

static enum err read_snapshots(struct call *call)
{
    struct snapshot_answer *a = call_pass(call, "snapshot_answer", sizeof *a);
    struct buf out;
    struct json j = json_to(&out);
    int tried, restored;

    buf_init(&out, CALL_MAX_REPLY);
    snapshot_count(&tried, &restored);
    json_object(&j);
    json_name(&j, "tried");
    json_int(&j, tried);
    json_name(&j, "restored");
    json_int(&j, restored);
    json_name(&j, "snapshots");
    json_array(&j);
    snapshot_each(data_folder(call).p, write_snapshot, &j);
    json_array_end(&j);
    json_object_end(&j);
    a->words = buf_take(&out, call->arena);
    return OK;
}

static enum err prepare_list_snapshots(struct call *call)
{
    call->compute = read_snapshots;
    return console_admit(call);
}

/* GET /console/snapshots */
static enum err list_snapshots(struct call *call)
{
    const struct snapshot_answer *a = call_passed(call, "snapshot_answer");

    call_reply_json(call);
    buf_add_str(&call->reply, a->words);
    return OK;
}

/* Does one of the store's, and keeps its words; the pool does it, because it takes as long as the
 * world is large. */
static enum err order_snapshot(struct call *call, struct str name,
                               void (*order)(struct store *, const char *, struct str,
                                             struct buf *))
{
    struct snapshot_answer *a = call_pass(call, "snapshot_answer", sizeof *a);
    struct buf out;

    buf_init(&out, 4096);
    order(api_options(call->api)->store, data_folder(call).p, name, &out);
    a->words = buf_take(&out, call->arena);
    return OK;
}

static enum err keep_snapshot(struct call *call)
{
    return order_snapshot(call, ((const struct snapshot_order *)call->body)->name, snapshot_make);
}

static enum err bring_snapshot_back(struct call *call)
{
    return order_snapshot(call, call_text(call, "snapshot.name"), snapshot_ask_back);
}

static void drop_of_store(struct store *store, const char *folder, struct str name, struct buf *out)
{
    (void)store;
    snapshot_drop(folder, name, out);
}

static enum err drop_snapshot(struct call *call)
{
    return order_snapshot(call, call_text(call, "snapshot.name"), drop_of_store);
}

/* The order is given here: before the handler's own admit the pool would do it for anybody. */
static enum err prepare_controls(struct call *call, enum err (*compute)(struct call *call))
{
    call->compute = compute;
    return console_admit_controls(call);
}

static enum err prepare_keep_snapshot(struct call *call)
{
    return prepare_controls(call, keep_snapshot);
}

static enum err prepare_restore_snapshot(struct call *call)
{
    return prepare_controls(call, bring_snapshot_back);
}

static enum err prepare_delete_snapshot(struct call *call)
{
    return prepare_controls(call, drop_snapshot);
}

/* Refused with the sentence that the command line would print. */
static enum err snapshot_outcome(struct call *call)
{
    const struct snapshot_answer *a = call_passed(call, "snapshot_answer");

    if (!str_starts(a->words, STR("error: ")))
        return OK;
    struct str words = str_from(a->words, 7);
    if (words.n && words.p[words.n - 1] == '\n')
        words.n--;
    return call_invalid(call, "name", FORM_CHOICES, str_dupz(call->arena, words));
}

/* POST /console/snapshots: keeps the world as it is. */
static enum err create_snapshot(struct call *call)
{
    return snapshot_outcome(call);
}

/* POST /console/snapshots/{snapshot.name}/restore: brings it back; the server starts anew. */
static enum err restore_snapshot(struct call *call)
{
    return snapshot_outcome(call);
}

/* DELETE /console/snapshots/{snapshot.name} */
static enum err delete_snapshot(struct call *call)
{
    return snapshot_outcome(call);
}

static const struct resolver resolvers[] = {
    { .name = "snapshot.name", .field = "name", .is_text = true, .doc = "The snapshot's name." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/snapshots",
        .name = "list_snapshots",
        .doc = "Worlds that are kept by name, and how often one was to be brought back and was.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .prepare = prepare_list_snapshots,
        .admit = console_admit,
        .handle = list_snapshots,
    },
    {
        .method = POST,
        .path = "/console/snapshots",
        .name = "create_snapshot",
        .doc = "Keeps the world as it is: rows, files and keys. Of servers with a workbench "
               "whose rows are in SQLite.",
        .service = true,
        .body = &type_order,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_snapshots,
        .prepare = prepare_keep_snapshot,
        .admit = console_admit_controls,
        .handle = create_snapshot,
    },
    {
        .method = POST,
        .path = "/console/snapshots/{snapshot.name}/restore",
        .name = "restore_snapshot",
        .doc = "Brings a world back. What is there is kept as before-restore, and the server "
               "starts anew on the same port: sessions identify again. Of servers with a "
               "workbench.",
        .service = true,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_snapshots,
        .prepare = prepare_restore_snapshot,
        .admit = console_admit_controls,
        .handle = restore_snapshot,
    },
    {
        .method = DELETE,
        .path = "/console/snapshots/{snapshot.name}",
        .name = "delete_snapshot",
        .doc = "Forgets a snapshot. Of servers with a workbench.",
        .service = true,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_snapshots,
        .prepare = prepare_delete_snapshot,
        .admit = console_admit_controls,
        .handle = delete_snapshot,
    },
    { 0 },
};

const struct domain console_snapshots_domain = {
    .name = "Workbench: snapshots",
    .doc = "For tests: the world kept by name, and back. At the root, below /console.",
    .routes = routes,
    .resolvers = resolvers,
};
