import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { TOKEN } from '../../test/support/http/start-app.ts'
import { startServe } from '../../test/support/process/plantstore-process.ts'

const CONNECTIONS = 1_000
const SECONDS = 10
const PROBE_EVERY_MS = 20
/** Generous, and beyond three times what it is without the attack: a busy machine is slow for reasons of its own. */
const P99_MAX_MS = 500
const CALM_MS = 2_000

const isMissing = spawnSync('slowhttptest', ['-h']).error !== undefined
const skip = isMissing ? 'there is no slowhttptest (a Debian package)' : false

/** A service whose time-outs are shorter than the attack, with a page that is worth not reading. */
async function startAttacked(t: TestContext) {
  const service = await startServe(t, {
    environment: {
      PLANTSTORE_HEADERS_TIMEOUT_MS: '3000',
      PLANTSTORE_REQUEST_TIMEOUT_MS: '4000',
      PLANTSTORE_KEEP_ALIVE_TIMEOUT_MS: '2000',
      PLANTSTORE_SEND_TIMEOUT_MS: '3000',
      PLANTSTORE_RATE_LIMIT: '0',
    },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  t.after(() => agent.destroy())

  function send(method: string, path: string, body?: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
      request(service.url + path, { agent, method, headers }, (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode ?? 0))
      })
        .once('error', reject)
        .end(body)
    })
  }
  for (let id = 0; id < 20; id++) {
    assert.equal(await send('POST', '/plants', JSON.stringify({ id, name: 'x'.repeat(20_000) })), 200)
  }
  const { pid } = service.child
  return {
    url: service.url,
    send,
    /** In MiB. */
    memory: () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    async connections() {
      const response = await fetch(`${service.url}/metrics`, {
        headers: { authorization: `Bearer ${TOKEN}` },
      })
      return Number(/^plantstore_http_connections (\d+)/m.exec(await response.text())?.[1])
    },
  }
}

function p99Of(sortedMs: readonly number[]): number {
  return sortedMs[Math.floor(sortedMs.length * 0.99)] ?? Number.NaN
}

/** How long requests took, in ms, sent steadily until `isOver`; one that is not responded to with 200 fails. */
async function probe(
  send: (method: string, path: string, body?: string) => Promise<number>,
  isOver: () => boolean,
) {
  const from = Math.round(performance.now()) * 1_000
  const timesMs: number[] = []
  const asked: Promise<void>[] = []
  async function ask(at: number): Promise<void> {
    const beganMs = performance.now()
    const plant = JSON.stringify({ id: from + at, name: 'probe' })
    assert.equal(await (at % 2 === 0 ? send('GET', '/plants/1') : send('POST', '/plants', plant)), 200)
    timesMs.push(performance.now() - beganMs)
  }
  for (let at = 0; !isOver(); at++) {
    asked.push(ask(at))
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS))
  }
  await Promise.all(asked)
  return timesMs.sort((one, other) => one - other)
}

/** There is no flag for a token, so it comes behind the field that there is one for. */
const WITH_TOKEN = `application/json\r\nAuthorization: Bearer ${TOKEN}`

const MODES = {
  'slow headers': ['-H', '-i', '2', '-u', '/plants'],
  'slow bodies': ['-B', '-i', '2', '-s', '8192', '-f', WITH_TOKEN, '-u', '/plants'],
  // Four pages of 400 kB on each connection, read 5 bytes a second.
  'slow reads': [
    '-X',
    '-k',
    '4',
    '-w',
    '256',
    '-y',
    '512',
    '-n',
    '1',
    '-z',
    '5',
    '-m',
    WITH_TOKEN,
    '-u',
    '/plants',
  ],
} as const

for (const [name, flags] of Object.entries(MODES)) {
  test(`a thousand clients with ${name} harm nobody, and are let go`, {
    skip,
    timeout: 90_000,
  }, async (t) => {
    const service = await startAttacked(t)
    const calmUntilMs = performance.now() + CALM_MS
    const calmP99Ms = p99Of(await probe(service.send, () => performance.now() > calmUntilMs))
    const calmMb = service.memory()
    const attack = spawn(
      // What the attack itself takes of this machine is not what it costs the service.
      'nice',
      [
        'slowhttptest',
        ...flags.slice(0, -1),
        service.url + flags.at(-1),
        '-c',
        String(CONNECTIONS),
        '-r',
        '500',
        '-l',
        String(SECONDS),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    t.after(() => attack.kill('SIGKILL'))
    let isOver = false
    let output = ''
    attack.stdout.on('data', (chunk) => {
      output += chunk
    })
    attack.once('close', () => {
      isOver = true
    })
    let most = 0
    const [timesMs] = await Promise.all([
      probe(service.send, () => isOver),
      (async () => {
        while (!isOver) {
          most = Math.max(most, await service.connections())
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      })(),
    ])
    const p99Ms = p99Of(timesMs)
    const figures = `${timesMs.length} probes, p99 ${p99Ms.toFixed(1)} ms (calm ${calmP99Ms.toFixed(1)} ms), longest ${timesMs.at(-1)?.toFixed(1)} ms`
    t.diagnostic(
      `${name}: ${figures}; up to ${most} connections; ${calmMb.toFixed(0)} MiB before, ${service.memory().toFixed(0)} MiB after`,
    )
    assert.ok(most > CONNECTIONS / 4, `the attack took place: ${most} connections\n${output}`)
    assert.ok(timesMs.length > 50, figures)
    assert.ok(p99Ms < P99_MAX_MS + 3 * calmP99Ms, figures)
    // The probe's own four fall idle as well; the one that asks is left.
    await eventually(async () => (await service.connections()) <= 1, 15_000)
    assert.ok(service.memory() < calmMb + 150, `${calmMb} MiB before, ${service.memory()} MiB after`)
  })
}
