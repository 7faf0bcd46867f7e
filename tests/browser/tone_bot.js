// tone_bot.js - a bot on unchanged @discordjs/voice that plays a tone in a voice channel and measures the tones that
// it receives.
//
//   node tone_bot.js API TOKEN CHANNEL HERTZ
//
// Prints "connected", and "received HERTZ" for each half second of loud sound. Ends with its standard input.
import { Readable } from "node:stream";
import * as voice from "@discordjs/voice";
import { Client, GatewayIntentBits as Intent } from "discord.js";
import OpusScript from "opusscript";
import { frequencyOf } from "./tones.js";

const RATE = 48000, LOUD = 0.05, STEREO = 2, FRAME = 960;
const [api, token, channelId, hertz] = process.argv.slice(2);
const client = new Client({ rest: { api }, intents: [Intent.Guilds, Intent.GuildVoiceStates] });
const decoder = new OpusScript(RATE, STEREO);
let samples = [];

/** Yields the tone as PCM, 20 ms at a time. */
function* tone() {
  for (let at = 0; ; at += FRAME) {
    const frame = new Int16Array(STEREO * FRAME);
    for (let i = 0; i < frame.length; i++) frame[i] = 10000 * Math.sin((2 * Math.PI * hertz * (at + (i >> 1))) / RATE);
    yield Buffer.from(frame.buffer);
  }
}

function receive(frame) {
  const bytes = Buffer.from(decoder.decode(frame));
  for (let i = 0; i < bytes.length; i += 2 * STEREO) samples.push(bytes.readInt16LE(i) / 32768);
  if (samples.length < RATE / 2) return;
  if (Math.max(...samples) > LOUD) console.log("received", frequencyOf(samples, RATE));
  samples = [];
}

client.once("clientReady", async () => {
  const guild = (await client.channels.fetch(channelId)).guild;
  const connection = voice.joinVoiceChannel({ channelId, guildId: guild.id, adapterCreator: guild.voiceAdapterCreator, selfDeaf: false });
  connection.receiver.speaking.on("start", (user) => {
    if (connection.receiver.subscriptions.has(user)) return;
    connection.receiver.subscribe(user, { end: { behavior: voice.EndBehaviorType.Manual } }).on("data", receive);
  });
  const player = voice.createAudioPlayer();
  connection.subscribe(player);
  await voice.entersState(connection, voice.VoiceConnectionStatus.Ready, 60000);
  player.play(voice.createAudioResource(Readable.from(tone()), { inputType: voice.StreamType.Raw }));
  console.log("connected");
});
process.stdin.on("end", () => process.exit(0)).resume();
await client.login(token);
