/* domains.c - the list of all resource folders (struct domain: routes, hooks, jobs). */
#include "commands/commands.h"
#include "gateway_source/gateway_source.h"
#include "gifs/gifs.h"
#include "server/guildhall.h"
#include "integrations/integrations.h"
#include "interactions/interactions.h"
#include "platform/accounts/accounts.h"
#include "platform/applications/applications.h"
#include "platform/automod/automod.h"
#include "platform/channels/channels.h"
#include "platform/contacts/contacts.h"
#include "platform/discovery/discovery.h"
#include "platform/emojis/emojis.h"
#include "platform/entitlements/entitlements.h"
#include "platform/exports/exports.h"
#include "platform/guild_settings/guild_settings.h"
#include "platform/guilds/guilds.h"
#include "platform/instance/instance.h"
#include "platform/insights/insights.h"
#include "platform/invites/invites.h"
#include "platform/join_requests/join_requests.h"
#include "platform/members/members.h"
#include "platform/messages/messages.h"
#include "platform/announcement_channels/announcement_channels.h"
#include "platform/oauth2/oauth2.h"
#include "platform/onboarding/onboarding.h"
#include "platform/reactions/reactions.h"
#include "platform/read_states/read_states.h"
#include "platform/relationships/friends.h"
#include "platform/relationships/relationships.h"
#include "platform/reports/reports.h"
#include "platform/saved_messages/saved_messages.h"
#include "platform/stickers/stickers.h"
#include "platform/scheduled_events/scheduled_events.h"
#include "platform/search/search.h"
#include "platform/sounds/sounds.h"
#include "platform/teams/teams.h"
#include "platform/templates/templates.h"
#include "platform/threads/threads.h"
#include "platform/votes/votes.h"
#include "platform/webhooks/webhooks.h"
#include "platform/web_push/web_push.h"
#include "platform/widgets/widgets.h"
#include "voice/states.h"
#include "voice/voice.h"
#include "admin/console/workbench.h"

/* Hooks and deletion rules run in the order of this list; docs/reference.md has the same order. */
/* clang-format off */
const struct domain *const guildhall_domains[] = {
    &access_domain,
    &accounts_domain,
    &mail_domain,
    &mfa_domain,
    &webauthn_domain,
    &remote_auth_domain,
    &current_user_domain,
    &settings_proto_domain,
    &profiles_domain,
    &guilds_domain,
    &guild_mfa_domain,
    &roles_domain,
    &templates_domain,
    &onboarding_domain,
    &welcome_domain,
    &widgets_domain,
    &members_domain,
    &bans_domain,
    &join_requests_domain,
    &discovery_domain,
    &emojis_domain,
    &stickers_domain,
    &invites_domain,
    &channels_domain,
    &private_channels_domain,
    &threads_domain,
    &stages_domain,
    &messages_domain,
    &reports_domain,
    &saved_messages_domain,
    &attachments_domain,
    &cloud_uploads_domain,
    &refresh_urls_domain,
    &upload_slots_domain,
    &reactions_domain,
    &polls_domain,
    &automod_domain,
    &scheduled_events_domain,
    &search_domain,
    &insights_domain,
    &exports_domain,
    &read_states_domain,
    &guild_settings_domain,
    &web_push_domain,
    &sounds_domain,
    &webhooks_domain,
    &announcement_channels_domain,
    &applications_domain,
    &application_emojis_domain,
    &entitlements_domain,
    &teams_domain,
    &oauth2_domain,
    &commands_domain,
    &interactions_domain,
    &callbacks_domain,
    &integrations_domain,
    &connections_domain,
    &role_connections_domain,
    &connection_pages_domain,
    &platforms_domain,
    &gifs_domain,
    &relationships_domain,
    &game_relationships_domain,
    &friend_suggestions_domain,
    &contacts_domain,
    &regions_domain,
    &voice_domain,
    &voice_rooms_domain,
    &calls_domain,
    &voice_keys_domain,
    &voice_effects_domain,
    &streams_domain,
    &gateway_addresses_domain,
    &assets_domain,
    &default_avatars_domain,
    &emoji_files_domain,
    &sticker_files_domain,
    &sound_files_domain,
    &gif_files_domain,
    &stream_files_domain,
    &instance_domain,
    &instance_pages_domain,
    &console_test_users_domain,
    &service_domain,
    &workbench_domain,
    &console_permissions_domain,
    &console_delivery_domain,
    &console_clock_domain,
    &console_faults_domain,
    &console_sessions_domain,
    &console_snapshots_domain,
    &console_worlds_domain,
    &console_health_domain,
    &console_commands_domain,
    NULL,
};
/* clang-format on */
