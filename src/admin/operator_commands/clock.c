/* clock.c - operator commands that move the server's clock, for tests. */
#include "base/clock.h"

#include "admin/operator_commands/internal.h"

enum { CLOCK_MOVE_MAX_S = 400 * 86400 };

struct clock_change {
    int64_t advance_ms;
    bool reset;
};

static const struct type type_advance = { .kind = KIND_INT,
                                          .min = 0,
                                          .max = INT64_C(1000) * CLOCK_MOVE_MAX_S };
static const struct type type_reset = { .kind = KIND_BOOL };
static const struct field clock_fields[] = {
    { FIELD(struct clock_change, advance_ms), .type = &type_advance, .flags = OPTIONAL,
      .doc = "Milliseconds by which the clock moves forward" },
    { FIELD(struct clock_change, reset), .type = &type_reset, .flags = OPTIONAL,
      .doc = "Set the clock to the machine's time first" },
    { 0 },
};
static const struct schema clock_schema = { .name = "ClockChange",
                                            .size = sizeof(struct clock_change),
                                            .fields = clock_fields };
const struct type operator_clock_type = { .kind = KIND_OBJECT, .schema = &clock_schema };

enum err operator_clock_show(struct call *call, struct running_operator_command *o)
{
    (void)call;
    OPERATOR_ROW(o, v_int(clock_us()), v_int(clock_wall_offset_us() / 1000));
    return OK;
}

enum err operator_test_clock_move(struct call *call, struct running_operator_command *o)
{
    const struct clock_change *in = o->body;

    if (in->reset)
        clock_restore_real_time();
    clock_advance_wall_and_monotonic(in->advance_ms * 1000);
    return operator_clock_show(call, o);
}
