#!/usr/bin/python3
"""rare_features_py - a discord.py bot that runs the steps of rare_features_js.js which the library supports, and reads the
users of an event."""

import asyncio
import datetime
import sys

import discord
import yarl

api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))


def say(*words):
    print(*words, flush=True)


class Bot(discord.Client):
    def wait_for_event(self, name, matches=None):
        """Waits from now on for the first event that matches."""
        return asyncio.ensure_future(self.wait_for(name, check=matches))

    async def on_ready(self):
        say("ready")
        try:
            await self.go_through(self.guilds[0])
        except Exception as error:  # printed for the test
            say("error", repr(error))
        await self.close()

    async def go_through(self, guild):
        channel = discord.utils.get(guild.text_channels, name="talk")
        await self.fill_thread(guild, channel)
        await self.tag_posts(discord.utils.get(guild.channels, type=discord.ChannelType.forum))
        await self.publish(discord.utils.get(guild.text_channels, name="bulletin"), channel)
        say("prunes", await guild.estimate_pruned_members(days=30))
        say("pruned", await guild.prune_members(days=30, compute_prune_count=False))
        await self.welcome(guild, channel)
        await self.plan(guild)
        await self.guard(guild)

    async def fill_thread(self, guild, channel):
        event = self.wait_for_event("thread_create")
        thread = await channel.create_thread(name="aside", type=discord.ChannelType.public_thread)
        await event
        owner = discord.Object(guild.owner_id)
        event = self.wait_for_event("thread_member_join", lambda m: m.id == owner.id)
        await thread.add_user(owner)
        say("joined", (await event).thread.name, len(await thread.fetch_members()))
        event = self.wait_for_event("thread_member_remove", lambda m: m.id == owner.id)
        await thread.remove_user(owner)
        say("removed", len((await event).thread.members))
        event = self.wait_for_event("thread_remove")
        await thread.leave()
        say("left", (await event).name)

    async def tag_posts(self, forum):
        event = self.wait_for_event("guild_channel_update", lambda _, now: now.id == forum.id)
        tag = await forum.create_tag(name="bug")
        await event  # the library knows tags by their channel
        post = (await forum.create_thread(name="idea", content="first", applied_tags=[tag])).thread
        say("tagged", *[t.name for t in post.applied_tags])
        event = self.wait_for_event("thread_update", lambda _, now: now.id == post.id)
        await post.remove_tags(tag)
        say("untagged", len((await event)[1].applied_tags))

    async def publish(self, announcements, channel):
        event = self.wait_for_event("webhooks_update", lambda c: c.id == channel.id)
        await announcements.follow(destination=channel)
        await event
        message = await announcements.send("extra")
        event = self.wait_for_event("message", lambda m: m.flags.is_crossposted)
        await message.publish()
        copy = await event
        say("news", copy.channel.id == channel.id, copy.reference.message_id == message.id)

    async def welcome(self, guild, channel):
        shown = discord.WelcomeChannel(channel=channel, description="Talk")
        await guild.edit_welcome_screen(description="Hello", welcome_channels=[shown], enabled=True)
        screen = await guild.welcome_screen()
        say("welcome", screen.description, *[c.description for c in screen.welcome_channels])

    async def plan(self, guild):
        start = discord.utils.utcnow() + datetime.timedelta(hours=1)
        event = self.wait_for_event("scheduled_event_create")
        await guild.create_scheduled_event(
            name="Walk", start_time=start, end_time=start + datetime.timedelta(hours=1),
            entity_type=discord.EntityType.external, location="The park",
            privacy_level=discord.PrivacyLevel.guild_only)
        await event
        comes = self.wait_for_event("scheduled_event_user_add", lambda _, user: user.name == "eve")
        stays = self.wait_for_event("scheduled_event_user_remove", lambda _, user: user.name == "eve")
        say("planned")
        say("comes", (await comes)[1].name)
        say("stays", (await stays)[1].name)

    async def guard(self, guild):
        rule = await guild.create_automod_rule(
            name="Cats", event_type=discord.AutoModRuleEventType.message_send,
            trigger=discord.AutoModTrigger(keyword_filter=["cat"]),
            actions=[discord.AutoModRuleAction(custom_message="No cats")], enabled=True)
        event = self.wait_for_event("automod_action", lambda done: done.rule_id == rule.id)
        say("guarded")
        done = await event
        say("stopped", done.matched_keyword, done.action.type.value)


intents = discord.Intents.default()
intents.members = True
Bot(intents=intents).run(token, log_handler=None)
