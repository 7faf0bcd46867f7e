/* config_apply.c - validates options and passes them to the resource folders that use them. */
#include "base/log.h"
#include "server/config.h"
#include "gifs/gifs.h"
#include "model/configured/claim_provider.h"
#include "model/configured/platforms.h"
#include "model/configured/regions.h"
#include "platform/automod/automod.h"
#include "platform/reactions/reactions.h"
#include "platform/search/search.h"
#include "platform/web_push/web_push.h"
#include "voice/voice.h"

static bool apply_gif_options(const struct config *c)
{
    struct gifs_options options = {
        .source = c->gifs,
        .rating = c->gif_rating,
        .categories = c->gif_categories,
        .blocked_words = c->gif_blocked_words,
        .provider = c->gif_provider,
        .provider_key = c->gif_provider_key,
        .media_hosts = c->gif_media_hosts,
    };
    const char *problem;

    if (gifs_set_options(&options, &problem))
        return true;
    log_error("invalid option: %s", problem);
    return false;
}

bool config_apply_to_domains(const struct config *c)
{
    const char *problem;

    if (!voice_regions_configure(str_of(c->voice_regions), &problem)) {
        log_error("the option voice-regions is invalid: it %s", problem);
        return false;
    }
    if (!voice_regions_configure_vip(str_of(c->voice_vip_regions), &problem)) {
        log_error("the option voice-vip-regions is invalid: it %s", problem);
        return false;
    }
    if (!voice_regions_configure_client_networks(str_of(c->voice_near), &problem)) {
        log_error("the option voice-near is invalid: it %s", problem);
        return false;
    }
    voice_regions_set_endpoint_pattern(c->voice_endpoint);
    if (!platforms_configure(
            &(struct platform_options){ .at = { c->platform_a, c->platform_b },
                                        .key = { c->platform_a_key, c->platform_b_key },
                                        .words = c->integration_words,
                                        .partners_guild = c->partners_guild,
                                        .partners_account = c->partners_account },
            &problem)) {
        log_error("invalid option: %s", problem);
        return false;
    }
    if (c->public_url && !str_starts_with(str_of(c->public_url), STR("http://")) &&
        !str_starts_with(str_of(c->public_url), STR("https://"))) {
        log_error("public-url must start with http:// or https://");
        return false;
    }
    if (!claim_provider_configure(
            &(struct claim_provider_options){ c->claim_api, c->claim_client_id,
                                              c->claim_client_secret_file, c->public_url },
            &problem)) {
        log_error("invalid option: %s", problem);
        return false;
    }
    if (!web_push_configure(c->web_push_contact, &problem)) {
        log_error("web-push-contact %s", problem);
        return false;
    }
    if (!automod_presets_read_file(c->automod_words, &problem)) {
        log_error("invalid option: %s", problem);
        return false;
    }
    voice_keys_set_accept_second_label(c->voice_second_label);
    voice_effects_set_everybody_is_premium(c->everybody_is_premium);
    burst_reactions_set_allowed_for_all(c->everybody_is_premium);
    reset_message_indexing_schedule();
    return apply_gif_options(c);
}
