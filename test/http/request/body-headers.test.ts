import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

const app = await startApp({ after })

let lastId = 0
const nextJson = () => `{"id":${++lastId},"name":"a"}`

test('100 Continue is sent for an expectation in any of several fields, and never to HTTP/1.0', async (test) => {
  for (const expectations of [['100-continue', '100-Continue'], ['200-ok, 100-continue']]) {
    const wire = await openWire(test, app.port)
    const json = nextJson()
    const fields = expectations.map((expectation) => `Expect: ${expectation}\r\n`).join('')
    wire.send(
      requestText('POST /plants', {
        'Content-Type': 'application/json',
        'Content-Length': String(json.length),
      }).replace(/\r\n$/, `${fields}\r\n`),
    )
    assert.equal((await wire.response()).status, 100)
    wire.send(json)
    assert.equal((await wire.response()).status, 200)
  }
  const wire = await openWire(test, app.port)
  const json = nextJson()
  const fields = {
    'Content-Type': 'application/json',
    Expect: '100-continue',
    'Content-Length': String(json.length),
  }
  wire.send(requestText('POST /plants', fields).replace('HTTP/1.1', 'HTTP/1.0'), json)
  assert.equal((await wire.response()).status, 200)
})

test('a quoted parameter of the media type may contain a semicolon', async (test) => {
  const wire = await openWire(test, app.port)
  for (const [parameters, status] of [
    ['profile="a;charset=x;b"', 200],
    ['profile="a\\";charset=x"; charset="UTF-8"', 200],
    ['profile="a;b"; charset=x', 400],
  ] as const) {
    const type = { 'Content-Type': `application/json; ${parameters}` }
    wire.send(requestText('POST /plants', type, nextJson()))
    const response = await wire.response()
    assert.equal(response.status, status, `${parameters}: ${response.body}`)
  }
})
