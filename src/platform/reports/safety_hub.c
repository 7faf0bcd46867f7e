/* safety_hub.c - GET /safety-hub/@me: the account standing, which clients show in their settings.
 *
 * This server has no infractions: an operator who does not want an account disables it. So the
 * standing of an account that can call the route is always good. */
#include "model/fields/types.h"
#include "platform/accounts/accounts.h"
#include "platform/reports/internal.h"

enum { STANDING_ALL_GOOD = 100 };

struct account_standing {
    int64_t state;
};
struct safety_hub {
    struct list classifications, guild_classifications, appeal_eligibility; /* always empty */
    const struct account_standing *account_standing;
    bool is_dsa_eligible, is_appeal_eligible;
    struct str username;
};

static const struct field standing_fields[] = {
    { FIELD(struct account_standing, state), .type = &type_count, .doc = "100: in good standing" },
    { 0 },
};
static const struct schema standing_schema = {
    .name = "AccountStanding",
    .size = sizeof(struct account_standing),
    .fields = standing_fields,
    .doc = "The standing of an account.",
};
static const struct type type_standing = { .kind = KIND_OBJECT, .schema = &standing_schema };

static const struct field safety_hub_fields[] = {
    { FIELD(struct safety_hub, classifications), .type = &type_always_empty_list },
    { FIELD(struct safety_hub, guild_classifications), .type = &type_always_empty_list },
    { FIELD(struct safety_hub, account_standing), .type = &type_standing },
    { FIELD(struct safety_hub, is_dsa_eligible), .type = &type_bool, .doc = "Always false" },
    { FIELD(struct safety_hub, is_appeal_eligible), .type = &type_bool, .doc = "Always false" },
    { FIELD(struct safety_hub, username), .type = &type_text },
    { FIELD(struct safety_hub, appeal_eligibility), .type = &type_always_empty_list },
    { 0 },
};
static const struct schema safety_hub_schema = {
    .name = "SafetyHub",
    .size = sizeof(struct safety_hub),
    .fields = safety_hub_fields,
    .doc = "The standing of the caller's account. There are no infractions on this server.",
};
const struct type safety_hub_reply = { .kind = KIND_OBJECT, .schema = &safety_hub_schema };

enum err get_safety_hub(struct call *call)
{
    static const struct account_standing good = { STANDING_ALL_GOOD };
    struct user me;
    enum err e = user_find(call->tx, call->caller->id, &me);

    if (e)
        return e;
    return call_reply_with_object(
        call, &(struct safety_hub){ .account_standing = &good, .username = me.username });
}
