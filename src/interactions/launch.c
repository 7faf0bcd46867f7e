/* launch.c - launches an activity without asking the app. */
#include "interactions/answers.h"

enum err interaction_launch(struct call *call, struct interaction *it)
{
    struct message_draft draft = { 0 };
    struct response r;
    struct message m;
    enum err e = response_load(call, it, NULL, &r);

    if (e)
        return e;
    draft.content = str_printf(call->arena, "%.*s was started.", STR_FMT(r.application.name));
    e = response_fill(call, &r, &draft);
    struct acknowledgement a = {
        .callback_type = CALLBACK_LAUNCH,
        .response_id = draft.id,
        .ephemeral = draft.ephemeral_for != 0,
    };
    if (!e)
        e = interaction_acknowledge(call, it, &a);
    if (e)
        return e;
    interaction_tell_success(call, it);
    return response_send(call, &draft, &m);
}
