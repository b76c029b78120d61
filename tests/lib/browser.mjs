// Debian's Chromium, and pages that complain: a console error, a violation of the content security
// policy or a request to elsewhere fails the test that sees it.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 800 };

export async function startBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--mute-audio'],
  });
}

// While a server is down the browser itself reports every attempt to reach it.
const NETWORK = /ERR_(CONNECTION_REFUSED|INTERNET_DISCONNECTED|NETWORK_CHANGED|CONNECTION_RESET|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)|WebSocket connection to/;

// What a page takes at most on a machine that has ten other things to do: it only tells when to give up.
const LONGEST_MS = 60_000;

// A slower machine and a slower server, as CONTRIBUTING.md tells: a wait that is over before what it waits for has
// happened then fails always, and not once in a hundred runs.
const SLOW = Number(process.env.GAMETABLE_TEST_SLOW ?? 1);
const DELAY_MS = Number(process.env.GAMETABLE_TEST_DELAY ?? 0);

const later = (ms, what) => setTimeout(() => Promise.resolve(what()).catch(() => {}), ms); // the page may be gone by then

// What pages ask reaches the server, and what live lines say reaches the pages, so much later, in its order.
async function delay(context) {
  await context.route((url) => url.pathname === '/' || url.pathname.startsWith('/v1/'), (route, request) => {
    if (request.isNavigationRequest()) return route.continue();
    later(DELAY_MS, () => route.continue());
  });
  await context.routeWebSocket(/\/v1\//, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => later(DELAY_MS, () => socket.send(message)));
    socket.onMessage((message) => later(DELAY_MS, () => server.send(message)));
    server.onClose((code, reason) => later(DELAY_MS, () => socket.close({ code, reason })));
    socket.onClose((code, reason) => later(DELAY_MS, () => server.close({ code, reason })));
  });
}

async function slowDown(context, page) {
  if (DELAY_MS > 0) await delay(context);
  if (SLOW > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: SLOW });
}

const REFUSED = /responded with a status of 4\d\d|WebSocket connection to/;

// A browser of its own: storage, cookies, network. `open(path)` goes to a page of the server.
export async function newVisitor(browser, origin, { viewport = PHONE, colorScheme = 'light', ...more } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, ...more });
  context.setDefaultTimeout(LONGEST_MS);
  const page = await context.newPage();
  await slowDown(context, page);
  const faults = [];
  let networkMayFail = false;
  let refusals = false;
  const fault = (text) => {
    if (!(networkMayFail && NETWORK.test(text)) && !(refusals && REFUSED.test(text))) faults.push(text);
  };
  await context.exposeFunction('tellViolation', (text) => fault(`policy: ${text}`));
  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => window.tellViolation(`${event.violatedDirective} ${event.blockedURI}`));
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) fault(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => fault(`error: ${error.message}`));
  const host = new URL(origin).host;
  const outside = (url) => {
    if (new URL(url).host !== host) fault(`request: ${url}`);
  };
  page.on('request', (request) => outside(request.url()));
  page.on('websocket', (socket) => outside(socket.url()));
  return {
    context,
    page,
    open: (path) => page.goto(origin + path),
    // From here on what the page asks there is asked so much later: what it does meanwhile can be looked at. Tells of each.
    late: (where, ms, tell = () => {}) => page.route(where, (route, request) => {
      tell(request);
      later(ms, () => route.continue());
    }),
    // From here on the network is taken away on purpose.
    mayLoseNetwork() {
      networkMayFail = true;
    },
    // From here on the server refuses some requests on purpose, which the browser reports, too.
    mayBeRefused() {
      refusals = true;
    },
    checkFaults: () => assert.deepEqual(faults, []),
    close: () => context.close(),
  };
}

// Makes a room through the page, as a person does; resolves to its code.
export async function makeRoom({ page, open }, name, kind, options = {}) {
  await open('/play');
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('radio', { name: kind }).check();
  for (const [label, value] of Object.entries(options)) {
    const field = page.getByLabel(label);
    if (await field.evaluate((element) => element.tagName === 'SELECT')) await field.selectOption(value);
    else await field.fill(String(value));
  }
  await page.getByRole('button', { name: 'Make the room' }).click();
  await page.waitForURL(/\/play\/[A-Z0-9]{5}$/);
  return page.url().slice(-5);
}

export async function joinRoom({ page, open }, code, name) {
  await open(`/play/${code}`);
  await page.locator('#name').fill(name);
  await page.getByRole('button', { name: /^(Join|शामिल हों)$/ }).click();
  await page.getByRole('button', { name: /^(I am ready|मैं तैयार हूँ)$/ }).click();
}

// {name: points} of a list of results or of a board's rows.
export async function scoresOf(page, rows = '.scores li') {
  const list = await page.locator(rows).evaluateAll((elements) => elements.map((element) => {
    const name = element.querySelector('.grow, td:nth-child(2)').firstChild.textContent.trim();
    const points = element.querySelector('.points, .score').textContent.replace('−', '-').replaceAll(',', '');
    return [name, Number(points)];
  }));
  return Object.fromEntries(list);
}
