import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { findFreePort } from '../support/free-port.ts'
import { startApp } from '../support/http/start-app.ts'
import { commandEnvironment, commandsOn, linesOf, MAIN } from './run-command.ts'
import { startOtherServer } from './start-other-server.ts'

test('ping reports requests, failures and response times, without a token', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, { url: `${app.url}/` })
  const { code, stdout, stderr } = await run(['ping'], { environment: { PLANTSTORE_TOKEN: '' } })
  assert.deepEqual([code, stderr], [0, ''])
  const [head, values = ''] = linesOf(stdout)
  assert.equal(head, `20 requests to ${app.url}/healthz, 0 failed`)
  const [p50 = 0, p90 = 0, p99 = 0, max = 0] = [...values.matchAll(/\d+\.\d\d/g)].map(Number)
  assert.match(values, /^p50 \S+ ms {2}p90 \S+ ms {2}p99 \S+ ms {2}max \S+ ms$/)
  assert.ok(0 < p50 && p50 <= p90 && p90 <= p99 && p99 <= max, values)

  const json = await run(['ping', '--count', '7', '--concurrency', '3', '--ready', '--json'])
  const { requests, failed, maxMs } = JSON.parse(json.stdout) as Record<string, number>
  assert.deepEqual([requests, failed, typeof maxMs], [7, 0, 'number'])
})

test('ping sends as many concurrent requests as requested', async (t) => {
  let running = 0
  let most = 0
  const other = await startOtherServer(t, (request, response) => {
    running++
    most = Math.max(most, running)
    setTimeout(() => {
      running--
      response.end(request.url === '/healthz' ? '{"status":"up"}' : '')
    }, 20)
  })
  await commandsOn(t, other)(['ping', '--count', '12', '--concurrency', '4'])
  assert.equal(most, 4)
})

test('ping exits with 1 if a request failed, and reports each reason once', async (t) => {
  const url = `http://127.0.0.1:${await findFreePort()}`
  const none = await commandsOn(t, { url })(['ping', '--count', '3'])
  assert.deepEqual([none.code, none.stdout], [1, `3 requests to ${url}/healthz, 3 failed\n`])
  assert.match(none.stderr, /^plantstore: Cannot connect to [^\n]* \(3 times\)\n$/)
  const busy = await startOtherServer(t, (_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'x-request-id': 'r-1' })
    response.end('{"error":50303,"message":"The service is shutting down."}')
  })
  const { code, stderr } = await commandsOn(t, busy)(['ping', '--count', '1', '--ready'])
  assert.deepEqual(
    [code, stderr],
    [1, 'plantstore: The service is shutting down. (code 50303, request r-1)\n'],
    'the request id is printed if the log of the service has more details',
  )
})

test('openapi prints the document of the service as JSON or YAML', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  const served = await (await fetch(`${app.url}/openapi.json`)).text()
  assert.equal(
    (await run(['openapi'], { environment: { PLANTSTORE_TOKEN: '' } })).stdout.trimEnd(),
    served.trimEnd(),
  )
  assert.match((await run(['openapi', '--yaml'])).stdout, /^openapi: 3\.1\.0\n/)
})

test('a response that is not from the service is reported as such', async (t) => {
  const other = await startOtherServer(t, (_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<p>Welcome to \u001b[31msome router</p>')
  })
  const run = commandsOn(t, other)
  for (const words of [['list'], ['get', '1'], ['export'], ['openapi'], ['tags']]) {
    const { code, stdout, stderr } = await run(words)
    assert.deepEqual([code, stdout], [1, ''], words.join(' '))
    assert.match(stderr, /^plantstore: [^\n]+ Check the URL http:\/\/127\.0\.0\.1:\d+\b[^\n]*\n$/)
    assert.ok(!stderr.includes('\u001b'))
  }
})

test('a closed pipe ends a command without an error', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  const input = Array.from(
    { length: 20_000 },
    (_, at) => `{"id":${at},"name":"a plant of some length"}\n`,
  ).join('')
  await run(['import', '-', '--format', 'ndjson'], { input })
  for (const words of ['list --all', 'list --all --json', 'export', 'openapi', 'serve --help']) {
    const line = `'${process.execPath}' '${MAIN}' ${words} | head -c 10; echo "\${PIPESTATUS[0]}"`
    const shell = spawn('bash', ['--norc', '-c', line], { env: commandEnvironment(app.url) })
    let stdout = ''
    let stderr = ''
    shell.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    shell.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await new Promise((resolve) => shell.once('close', resolve))
    assert.deepEqual([stderr, stdout.slice(10)], ['', '0\n'], words)
  }
})

test('output that cannot be written is reported in one line', async (t) => {
  const app = await startApp(t)
  await app.send('POST', '/plants', '{"id":1,"name":"a"}')
  for (const words of ['list', 'get 1 --etag', 'tags', 'export', 'openapi', 'ping --count 1', '--version']) {
    const line = `'${process.execPath}' '${MAIN}' ${words} > /dev/full`
    const shell = spawn('bash', ['--norc', '-c', line], { env: commandEnvironment(app.url) })
    let stderr = ''
    shell.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const code = await new Promise((resolve) => shell.once('close', resolve))
    assert.equal(code, 1, words)
    assert.match(stderr, /^plantstore: Cannot write the output: no space left\.\n$/)
  }
})
