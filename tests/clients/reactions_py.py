#!/usr/bin/python3
"""reactions_py - a discord.py bot that uses reactions, emoji and other features, and prints a line for each step."""

import asyncio
import base64
import datetime
import io
import sys

import discord
import yarl

api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


def say(*words):
    print(*words, flush=True)


class Bot(discord.Client):
    async def wait_for_event(self, name):
        return await self.wait_for(name, timeout=120)

    async def on_ready(self):
        say("ready")
        try:
            await self.go_through()
        except Exception as error:  # printed for the test
            say("error", repr(error))
        await self.close()

    async def go_through(self):
        guild = self.guilds[0]
        event = asyncio.ensure_future(self.wait_for_event("guild_emojis_update"))
        emoji = await guild.create_custom_emoji(name="party", image=PNG)
        _, before, after = await event
        say("emojis", len(before), len(after), after[0].name)
        message = await guild.text_channels[0].send("hello")
        for one in ("\N{THUMBS UP SIGN}", emoji):
            event = asyncio.ensure_future(self.wait_for_event("raw_reaction_add"))
            await message.add_reaction(one)
            payload = await event
            say("added", payload.emoji.name, payload.member.name)
        message = await message.channel.fetch_message(message.id)
        say("shown", *[f"{r.emoji if isinstance(r.emoji, str) else r.emoji.name}={r.count}{r.me}"
                       for r in message.reactions])
        say("users", *[u.name async for u in message.reactions[1].users()])
        event = asyncio.ensure_future(self.wait_for_event("raw_reaction_remove"))
        await message.remove_reaction(emoji, self.user)
        say("removed", (await event).emoji.name)
        event = asyncio.ensure_future(self.wait_for_event("raw_reaction_clear_emoji"))
        await message.clear_reaction("\N{THUMBS UP SIGN}")
        say("cleared", (await event).emoji.name)
        await message.add_reaction(emoji)
        event = asyncio.ensure_future(self.wait_for_event("raw_reaction_clear"))
        await message.clear_reactions()
        say("empty", (await event).message_id == message.id)
        event = asyncio.ensure_future(self.wait_for_event("guild_emojis_update"))
        renamed = await emoji.edit(name="parties")
        await event  # otherwise it would be taken as the next event
        say("renamed", renamed.name)
        event = asyncio.ensure_future(self.wait_for_event("guild_emojis_update"))
        await renamed.delete()
        say("left", len((await event)[2]))
        await self.use_more(guild)

    async def use_more(self, guild):
        channel = guild.text_channels[0]
        event = asyncio.ensure_future(self.wait_for_event("thread_create"))
        thread = await channel.create_thread(name="aside", type=discord.ChannelType.public_thread)
        await event
        await thread.add_user(guild.get_member(guild.owner_id) or discord.Object(guild.owner_id))
        say("thread", thread.name, len(await thread.fetch_members()))
        await thread.edit(archived=True)
        say("archived", *[t.name async for t in channel.archived_threads()])
        forum = discord.utils.get(guild.channels, type=discord.ChannelType.forum)
        event = asyncio.ensure_future(self.wait_for_event("guild_channel_update"))
        tag = await forum.create_tag(name="bug")
        await event  # the library knows tags by their channel
        post = await forum.create_thread(name="idea", content="first", applied_tags=[tag])
        say("post", post.message.content, *[t.name for t in post.thread.applied_tags])
        sticker = await guild.create_sticker(name="wave", description="A hand", emoji="wave",
                                             file=discord.File(io.BytesIO(PNG), "wave.png"))
        say("stuck", (await channel.send(stickers=[sticker])).stickers[0].name)
        await sticker.delete()
        start = discord.utils.utcnow() + datetime.timedelta(hours=1)
        event = await guild.create_scheduled_event(
            name="Walk", start_time=start, end_time=start + datetime.timedelta(hours=1),
            entity_type=discord.EntityType.external, location="The park",
            privacy_level=discord.PrivacyLevel.guild_only)
        say("event", (await guild.fetch_scheduled_event(event.id)).location)
        await event.delete()
        rule = await guild.create_automod_rule(
            name="Cats", event_type=discord.AutoModRuleEventType.message_send,
            trigger=discord.AutoModTrigger(keyword_filter=["cat"]),
            actions=[discord.AutoModRuleAction(custom_message="No cats")], enabled=True)
        say("rule", (await guild.fetch_automod_rule(rule.id)).trigger.keyword_filter[0])
        template = await guild.create_template(name="Base")
        say("template", (await self.fetch_template(template.code)).source_guild.name)
        say("prunes", await guild.estimate_pruned_members(days=30))


Bot(intents=discord.Intents.default()).run(token, log_handler=None)
