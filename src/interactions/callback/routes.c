/* routes.c - routes of callbacks and follow-ups. */
#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "interactions/responses.h"

static const struct path_resolver resolvers[] = {
    {
        .name = "interaction.id",
        .field = "interaction_id",
        .major = true,
        .doc = "An interaction.",
    },
    {
        .name = "interaction.callback.token",
        .field = "interaction_token",
        .is_text = true,
        .doc = "The interaction's token.",
        .resolve = resolve_interaction_callback_token,
    },
    {
        .name = "interaction.application.id",
        .field = "application_id",
        .doc = "The app of the interaction.",
    },
    {
        .name = "interaction.token",
        .field = "interaction_token",
        .is_text = true,
        .prefix = "aW50ZXJhY3Rpb246", /* base64 of "interaction:" */
        .major = true,
        .doc = "The token of an interaction that was acknowledged, for 15 minutes.",
        .resolve = resolve_interaction_follow_up_token,
    },
    {
        .name = "response.message.id",
        .field = "message_id",
        .is_text = true,
        .doc = "A message that responds to the interaction; @original: the first one.",
        .resolve = resolve_interaction_response_message,
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/interactions/{interaction.id}/{interaction.callback.token}/callback",
        .name = "create_interaction_response",
        .doc = "Respond to an interaction, within 3 seconds.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .query = &callback_query,
        .body = &callback_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &callback_reply,
        .fires = (const enum event[]){ EVENT_INTERACTION_SUCCESS, EVENT_INTERACTION_MODAL_CREATE,
                                       EVENT_APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE,
                                       EVENT_MESSAGE_CREATE, EVENT_MESSAGE_UPDATE,
                                       EVENT_CHANNEL_CREATE, THREAD_MESSAGE_EVENTS, 0 },
        .prepare = prepare_interaction_callback,
        .admit = check_can_acknowledge_interaction,
        .handle = create_interaction_response,
    },
    {
        .method = POST,
        .path = "/webhooks/{interaction.application.id}/{interaction.token}",
        .name = "create_follow_up",
        .doc = "Send a follow-up message; after a deferred response, the response itself.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .body = &follow_up_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &type_message,
        .fires = (const enum event[]){ EVENT_MESSAGE_CREATE, EVENT_MESSAGE_UPDATE,
                                       EVENT_CHANNEL_CREATE, THREAD_MESSAGE_EVENTS, 0 },
        .prepare = prepare_follow_up_message,
        .handle = create_follow_up,
    },
    {
        .method = GET,
        .path = "/webhooks/{interaction.application.id}/{interaction.token}/messages/"
                "{response.message.id}",
        .name = "get_response_message",
        .doc = "A message that responds to an interaction.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .reply = &type_message,
        .handle = get_response_message,
    },
    {
        .method = PATCH,
        .path = "/webhooks/{interaction.application.id}/{interaction.token}/messages/"
                "{response.message.id}",
        .name = "edit_response_message",
        .doc = "Edit a message that responds to an interaction.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .body = &message_edit_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &type_message,
        .fires = (const enum event[]){ EVENT_MESSAGE_UPDATE, 0 },
        .prepare = prepare_edit_interaction_response,
        .handle = edit_response_message,
    },
    {
        .method = DELETE,
        .path = "/webhooks/{interaction.application.id}/{interaction.token}/messages/"
                "{response.message.id}",
        .name = "delete_response_message",
        .doc = "Delete a message that responds to an interaction.",
        .auth = AUTH_OPEN,
        .no_global_limit = true,
        .fires = (const enum event[]){ EVENT_MESSAGE_DELETE, 0 },
        .handle = delete_response_message,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &ephemeral_deletion_job, NULL };

const struct domain callbacks_domain = {
    .name = "Interaction responses",
    .doc = "Responses of apps to interactions.",
    .routes = routes,
    .resolvers = resolvers,
    .jobs = jobs,
    .hooks = &(const struct hook_listeners){ .call_refused = explain_interaction_refusal },
};
