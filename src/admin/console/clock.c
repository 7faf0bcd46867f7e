/* clock.c - time that passes at once, for tests. */
#include "base/clock.h"

#include "admin/console/internal.h"

static const struct type type_any = { .kind = KIND_RAW };
enum { LONGEST_MOVE_S = 400 * 86400 };

struct clock_change {
    int64_t advance_ms;
    bool reset;
};

static const struct type type_advance = { .kind = KIND_INT,
                                          .min = 0,
                                          .max = INT64_C(1000) * LONGEST_MOVE_S };
static const struct type type_reset = { .kind = KIND_BOOL };
static const struct field clock_fields[] = {
    { FIELD(struct clock_change, advance_ms), .type = &type_advance, .flags = OPTIONAL,
      .doc = "Milliseconds that pass at once" },
    { FIELD(struct clock_change, reset), .type = &type_reset, .flags = OPTIONAL,
      .doc = "Back to the machine's time first" },
    { 0 },
};
static const struct schema clock_schema = { .name = "ClockChange",
                                            .size = sizeof(struct clock_change),
                                            .fields = clock_fields };
static const struct type type_clock = { .kind = KIND_OBJECT, .schema = &clock_schema };

static enum err reply_clock(struct call *call)
{
    struct json j = call_reply_json(call);

    json_object(&j);
    json_name(&j, "now");
    json_time(&j, clock_us());
    json_name(&j, "moved_ms");
    json_int(&j, clock_moved() / 1000);
    json_object_end(&j);
    return OK;
}

/* GET /console/clock: what the server takes for now. */
static enum err get_clock(struct call *call)
{
    return reply_clock(call);
}

/* POST /console/clock: lets time pass. */
static enum err move_clock(struct call *call)
{
    const struct clock_change *in = call->body;

    if (in->reset)
        clock_reset();
    clock_advance(in->advance_ms * 1000);
    return reply_clock(call);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/clock",
        .name = "get_clock",
        .doc = "What the server takes for now, and how far that is from the machine's time.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = console_admit,
        .handle = get_clock,
    },
    {
        .method = POST,
        .path = "/console/clock",
        .name = "move_clock",
        .doc = "Lets time pass at once: expiries, time-outs and jobs follow. Of servers with "
               "a workbench.",
        .service = true,
        .body = &type_clock,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = console_admit_controls,
        .handle = move_clock,
    },
    { 0 },
};

const struct domain console_clock_domain = {
    .name = "Workbench: time",
    .doc = "For tests: what the server takes for now. At the root, below /console.",
    .routes = routes,
};
