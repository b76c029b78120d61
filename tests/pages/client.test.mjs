// The pages' own client, with sockets that do what they are told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webModule } from '../lib/web-module.mjs';

const { Client } = await webModule('client.ts');

function sockets() {
  const made = [];
  class Socket {
    readyState = 0;
    ended = [];
    constructor() {
      made.push(this);
    }
    open() {
      this.readyState = 1;
      this.onopen({});
    }
    close(code) {
      this.ended.push(code);
    }
  }
  return { made, Socket };
}

// Browsers report a socket that is closed before it is open as one that failed.
for (const [how, end] of [['closed', (line) => line.close()], ['opened anew', (line) => line.renew()]])
  test(`a line that is ${how} before it is open ends when it is`, () => {
    const { made, Socket } = sockets();
    const told = [];
    const line = new Client({ url: 'http://127.0.0.1:1', WebSocket: Socket }).watchBoard('b', { status: (status) => told.push(status) });
    end(line);
    const [socket] = made;
    assert.deepEqual(socket.ended, []);
    const before = [...told];
    socket.open();
    assert.deepEqual(socket.ended, [1000]);
    assert.deepEqual(told, before, 'nobody hears of it any more');
    line.close();
  });

test('an open line is closed at once', () => {
  const { made, Socket } = sockets();
  const line = new Client({ url: 'http://127.0.0.1:1', WebSocket: Socket }).watchBoard('b', {});
  made[0].open();
  line.close();
  assert.deepEqual(made[0].ended, [1000]);
});
