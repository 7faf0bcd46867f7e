/* launch.c - launches an activity without sending the interaction to the app. */
#include "interactions/responses.h"

enum err launch_activity_of_entry_point_command(struct call *call, struct interaction *it)
{
    struct new_message draft = { 0 };
    struct interaction_response_context r;
    struct message m;
    enum err e = read_interaction_response_context(call, it, NULL, &r);

    if (e)
        return e;
    draft.content = str_printf(call->arena, "%.*s was started.", STR_ARGS(r.application.name));
    e = complete_interaction_response_message(call, &r, &draft);
    struct interaction_acknowledgement a = {
        .callback_type = CALLBACK_LAUNCH,
        .response_id = draft.id,
        .ephemeral = draft.ephemeral_for != 0,
    };
    if (!e)
        e = acknowledge_interaction(call, it, &a);
    if (e)
        return e;
    emit_interaction_success(call, it);
    return create_interaction_response_message(call, &draft, &m);
}
