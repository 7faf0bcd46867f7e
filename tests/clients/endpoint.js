// endpoint.js - an app with an interactions endpoint that verifies signatures.
//
//   node endpoint.js API APPLICATION PUBLIC_KEY
//
// Prints "listening PORT", then a line for each request: "good" or "forged", and its type.
const { createPublicKey, verify } = require('crypto');
const http = require('http');

const [api, application, key] = process.argv.slice(2);
const publicKey = createPublicKey({
  key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(key, 'hex')]),
  format: 'der',
  type: 'spki',
});

function isGood(request, body) {
  const signature = Buffer.from(request.headers['x-signature-ed25519'] ?? '', 'hex');
  const signed = Buffer.concat([Buffer.from(request.headers['x-signature-timestamp'] ?? ''), body]);
  return signature.length === 64 && verify(null, signed, publicKey, signature);
}

const call = (method, path, body) =>
  fetch(api + '/v10' + path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const answers = {
  inline: () => ({ type: 4, data: { content: 'Inline' } }),
  deferred: (i) => {
    const edit = async () => {
      const path = `/webhooks/${application}/${i.token}/messages/@original`;
      const { status } = await call('PATCH', path, { content: 'Deferred, then edited' });
      if (status === 404) setTimeout(edit, 50); // the callback below is not accepted yet
    };
    setTimeout(edit, 50);
    return { type: 5 };
  },
  wrong: () => ({ type: 7 }),
  // Acknowledged without a reply; the test continues after the printed line.
  held: (i) => {
    process.stdout.write(`token ${i.token}\n`);
    return { type: 5 };
  },
  // The endpoint sends no response body; it replies to the interaction by a separate request.
  accepted: (i) => {
    setTimeout(() => call('POST', `/interactions/${i.id}/${i.token}/callback`,
      { type: 4, data: { content: 'By a call' } }), 50);
    return null;
  },
};

const server = http.createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const body = Buffer.concat(pieces);
  const good = isGood(request, body);
  process.stdout.write(`${good ? 'good' : 'forged'} ${JSON.parse(body).type}\n`);
  if (!good) {
    response.writeHead(401).end();
    return;
  }
  const interaction = JSON.parse(body);
  const answer = interaction.type === 1 ? { type: 1 } : answers[interaction.data.name](interaction);
  response.writeHead(answer ? 200 : 202, { 'Content-Type': 'application/json' });
  response.end(answer ? JSON.stringify(answer) : '');
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${server.address().port}\n`));
