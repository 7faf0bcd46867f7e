/* node.test.mjs - a test with node's own runner: node --test node.test.mjs */
import { test } from 'node:test';

import { expectMessage, withGuildhall } from 'guildhall-test';

import { bot, world } from './bot.mjs';

test('ping is answered', withGuildhall({ world, bot }, async (hall) => {
  const ada = hall.asUser('ada');
  const said = await ada.say('ping');
  const answer = await ada.waitForMessage('pong', { after: said });
  expectMessage(answer, { author: 'dice', embeds: [{ title: 'Answer' }] });
}));
