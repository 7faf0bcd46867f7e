/* vitest.test.mjs - a test with Vitest: npx vitest run vitest.test.mjs */
import { expect, test } from 'vitest';

import { matchers, withGuildhall } from 'guildhall-test';

import { bot, world } from './bot.mjs';

expect.extend(matchers);

test('ping is answered', withGuildhall({ world, bot }, async (hall) => {
  const ada = hall.asUser('ada');
  const said = await ada.say('ping');
  const answer = await ada.waitForMessage('pong', { after: said });
  expect(answer).toMatchMessage({ author: 'dice', embeds: [{ title: 'Answer' }] });
}), 60_000);
