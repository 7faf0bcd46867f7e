/* join_requests.c - who asks to join a guild. Guilds have no form to fill in here, so nobody does:
 * clients that look for requests, or for a page for newcomers, find none. */
#include "platform/members/internal.h"

struct join_requests_query {
    struct opt_str status;
    struct opt_id before, after;
    int64_t limit;
};
struct join_requests {
    struct list guild_join_requests; /* always empty */
    int64_t total;
};

static const struct choice statuses[] = {
    { 0, "STARTED", "STARTED", "Not handed in" },
    { 0, "SUBMITTED", "SUBMITTED", "To be looked at" },
    { 0, "REJECTED", "REJECTED", "Refused" },
    { 0, "APPROVED", "APPROVED", "Let in" },
    { 0 },
};
static const struct type type_status = { .kind = KIND_STRING, .choices = statuses };
static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field query_fields[] = {
    { FIELD(struct join_requests_query, status), .type = &type_status, .flags = OPTIONAL },
    { FIELD(struct join_requests_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct join_requests_query, after), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct join_requests_query, limit), .type = &type_limit, .flags = OPTIONAL,
      .fallback = 100 },
    { 0 },
};
const struct schema join_requests_query = {
    .name = "JoinRequestsQuery",
    .size = sizeof(struct join_requests_query),
    .fields = query_fields,
    .doc = "Which requests.",
};
static const struct field requests_fields[] = {
    { FIELD(struct join_requests, guild_join_requests), .type = &type_none },
    { FIELD(struct join_requests, total), .type = &type_count },
    { 0 },
};
static const struct schema requests_schema = {
    .name = "JoinRequests",
    .size = sizeof(struct join_requests),
    .fields = requests_fields,
    .doc = "Who asks to join.",
};
const struct type join_requests_reply = { .kind = KIND_OBJECT, .schema = &requests_schema };

/* GET /guilds/{guild.id}/requests */
enum err list_join_requests(struct call *call)
{
    return call_reply(call, &(struct join_requests){ 0 });
}

/* GET /guilds/{guild.id}/new-member-welcome: 204, as nothing is set. */
enum err get_new_member_welcome(struct call *call)
{
    (void)call;
    return OK;
}
